"""No ORT library is in a process that runs custom ops: not before, not while a kernel computes, not after."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from custom_ops.published_operators import REQUIREMENT, library_file

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

# Watches the memory map from another thread while operators run, so that a library that comes for one run is seen too.
PROGRAM = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, {fixtures!r})
    import threading
    from pathlib import Path

    import onnx_light_ort as ort
    from custom_ops.published_operators import published_cases
    from onnx_light_ort.host.memory_map import mapped_files
    from onnx_light_ort.host.ort_runtime import is_runtime_name

    ort.set_admission("any")
    seen, stop, looks = set(), threading.Event(), 0

    def look():
        global looks
        seen.update(mapped_files())
        looks += 1

    def watch():
        while not stop.is_set():
            look()

    options = ort.SessionOptions()
    options.register_custom_ops_library({library!r})
    cases = [case for case in published_cases() if case.name in ("GPT2Tokenizer", "StringUpper", "Inverse")]
    sessions = [(ort.InferenceSession(case.model, options), case) for case in cases]
    thread = threading.Thread(target=watch)
    thread.start()
    runs = 0
    while runs < 300 or looks < 5:
        runs += 1
        for session, case in sessions:
            session.run(None, dict(case.feed))
    stop.set()
    thread.join()
    look()
    assert Path({library!r}) in seen
    runtimes = [path for path in seen if is_runtime_name(path.name)]
    assert not runtimes, runtimes
    modules = [name for name in sys.modules if name.partition(".")[0] in ("onnxruntime", "onnxruntime_extensions")]
    assert not modules, modules
    print("no ORT in", len(seen), "files")
    """
)


def test_no_ort_library_is_mapped_before_during_or_after_inference(wheel: Callable[[str], Path]) -> None:
    program = PROGRAM.format(fixtures=str(FIXTURES), library=str(library_file(wheel(REQUIREMENT))))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("no ORT in")
