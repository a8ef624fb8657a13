"""The graph reader over this host's tables, and graphs as planning offers them."""

from __future__ import annotations

from pathlib import Path

import pytest
from graph_reader.reader_library import GraphReader

from onnx_light_ort._native import abi


@pytest.fixture(scope="session")
def reader_file(fixtures_dir: Path) -> Path:
    return fixtures_dir / "graph_reader" / "libgraph_reader.so"


@pytest.fixture(scope="session")
def reader(reader_file: Path) -> GraphReader:
    return GraphReader(reader_file, abi.api_base_address("plain"))
