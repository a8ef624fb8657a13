"""The published list of plugin libraries, by the hash of their file, with what was found out about each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

AUDITED = "audited"
NOT_YET_RUN = "not yet run"


@dataclass(frozen=True)
class CompatibilityRow:
    """One library file of one release.

    ``status`` is ``"audited"`` once its profile ran end to end on this host, ``"not yet run"`` before;
    ``slots_used`` are the ``Table::Slot`` names counted in that run.
    """

    library: str
    version: str
    file: str
    platform: str
    abi_version: int
    profile: str
    sha256: str
    status: str
    slots_used: tuple[str, ...] | None

    def __post_init__(self) -> None:
        if self.status not in (AUDITED, NOT_YET_RUN):
            raise ValueError(f"{self.library}: status {self.status!r} is neither {AUDITED!r} nor {NOT_YET_RUN!r}")
        if self.status == AUDITED and not self.slots_used:
            raise ValueError(f"{self.library}: an audited row names the slots that the library used")


@cache
def compatibility_matrix() -> dict[str, CompatibilityRow]:
    """The rows, by sha256 in lower-case hexadecimal digits."""
    import json

    document = json.loads(Path(__file__).with_name("compatibility_matrix.json").read_text("utf-8"))
    rows = {}
    for entry in document["libraries"]:
        slots = entry.pop("slots_used")
        row = CompatibilityRow(**entry, slots_used=None if slots is None else tuple(slots))
        rows[row.sha256] = row
    return rows
