"""The command ``onnx-light-ort``.

A subcommand is a module of this package with ``HELP``, ``add_arguments(parser)`` and ``run(arguments) -> exit code``,
and one line in ``SUBCOMMANDS``. It is imported only when it is called, or for ``--help``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

#: Module names, in the order in which help lists them.
SUBCOMMANDS = (
    "demo",
    "run",
    "inspect",
    "matrix",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code: 0 success, 1 a failure that was reported, 2 wrong usage."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="onnx-light-ort",
        description="Runs ONNX models, and libraries written for the ONNX Runtime C ABI, without ONNX Runtime.",
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="command")
    modules: dict[str, Any] = {}
    # Help on everything needs every module; a call needs only its own.
    wanted = [name for name in SUBCOMMANDS if name in given[:1]] or SUBCOMMANDS
    for name in wanted:
        module = modules[name] = import_module(f"onnx_light_ort.cli.{name}")
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=module.HELP.capitalize() + "."))
    parsed = parser.parse_args(given)
    if parsed.version:
        from onnx_light_ort import __version__

        print(__version__)
        return 0
    if parsed.command is None:
        parser.print_help()
        return 2
    return int(modules[parsed.command].run(parsed))
