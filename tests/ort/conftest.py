"""The tests of this folder need the real ORT, and are no part of the others' run."""

from __future__ import annotations

import importlib.util

if importlib.util.find_spec("onnxruntime") is None:
    collect_ignore_glob = ["test_*.py"]
