"""Admission by audit: which libraries are trusted enough to be loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from onnx_light_ort.host.compatibility_matrix import AUDITED, CompatibilityRow, compatibility_matrix

AdmissionRule = Literal["warn", "audited", "any"]

ADMISSION_RULES: tuple[AdmissionRule, ...] = ("warn", "audited", "any")

_rule: AdmissionRule = "warn"


@dataclass(frozen=True)
class Admission:
    """What the rule says about one library file, and why."""

    admitted: bool
    warn: bool
    reason: str
    row: CompatibilityRow | None
    """Its row of the compatibility matrix, ``None`` where it has none."""


def set_admission(rule: AdmissionRule) -> None:
    """Chooses what happens to a library whose hash the compatibility matrix does not list as audited.

    ``"warn"`` (the default) loads it with an ``UnauditedLibraryWarning``, ``"audited"`` refuses it with
    ``LibraryNotAdmittedError``, ``"any"`` loads it silently. Libraries that are loaded already stay.
    """
    global _rule
    if rule not in ADMISSION_RULES:
        raise ValueError(f"{rule!r} is not an admission rule; choose one of {', '.join(map(repr, ADMISSION_RULES))}")
    _rule = rule


def admission_rule() -> AdmissionRule:
    """The rule in force."""
    return _rule


def decide_admission(sha256: str) -> Admission:
    """Applies the rule in force to the file with this hash."""
    row = compatibility_matrix().get(sha256)
    audited = row is not None and row.status == AUDITED
    if row is None:
        finding = f"its hash (sha256 {sha256}) is not in the compatibility matrix"
    elif audited:
        finding = f"the compatibility matrix lists it as audited: {row.library} {row.version}"
    else:
        finding = f"the compatibility matrix lists it as {row.status}: {row.library} {row.version}"
    admitted = audited or _rule != "audited"
    if not audited and _rule == "audited":
        finding += (
            ", and only audited libraries are admitted; use a build that the matrix lists as audited, or trust this "
            'one with onnx_light_ort.set_admission("warn")'
        )
    return Admission(admitted, not audited and _rule == "warn", finding, row)
