"""Records what the real ORT does with plugin EPs that are wrong, in ``tests/goldens/execution_providers``.

``python tests/ort/record_execution_provider_failures.py BUILD``, where BUILD has the built fixtures; with the name of a
failure besides, that one is tried in this process, and what came of it is printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "fixtures"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from execution_provider_failures import FAILURES, observe  # noqa: E402
from execution_provider_goldens import write_failure_goldens  # noqa: E402


def observed_apart(build: Path, name: str) -> dict[str, Any]:
    """Tries a failure in a process of its own, which may crash: then `crash` tells the step that it was at."""
    command = [sys.executable, __file__, str(build), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    *steps, last = done.stdout.splitlines() or [""]
    if done.returncode == 0 and last.startswith("{"):
        found: dict[str, Any] = json.loads(last)
        return found
    if last.startswith("{"):
        return {**json.loads(last), "crash": "end of the process"}
    return {"crash": last or (steps[-1] if steps else "start")}


def main() -> None:
    build = Path(sys.argv[1]).resolve()
    if len(sys.argv) > 2:
        from record_execution_providers import ORT

        found = observe(ORT, build, sys.argv[2], lambda step: print(step, flush=True))
        print(json.dumps(found), flush=True)
        return
    rows = {}
    for name in FAILURES:
        rows[name] = observed_apart(build, name)
        print(name, rows[name].get("crash") or rows[name]["steps"], flush=True)
    write_failure_goldens(rows)


if __name__ == "__main__":
    main()
