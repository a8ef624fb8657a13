"""Registers a library of execution providers, makes and runs a session with it, and unregisters it, many times: nothing
may stay. With --failures, something fails in each cycle: each step in turn.

``python benchmarks/provider_cycles.py LIBRARY [--cycles N] [--failures]``, with the fixture ``libkernel_ep.so``
"""

from __future__ import annotations

import argparse
import gc
import itertools
import statistics
import sys
from pathlib import Path

import onnx_light_ort as ort
from onnx_light_ort.host.memory_map import mapped_files

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "fixtures"))

from execution_provider_cases import MODELS
from real_models import Feeds

#: What the fixture is told to do wrong, by its registered name or by its EP's option, in the order of the steps.
FAILURES = [
    *(("library", variant) for variant in (
        "zero_factories", "creation_fails", "creation_throws", "creation_fails_late", "more_factories_than_room",
        "null_name", "vendor_throws", "no_create_ep_callback", "factory_version_21", "devices_fail",
        "devices_fail_late", "devices_throw", "more_devices_than_room", "same_device_twice", "foreign_device",
        "gpu_memory", "domains_fail", "release_fails",
    )),
    *(("provider", variant) for variant in (
        "create_ep_fails", "create_ep_throws", "create_ep_gives_null", "ep_version_22", "ep_name_null",
        "registry_fails", "layout_fails", "concurrency_fails", "capability_fails", "capability_throws", "claims_null",
        "create_kernel_fails", "create_kernel_throws", "initialization_end_fails", "run_start_fails", "compute_fails",
        "compute_throws", "compute_without_output", "run_end_fails",
    )),
]  # fmt: skip


BLOCKS = 5


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def cycle(library: str, fails: tuple[str, str] | None, model: bytes, feeds: Feeds) -> bool:
    """Whether it went well."""
    kind, variant = fails or ("", "")
    name = f"cycle:{variant}" if kind == "library" else "cycle"
    well, session = False, None
    try:
        ort.register_execution_provider_library(name, library)
    except ort.Error:
        return False
    try:
        options = ort.SessionOptions()
        options.add_provider_for_devices(
            [device for device in ort.get_ep_devices() if device.ep_name == "KernelEp"],
            {"variant": variant} if kind == "provider" else {},
        )
        session = ort.InferenceSession(model, options)
        session.run(None, feeds)
        well = True
    except ort.Error:
        pass
    del session
    report = ort.unregister_execution_provider_library(name)
    if not report.unmapped:
        raise SystemExit(f"{fails}: {report}")
    return well


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", type=Path)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--failures", action="store_true")
    arguments = parser.parse_args()
    library = arguments.library.resolve()
    ort.set_admission("any")
    case = MODELS["custom_ops"]
    model, feeds = case.make().SerializeToString(), case.feeds()[0]
    steps = itertools.cycle(FAILURES if arguments.failures else [None])

    def cycles(count: int) -> int:
        return sum(cycle(str(library), next(steps), model, feeds) for _ in range(count))

    cycles(max(100, arguments.cycles // 5))  # caches and the allocator settle
    well, grown = 0, []
    for _ in range(BLOCKS):
        gc.collect()
        before = resident_bytes()
        well += cycles(arguments.cycles // BLOCKS)
        gc.collect()
        grown.append(resident_bytes() - before)
    # What grows once, such as Python's table of interned strings, is in one block; what grows with each cycle in all.
    growth = statistics.median(grown)
    is_mapped = library in mapped_files()
    print(
        f"{arguments.cycles} cycles, {well} of which went well: memory grew by {sum(grown) / 1024:.0f} KiB, in the "
        f"median by {growth / 1024:.0f} KiB in {arguments.cycles // BLOCKS} cycles; the library is "
        f"{'' if is_mapped else 'not '}mapped"
    )
    # AddressSanitizer keeps what is freed for a while.
    sanitized = any(file.name.startswith("libasan") for file in mapped_files())
    if is_mapped or (not sanitized and growth > arguments.cycles // BLOCKS * 512):
        raise SystemExit("something stays behind")
    if well != arguments.cycles and not arguments.failures:
        raise SystemExit("a cycle failed")


if __name__ == "__main__":
    main()
