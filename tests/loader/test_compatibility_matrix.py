"""The published list of libraries says what is so."""

from __future__ import annotations

import hashlib
from dataclasses import asdict

import pytest
from compatibility_page import PAGE, page
from slots_used import library_file, slots_used

from onnx_light_ort.host.compatibility_matrix import AUDITED, CompatibilityRow, compatibility_matrix

ROWS = sorted(compatibility_matrix().values(), key=lambda row: row.library)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.library)
def test_a_row_is_of_the_file_that_its_package_carries(row: CompatibilityRow) -> None:
    file = library_file(row.library)
    assert str(file).endswith(row.file)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == row.sha256


@pytest.mark.parametrize("row", [row for row in ROWS if row.status == AUDITED], ids=lambda row: row.library)
def test_an_audited_library_runs_and_uses_the_slots_of_its_row(row: CompatibilityRow) -> None:
    assert tuple(slots_used(row.library)) == row.slots_used


def test_the_page_has_the_rows_of_the_list() -> None:
    assert PAGE.read_text("utf-8") == page([asdict(row) for row in compatibility_matrix().values()])
