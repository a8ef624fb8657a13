"""The committed table of what ORT's CPU provider lacks is what the pinned ORT does, in a sample of its operators."""

from __future__ import annotations

import onnxruntime
import pytest
from cpu_provider_probe import operators
from record_cpu_provider_gaps import TABLE, rows

#: One operator in so many: the whole takes half a minute.
STRIDE = 6


def test_the_table_is_that_of_the_pinned_version() -> None:
    assert f"ONNX Runtime {onnxruntime.__version__} lacks" in TABLE.read_text().splitlines()[0]


@pytest.mark.parametrize("start", range(2))
def test_the_cpu_provider_lacks_what_the_table_says(start: int) -> None:
    lines = TABLE.read_text().splitlines()[1:]
    for operator in operators()[start::STRIDE]:
        domain, name, version = operator.key
        prefix = f'{{"{domain}", "{name}", {version}, '
        assert rows(operator) == [line for line in lines if line.startswith(prefix)], operator.key
