"""The committed names of inputs, outputs and attributes are those of package onnx."""

from __future__ import annotations

import runpy
from pathlib import Path

import onnx
import pytest

TABLES = Path(__file__).resolve().parents[2] / "reverse_plugin" / "tables"


def test_the_table_is_what_package_onnx_says() -> None:
    if onnx.__version__ != "1.23.2":
        pytest.skip("the table is that of onnx 1.23.2")
    script = runpy.run_path(str(TABLES / "operator_schemas.py"))
    assert (TABLES / "operator_schemas.inc").read_text().splitlines()[1:] == list(script["rows"]())
