"""What ``import onnx_light_ort`` costs over the packages that it needs anyway."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
import numpy, onnx
before = set(sys.modules)
import onnx_light_ort
print(*sorted(set(sys.modules) - before))
"""

#: Each takes longer to import than this package, and only some calls need it.
HEAVY = {"onnx.reference", "onnx.inliner", "importlib.metadata", "argparse", "elftools", "asyncio", "unittest"}


def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    imported = set(done.stdout.split())
    assert "onnx_light_ort.session" in imported
    assert not {module for module in imported for heavy in HEAVY if module == heavy or module.startswith(f"{heavy}.")}
