"""The tests of this folder need the real ORT, and are no part of the others' run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

if importlib.util.find_spec("onnxruntime") is None:
    collect_ignore_glob = ["test_*.py"]

# They share modules that import onnxruntime, which nothing outside this folder may.
sys.path.insert(0, str(Path(__file__).parent))
