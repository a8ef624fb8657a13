"""``onnx-light-ort inspect LIB``: what a plugin library is and whether it would be loaded, without running it; with
``--load`` also what its execution providers offer, which runs it."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

from onnx_light_ort.cli.kernel_table import kernel_table
from onnx_light_ort.cli.terminal_text import printable
from onnx_light_ort.errors import Error
from onnx_light_ort.host.admission import ADMISSION_RULES, admission_rule, set_admission
from onnx_light_ort.host.library_errors import LibraryError, UnauditedLibraryWarning
from onnx_light_ort.host.library_inspection import LibraryInspection, inspect_library, refusals
from onnx_light_ort.host.library_path import open_library, resolve_library_path
from onnx_light_ort.host.ort_runtime import API_BASE_EXPORT
from onnx_light_ort.host.profiles import ENTRY_POINTS, PLUGIN_EP
from onnx_light_ort.host.unload_report import THREAD_EXIT_IMPORTS

HELP = "tell what a plugin library exports, imports and needs, and whether it would be admitted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", type=Path, metavar="LIB", help="the shared library; it is read, not run")
    parser.add_argument(
        "--load", action="store_true", help="load it where it is admitted, and list factories, devices and kernels"
    )
    parser.add_argument("--bootstrap", action="store_true", help=f"as if the caller asked to provide {API_BASE_EXPORT}")
    parser.add_argument("--admission", choices=ADMISSION_RULES, default=admission_rule(), help="the admission rule")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Prints the report. 0: it would be admitted; 1: it would be refused; 2: there is no library to report on."""
    set_admission(arguments.admission)
    # Whoever types a path in a terminal means it relative to the current folder; the API takes absolute ones only.
    path = arguments.library.absolute()
    try:
        resolved = resolve_library_path(path)
        with open_library(path, resolved) as file:
            library = inspect_library(path, resolved, file)
    except LibraryError as error:
        if arguments.json:
            print(json.dumps({"path": str(path), "admitted": False, "refused_because": [str(error)]}, indent=2))
        else:
            print(printable(f"onnx-light-ort inspect: {error}"), file=sys.stderr)
        return 2
    reasons = [str(refusal).removeprefix(f"{path}: ") for refusal in refusals(library, bootstrap=arguments.bootstrap)]
    report = describe(library, reasons)
    if arguments.load:
        report["providers"] = _load(library, reasons, bootstrap=arguments.bootstrap)
    print(json.dumps(report, indent=2) if arguments.json else render(report))
    return 1 if reasons or report.get("providers", {}).get("error") else 0


def _load(library: LibraryInspection, reasons: list[str], *, bootstrap: bool) -> dict[str, Any]:
    """What the library's execution providers say of themselves, or the ``error`` why they say nothing."""
    if reasons:
        return {"error": "a library that is refused is not loaded"}
    if PLUGIN_EP not in library.fit.profiles:
        return {"error": "it has no execution providers: it does not export CreateEpFactories and ReleaseEpFactory"}
    from onnx_light_ort.host.provider_inspection import inspect_providers

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnauditedLibraryWarning)  # the report says it
            return inspect_providers(library.path, bootstrap=bootstrap)
    except Error as error:
        return {"error": str(error)}


def describe(library: LibraryInspection, reasons: list[str]) -> dict[str, Any]:
    """The report as plain data: what ``--json`` prints."""
    dynamic, symbols, admission = library.dynamic, library.symbols, library.admission()
    row = admission.row
    return {
        "path": str(library.path),
        "file": str(library.file),
        "size": library.size,
        "sha256": library.sha256,
        "format": f"ELF{dynamic.target.word_size} shared library",
        "machine": dynamic.target.machine.removeprefix("EM_").lower(),
        "byte_order": dynamic.target.byte_order,
        "soname": dynamic.soname,
        "exports": {
            name: symbols.exports[name] for name in (*ENTRY_POINTS, API_BASE_EXPORT) if name in symbols.exports
        },
        "export_count": len(symbols.exports),
        "import_count": len(symbols.imports),
        "imports_api_base": list(library.imports_api_base),
        "loads_more_at_run_time": "dlopen" in symbols.imports,
        "rpath": list(dynamic.rpath),
        "runpath": list(dynamic.runpath),
        "needs": [
            {
                "name": dependency.name,
                "needed_by": dependency.needed_by,
                "file": None if dependency.path is None else str(dependency.path),
                "found_by": dependency.found_by,
                "ort_runtime": dependency.ort_runtime,
            }
            for dependency in library.dependencies
        ],
        "initialisers": dynamic.initialisers,
        "stays_loaded": dynamic.stays_loaded,
        "unique_symbols": len(symbols.unique),
        "thread_exit_destructors": bool(symbols.imports & THREAD_EXIT_IMPORTS),
        "profiles": list(library.fit.profiles),
        "compatibility": None
        if row is None
        else {"library": row.library, "version": row.version, "abi_version": row.abi_version, "status": row.status},
        "admission_rule": admission_rule(),
        "admitted": not reasons,
        "refused_because": reasons,
        "warning": admission.reason if admission.warn and not reasons else None,
    }


