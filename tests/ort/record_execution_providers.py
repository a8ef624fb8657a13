"""Records what the real ORT does with plugin EPs, in ``tests/goldens/execution_providers``.

``python tests/ort/record_execution_providers.py BUILD``, where BUILD has the built fixtures; ``--only WORD`` prints
what comes of the cases that have the word in their names, and records nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import onnxruntime

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT / "fixtures") not in sys.path:
    sys.path.insert(0, str(ROOT / "fixtures"))

from execution_provider_cases import CASES, PLUGINS, Record, Runtime, run_case  # noqa: E402
from execution_provider_goldens import GOLDENS, write_goldens  # noqa: E402


def placement(session: onnxruntime.InferenceSession) -> list[tuple[str, list[str]]]:
    return [(group.ep_name, [node.name for node in group.get_nodes()])
            for group in session.get_provider_graph_assignment_info()]  # fmt: skip


def unoptimized(options: onnxruntime.SessionOptions) -> None:
    """Sets a session up so that an EP sees the model as it is written."""
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")


#: Without the fallback of the Python package, which makes another session where an EP fails.
ORT = Runtime(onnxruntime, placement, unoptimized, {"enable_fallback": 0})


def register(fixtures_dir: Path) -> None:
    for name, plugin in PLUGINS.items():
        onnxruntime.register_execution_provider_library(name, str(plugin.path(fixtures_dir)))


def record(fixtures_dir: Path, names: list[str]) -> dict[str, Record]:
    """Runs cases in this process, whose plugins are registered."""
    return {name: run_case(ORT, CASES[name], fixtures_dir) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--output", type=Path, default=GOLDENS, help="the folder to write to")
    arguments = parser.parse_args()
    register(arguments.build.resolve())
    names = [name for name in CASES if arguments.only is None or arguments.only in name]
    records = record(arguments.build.resolve(), names)
    if arguments.only is None:
        write_goldens(arguments.output, f"onnxruntime {onnxruntime.__version__}", records)
    for name, made in records.items():
        print(name, [len(group) for group in made.claimed], made.error, made.counters)


if __name__ == "__main__":
    main()
