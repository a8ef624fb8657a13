"""The command ``onnx-light-ort``.

A subcommand is a module of this package with ``HELP``, ``add_arguments(parser)`` and ``run(arguments) -> exit code``,
and one line in ``SUBCOMMANDS``. It is imported only when it is called, or for ``--help``.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

#: Module names, in the order in which help lists them.
SUBCOMMANDS = (
    "demo",
    "run",
    "plan",
    "inspect",
    "matrix",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit code: 0 success, 1 a failure that was reported, 2 wrong usage.

    1 as well where the reader of the output went before its end, as ``head`` does.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # A terminal that cannot show a character gets its number.
    try:
        try:
            return _run(list(sys.argv[1:] if arguments is None else arguments))
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would meet the closed pipe again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(given: list[str]) -> int:
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
        module.add_arguments(commands.add_parser(name, help=module.HELP, description=_sentence(module.HELP)))
    parsed = parser.parse_args(given)
    if parsed.version:
        from onnx_light_ort import __version__

        print(__version__)
        return 0
    if parsed.command is None:
        parser.print_help()
        return 2
    return int(modules[parsed.command].run(parsed))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
