"""A provider may wait for a thread of its own that runs Python."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from execution_provider_cases import PLUGINS

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def test_a_provider_waits_for_python_while_a_session_goes(fixtures_dir: Path) -> None:
    library = str(PLUGINS["compiling_ep"].path(fixtures_dir))
    program = f"""
        import ctypes
        import onnx_light_ort as ort
        from compiling_ep_session import compiling_ep_session
        ort.set_admission("any")
        ort.register_execution_provider_library("fixture", {library!r})
        call = ctypes.CFUNCTYPE(None)(lambda: print("called", flush=True))
        ctypes.CDLL({library!r}).call_while_releasing(call)
        session = compiling_ep_session("one_pair")
        del session
        print("gone", flush=True)
    """
    # In a process of its own: where the two wait for each other, it never ends.
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(FIXTURES)},
    )
    assert (done.returncode, done.stdout) == (0, "called\ngone\n"), done.stderr
