"""The goldens of graph inspection are what ONNX Runtime tells an EP in GetCapability.

``python tests/ort/test_graph_goldens.py LIBRARY`` records them anew, with the built fixture ``libgraph_reader.so``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import onnxruntime
import pytest

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "fixtures"))

from graph_reader.graph_comparison import comparable, differences  # noqa: E402
from graph_reader.graph_goldens import COMPILED, OFFERED, locate, read_golden, write_golden  # noqa: E402
from graph_reader.reader_library import Description  # noqa: E402

_SESSION = """
import sys
import onnxruntime
library, model = sys.argv[1:]
onnxruntime.register_execution_provider_library("GraphReader", library)
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
options.log_severity_level = 4
options.add_provider_for_devices([d for d in onnxruntime.get_ep_devices() if d.ep_name == "GraphReader"], {})
try:
    onnxruntime.InferenceSession(model, options)
except Exception as error:  # Compiling fails by design, and ORT may lack a kernel after it has asked.
    print(error)
"""


def ask_ort(library: Path, model: Path, does: str) -> list[Description]:
    """What the EP wrote down while ORT made a session, call by call."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graphs.jsonl"
        environment = {**os.environ, "GRAPH_READER_FILE": str(file), "GRAPH_READER_DOES": does}
        # Beside the model, so that no path of this machine is recorded.
        done = subprocess.run(
            [sys.executable, "-c", _SESSION, str(library), model.name],
            cwd=model.parent,
            env=environment,
            capture_output=True,
            text=True,
        )
        if not file.exists():
            raise RuntimeError(f"{model}: the EP was not asked; {done.stdout} {done.stderr}")
        return [json.loads(line) for line in file.read_text().splitlines()]


def record(library: Path, name: str, does: str) -> list[Description]:
    with tempfile.TemporaryDirectory() as folder:
        return ask_ort(library, locate(name, Path(folder)), does)


CASES = [(name, "describe") for name in OFFERED] + [
    (name, does) for name in COMPILED for does in ("fuse", "fuse_and_drop")
]


@pytest.mark.parametrize(("name", "does"), CASES)
def test_a_golden_is_what_the_runtime_tells(fixtures_dir: Path, name: str, does: str) -> None:
    library = fixtures_dir / "graph_reader" / "libgraph_reader.so"
    now = comparable(record(library, name, does))
    assert list(differences(comparable(read_golden(name, does)), now)) == []


if __name__ == "__main__":
    for name, does in CASES:
        write_golden(name, does, onnxruntime.__version__, record(Path(sys.argv[1]).resolve(), name, does))
        print(name, does)
