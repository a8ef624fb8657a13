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


def ended(*program: str, rows: int = 1) -> tuple[int, str, str]:
    """The exit code of a program, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", "".join(map(textwrap.dedent, program)), str(rows)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(FIXTURES)},
    )
    return done.returncode, done.stdout, done.stderr


def making_a_session(library: Path) -> str:
    return f"""
        import sys, threading, numpy
        import onnx_light_ort as ort
        from execution_provider_models import one_pair
        ort.set_admission("any")
        ort.register_execution_provider_library("fixture", {str(library)!r})
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name != "CPUExecutionProvider"])
        session = ort.InferenceSession(one_pair().SerializeToString(), options)
        array = numpy.ones((int(sys.argv[1]), 3), numpy.float32)
    """


@pytest.mark.parametrize("rows", [1, 200_000])
@pytest.mark.parametrize("plugin", ["compiling_ep", "kernel_ep"])
def test_a_program_may_end_while_its_threads_run_sessions(fixtures_dir: Path, plugin: str, rows: int) -> None:
    running = """
        ready = threading.Semaphore(0)
        def run():
            ready.release()
            while True:
                session.run(None, {"x": array})
        for _ in range(3):
            threading.Thread(target=run, daemon=True).start()
        for _ in range(3):
            ready.acquire()
        session.run(None, {"x": array})
        print("done", flush=True)
    """
    for _ in range(3):
        found = ended(making_a_session(PLUGINS[plugin].path(fixtures_dir)), running, rows=rows)
        assert found == (0, "done\n", "")


def test_a_run_after_the_sessions_were_closed_is_refused(fixtures_dir: Path) -> None:
    running_late = """
        import atexit
        def run():
            try:
                session.run(None, {"x": array})
            except Exception as error:
                print(type(error).__name__, error)
        atexit.register(run)
    """
    code, printed, errors = ended(running_late, making_a_session(PLUGINS["kernel_ep"].path(fixtures_dir)))
    assert (code, errors) == (0, "")
    assert printed.startswith("Fail the session was closed, since the program ends")
