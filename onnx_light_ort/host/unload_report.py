"""What became of a library after its last claim was dropped, and why it is still mapped where it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_light_ort.host.library_inspection import LibraryInspection

THREAD_EXIT_IMPORTS = frozenset({"__cxa_thread_atexit", "__cxa_thread_atexit_impl"})
"""How a library has an object of its own destroyed when a thread ends."""


@dataclass(frozen=True)
class UnloadReport:
    """``unmapped`` is read from the process's memory map; ``reasons`` say what keeps the library there if it is not."""

    unmapped: bool
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return "unloaded" if self.unmapped else "still mapped: " + "; ".join(self.reasons)


def reasons_to_stay(library: LibraryInspection, *, holders: int, other_claims: int) -> tuple[str, ...]:
    """Why a library can be mapped still. ``holders``: objects from it that live; ``other_claims``: further loads."""
    reasons = []
    if holders:
        reasons.append(f"{holders} object(s) that came from it still hold it")
    if other_claims > holders:
        reasons.append(f"this process loaded it {other_claims - holders} more time(s)")
    if library.dynamic.stays_loaded:
        reasons.append("it is linked with -z nodelete")
    if library.symbols.unique:
        reasons.append(
            f"it defines {len(library.symbols.unique)} GNU unique symbol(s) such as {library.symbols.unique[0]}, which "
            "the linker never unmaps (compile with -fno-gnu-unique)"
        )
    if library.symbols.imports & THREAD_EXIT_IMPORTS:
        threads = len(os.listdir("/proc/self/task"))
        reasons.append(
            f"it registers destructors for its thread-local objects, and each of the {threads} thread(s) of this "
            "process that used one keeps it mapped until the thread ends"
        )
    if not reasons:
        reasons.append("something outside of this host opened it too, or is bound to its symbols")
    return tuple(reasons)
