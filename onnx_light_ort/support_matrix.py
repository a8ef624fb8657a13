"""What this host does with each slot of the ABI, as data."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_MATRIX = Path(__file__).parent / "support_matrix.json"


def support_matrix() -> dict[str, Any]:
    """The support matrix that this build was generated with.

    Keys: ``api_version`` (the pinned ABI), ``accepted_api_versions`` (what ``GetApi`` answers), ``platforms``,
    ``counts`` (slots by table and state), ``profiles`` (each with its state, reason, ABI versions, tensor types, host
    slots and plugin callbacks), ``slots`` and ``callbacks`` (one row each: table, name, index, ``since`` version,
    state, profile, reason). A slot's state is ``implemented``, ``table``, ``null``, ``deferred``, ``rejected`` or
    ``not implemented``; docs/support_matrix.md says what each means.
    """
    matrix: dict[str, Any] = json.loads(_MATRIX.read_text(encoding="utf-8"))
    return matrix


def version_ranges(versions: Iterable[int]) -> str:
    """Versions as text: ``[8, 9, 10, 29]`` as "8 to 10, 29"."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
