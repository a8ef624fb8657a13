"""Command line of the generator; see docs/codegen.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from codegen.compatibility import compare, refuse_breaks
from codegen.errors import CodegenError
from codegen.generators import Tables, generate
from codegen.model import Abi
from codegen.nullability import NULLABILITY_TABLE
from codegen.ownership import OWNERSHIP_TABLE
from codegen.pin import UPSTREAM, load_pin, pin, pinned_versions, previous_pin
from codegen.support import SUPPORT_TABLE

ROOT = Path(__file__).parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except CodegenError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Generates what follows from the ORT C ABI.")
    parser.add_argument("--headers", type=Path, default=ROOT / "headers", help="folder of the pinned versions")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("pin", help="take the declarations of an ORT release as headers/vN")
    command.add_argument("--include", type=Path, required=True, help="include folder of an ORT release archive")
    command.add_argument("--api", type=int, required=True, help="API version to pin; newer slots are left out")
    command.add_argument("--commit", default="unknown", help="commit or tag of the headers, for the record")
    command.add_argument("--repository", default=UPSTREAM, help="repository that has the commit, for the record")
    command.add_argument(
        "--replace",
        action="store_true",
        help="pin what breaks the pin of this version or of the next; never of an older",
    )
    command.set_defaults(run=_pin)

    command = commands.add_parser("generate", help="render everything from a pinned version")
    _generation_options(command)
    command.set_defaults(run=_generate)

    command = commands.add_parser("check", help="exit 1 and list the files that are not what generate would write")
    _generation_options(command)
    command.set_defaults(run=_check)

    command = commands.add_parser(
        "diff", help="name every slot that differs between two versions; exit 1 if one breaks"
    )
    command.add_argument("old", help="a pinned version (29, v29) or a folder with pinned headers")
    command.add_argument("new", help="likewise")
    command.set_defaults(run=_diff)
    return parser


def _generation_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--api", type=int, help="pinned version to render; the newest by default")
    command.add_argument("--output", type=Path, default=ROOT, help="root below which generated/ and docs/ are written")
    command.add_argument("--support", type=Path, default=SUPPORT_TABLE, help="states of the slots")
    command.add_argument("--nullability", type=Path, default=NULLABILITY_TABLE, help="parameters that may be null")
    command.add_argument("--ownership", type=Path, default=OWNERSHIP_TABLE, help="owners of what slots give out")


def _pin(options: argparse.Namespace) -> int:
    remarks = pin(
        options.include,
        options.api,
        options.headers,
        options.commit,
        repository=options.repository,
        replace=options.replace,
    )
    print(f"pinned version {options.api} in {options.headers / f'v{options.api}'}")
    for remark in remarks:
        print(remark)
    return 0


def _rendered(options: argparse.Namespace) -> dict[str, str]:
    versions = pinned_versions(options.headers)
    if not versions:
        raise CodegenError("no version is pinned; run `python -m codegen pin` first", str(options.headers))
    api = max(versions) if options.api is None else options.api
    if api not in versions:
        pinned = ", ".join(map(str, versions))
        raise CodegenError(f"version {api} is not pinned; pinned are {pinned}", str(options.headers))
    abi = load_pin(versions[api])
    previous = previous_pin(options.headers, api)
    if previous:
        refuse_breaks(previous, abi)
    return generate(abi, Tables(options.support, options.nullability, options.ownership))


def _generate(options: argparse.Namespace) -> int:
    files = _rendered(options)
    for name, text in files.items():
        path = options.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    for path in _strays(options.output, files):
        path.unlink()
        print(f"removed {path.relative_to(options.output)}")
    return 0


def _check(options: argparse.Namespace) -> int:
    files = _rendered(options)
    stale = [
        name
        for name, text in files.items()
        if not (options.output / name).is_file() or (options.output / name).read_text(encoding="utf-8") != text
    ]
    stale += [str(path.relative_to(options.output)) for path in _strays(options.output, files)]
    for name in stale:
        print(f"stale: {name}")
    if stale:
        print("run `python -m codegen generate`", file=sys.stderr)
    return 1 if stale else 0


def _strays(output: Path, files: dict[str, str]) -> list[Path]:
    """Files below generated/ that no generator writes."""
    found = (path for path in (output / "generated").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(path for path in found if path.relative_to(output).as_posix() not in files)


def _diff(options: argparse.Namespace) -> int:
    old, new = _version(options.old, options.headers), _version(options.new, options.headers)
    changes = compare(old, new)
    for change in changes:
        print(f"{'BREAKS ' if change.breaks else ''}{change}")
    return 1 if any(change.breaks for change in changes) else 0


def _version(name: str, headers: Path) -> Abi:
    folder = Path(name)
    if not folder.is_dir():
        folder = headers / f"v{name.removeprefix('v')}"
    if not folder.is_dir():
        raise CodegenError(f"'{name}' is neither a pinned version nor a folder", str(headers))
    return load_pin(folder)


if __name__ == "__main__":
    sys.exit(main())
