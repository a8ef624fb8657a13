"""A program ends while its sessions live."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from execution_provider_cases import PLUGINS

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.mark.parametrize("plugin", ["compiling_ep", "kernel_ep"])
def test_a_program_may_end_while_its_threads_run_sessions(fixtures_dir: Path, plugin: str) -> None:
    program = f"""
        import threading, numpy
        import onnx_light_ort as ort
        from execution_provider_models import one_pair
        ort.set_admission("any")
        ort.register_execution_provider_library("fixture", {str(PLUGINS[plugin].path(fixtures_dir))!r})
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name != "CPUExecutionProvider"])
        session = ort.InferenceSession(one_pair().SerializeToString(), options)
        array = numpy.ones((200_000, 3), numpy.float32)
        ready = threading.Semaphore(0)
        def run():
            ready.release()
            while True:
                session.run(None, {{"x": array}})
        for _ in range(3):
            threading.Thread(target=run, daemon=True).start()
        for _ in range(3):
            ready.acquire()
        session.run(None, {{"x": array}})
        print("done", flush=True)
    """
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(FIXTURES)},
        )
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