def render(report: dict[str, Any]) -> str:
    """The report for a terminal."""
    lines = [report["path"]]
    if report["file"] != report["path"]:
        lines.append(_row("leads to", report["file"]))
    lines += [
        _row(
            "format",
            f"{report['format']}, {report['machine']}, {report['byte_order']}-endian, {report['size']:,} bytes",
        ),
        _row("sha256", report["sha256"]),
        _row("soname", report["soname"] or "none"),
        _row("exports", _listed([f"{n} ({t})" for n, t in report["exports"].items()], report["export_count"])),
        _row("imports", f"{report['import_count']} symbols{_import_notes(report)}"),
    ]
    lines += [_row(tag, ":".join(report[tag])) for tag in ("rpath", "runpath") if report[tag]]
    if not report["needs"]:
        lines.append(_row("needs", "no other library"))
    for index, needed in enumerate(report["needs"]):
        place = f"{needed['file']} ({needed['found_by']})" if needed["file"] else "NOT FOUND"
        runtime = f"  ORT RUNTIME, {needed['ort_runtime']}" if needed["ort_runtime"] else ""
        lines.append(_row("needs" if index == 0 else "", f"{needed['name']} -> {place}{runtime}"))
    lines += [
        _row("at load", f"runs {report['initialisers']} initialiser function(s)"),
        _row("unloading", _unloading(report)),
        _row("profile", ", ".join(report["profiles"]) or "none"),
        _row("audit", _audit(report)),
    ]
    if report["admitted"]:
        lines.append(_row("admitted", f"yes, by the rule {report['admission_rule']!r}"))
        if report["warning"]:
            lines.append(_row("", f"with a warning: {report['warning']}"))
    else:
        lines.append(_row("admitted", "no"))
        lines += [_row("", f"- {reason}") for reason in report["refused_because"]]
    if "providers" in report:
        lines += _provider_lines(report["providers"])
    return "\n".join(map(printable, lines))


def _provider_lines(providers: dict[str, Any]) -> list[str]:
    if "error" in providers:
        return [_row("loaded", f"no: {providers['error']}")]
    count = len(providers["factories"])
    factories = f"{count} {'factory' if count == 1 else 'factories'} of execution providers"
    lines = [_row("loaded", f"{factories}; then {providers['unloaded']}")]
    for factory in providers["factories"]:
        vendor = f"{factory['vendor']} ({factory['vendor_id']:#06x})"
        lines += ["", f"{factory['name']} {factory['version']}".rstrip() + f", by {vendor}"]
        lines += [
            _row("device", f"{device['type']} of {device['vendor']}, vendor {device['vendor_id']:#06x}, device "
                           f"{device['device_id']:#06x}")
            for device in factory["devices"]
        ] or [_row("device", "none: it takes no hardware of this host")]  # fmt: skip
        kernels = factory["kernels"]
        if factory["error"]:
            lines.append(_row("kernels", factory["error"]))
        elif kernels is None:
            lines.append(_row("kernels", "no registry: it compiles what it takes, if anything"))
        else:
            lines.append(_row("kernels", str(len(kernels))))
            lines += [f"    {line}" for line in kernel_table(kernels)]
    return lines


def _row(label: str, text: str) -> str:
    return f"  {label:<10} {text}"


def _listed(names: list[str], total: int) -> str:
    return f"{', '.join(names) or 'no entry point'}; {total} symbol(s) in all"


def _import_notes(report: dict[str, Any]) -> str:
    notes = ""
    if report["imports_api_base"]:
        notes += f"; {API_BASE_EXPORT} by {', '.join(report['imports_api_base'])}"
    if report["loads_more_at_run_time"]:
        notes += "; dlopen: it may load further libraries when it runs"
    return notes


def _unloading(report: dict[str, Any]) -> str:
    if report["stays_loaded"]:
        return "never: linked with -z nodelete"
    if report["unique_symbols"]:
        return f"unlikely: {report['unique_symbols']} GNU unique symbol(s)"
    if report["thread_exit_destructors"]:
        return "once the threads that used its thread-local objects have ended"
    return "nothing in the file forbids it"


def _audit(report: dict[str, Any]) -> str:
    row = report["compatibility"]
    if row is None:
        return "not in the compatibility matrix"
    return f"{row['library']} {row['version']}, ABI {row['abi_version']}: {row['status']}"
