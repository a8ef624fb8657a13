"""The documents about ORT with our kernels are true: the example runs, the table of operators is current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from record_reverse_coverage import PAGE, coverage, served

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_complete_example_runs_and_prints_probabilities(tmp_path: Path) -> None:
    page = (DOCS / "bfloat16_in_onnxruntime.md").read_text()
    (example,) = re.findall(r"## A complete example\n\n```python\n(.*?)```", page, re.DOTALL)
    command = [sys.executable, "-c", example]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stderr
    printed = np.array([[float(number) for number in row.strip("[ ]").split()] for row in done.stdout.splitlines()])
    assert printed.shape == (2, 4)
    np.testing.assert_allclose(printed.sum(axis=1), 1, atol=0.02)
    np.testing.assert_array_equal(printed[0], printed[1])

    without = example.replace("options.add_provider_for_devices(devices, {})\n", "")
    assert without != example
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert "Could not find an implementation for" in done.stderr


def test_the_table_of_operators_says_what_ort_runs() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
    operators = list(served())
    assert [line.split(" | ")[0][2:] for line in lines] == [
        f"{f'{domain}.' if domain else ''}{name}" for domain, name, _ in (one.key for one in operators)
    ]
    # Operators of many choices take long, and most of the rest is alike.
    few = [(one, line) for one, line in zip(operators, lines, strict=True) if len(list(one.combinations())) < 60]
    for operator, line in few[::4]:
        assert coverage(operator).row() == line
