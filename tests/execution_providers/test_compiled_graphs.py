"""What an EP reads of the partitions that it is to compile, and of their fused nodes, is what ORT tells it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from graph_reader.graph_comparison import comparable, differences
from graph_reader.graph_goldens import COMPILED, locate, read_golden

import onnx_light_ort as ort


@pytest.fixture(scope="module")
def _graph_reader(fixtures_dir: Path) -> Iterator[None]:
    ort.set_admission("any")
    ort.register_execution_provider_library("GraphReader", fixtures_dir / "graph_reader" / "libgraph_reader.so")
    yield
    ort.unregister_execution_provider_library("GraphReader")
    ort.set_admission("warn")


@pytest.mark.usefixtures("_graph_reader")
@pytest.mark.parametrize("does", ["fuse", "fuse_and_drop"])
@pytest.mark.parametrize("name", COMPILED)
def test_an_ep_compiles_what_ort_gives_it(
    name: str, does: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "compiled.jsonl"
    monkeypatch.setenv("GRAPH_READER_FILE", str(file))
    monkeypatch.setenv("GRAPH_READER_DOES", does)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_provider_for_devices([device for device in ort.get_ep_devices() if device.ep_name == "GraphReader"])
    with pytest.raises(ort.EPFail, match="the graph reader compiles nothing"):
        ort.InferenceSession(locate(name, tmp_path), options)
    seen = [json.loads(line) for line in file.read_text().splitlines()]
    for description in seen:  # The host names graphs as it likes.
        if "nodes" in description:
            description["name"] = "GraphReader_0_0"
    assert list(differences(comparable(read_golden(name, does)), comparable(seen))) == []
