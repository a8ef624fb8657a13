"""Records what the real ORT does with the libraries that fail, in ``tests/goldens/custom_ops``.

``python tests/ort/record_custom_ops.py BUILD``, where BUILD has the built fixtures; with the name of an experiment
besides, that one runs in this process, and what came of it is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
GOLDENS = ROOT / "tests" / "goldens" / "custom_ops" / "failures.json"
sys.path.insert(0, str(ROOT / "fixtures"))

from custom_ops.custom_op_cases import X, library_path  # noqa: E402
from custom_ops.custom_op_failures import experiments  # noqa: E402


def observe(build: Path, name: str) -> dict[str, Any]:
    """Runs one experiment in this process: the stage that it reached, and the class of the exception that ended it."""
    import onnxruntime as ort

    library, model, inputs = experiments()[name]
    options = ort.SessionOptions()
    options.log_severity_level = 4
    stage = "registration"
    try:
        options.register_custom_ops_library(library_path(build, library))
        stage = "creation"
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"], enable_fallback=0)
        stage = "run"
        outputs = session.run(None, dict([("x", X), ("x2", X)][:inputs]))
    except Exception as error:
        return {"stage": stage, "error": type(error).__name__}
    return {"stage": "done", "output": "none" if outputs[0] is None else "value"}


def observed_apart(build: Path, name: str) -> dict[str, Any]:
    """The same in a process of its own, which may crash."""
    command = [sys.executable, __file__, str(build), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.stdout.startswith("{") else {}
    return found if done.returncode == 0 else {**found, "crash": True}


def main() -> None:
    build = Path(sys.argv[1])
    if len(sys.argv) > 2:
        print(json.dumps(observe(build, sys.argv[2])), flush=True)
        return
    GOLDENS.parent.mkdir(parents=True, exist_ok=True)
    observed = {name: observed_apart(build, name) for name in experiments()}
    GOLDENS.write_text(json.dumps(observed, indent=1) + "\n")


if __name__ == "__main__":
    main()
