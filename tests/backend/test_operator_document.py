"""docs/operators.md says what the code and the list of known failures say. Run as a script, this file renders it."""

from __future__ import annotations

import re
from pathlib import Path

from onnx_light_ort.engine.python_kernels import fast_path_operators
from onnx_light_ort.engine.python_kernels.fast_paths import find_fast_path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "operators.md"
KNOWN_FAILURES = Path(__file__).with_name("known_failures.toml")


def fast_path_table() -> str:
    families: dict[str, list[str]] = {}
    for domain, op_type in fast_path_operators():
        factory = find_fast_path(domain, op_type)
        assert factory is not None
        family = factory.__module__.rpartition(".")[2]
        families.setdefault(family, []).append(f"`{domain}::{op_type}`" if domain else f"`{op_type}`")
    rows = [f"| `{family}.py` | {', '.join(operators)} |" for family, operators in sorted(families.items())]
    return "\n".join(["| family | operators |", "|---|---|", *rows])


def failure_table() -> str:
    groups = tomllib.loads(KNOWN_FAILURES.read_text())["failure"]
    rows = [f"| `{name}` | {group['reason']} |" for group in groups for name in sorted(group["cases"])]
    return "\n".join(["| case | reason |", "|---|---|", *rows])


def rendered(text: str) -> str:
    for marker, table in (("fast paths", fast_path_table()), ("known failures", failure_table())):
        text = re.sub(f"(?s)(<!-- {marker} -->\n).*?(<!-- end -->)", rf"\g<1>{table}\n\g<2>", text)
    return text


def test_the_document_lists_the_fast_paths_and_the_known_failures() -> None:
    text = DOCUMENT.read_text()
    assert rendered(text) == text, "run python tests/backend/test_operator_document.py"


if __name__ == "__main__":
    DOCUMENT.write_text(rendered(DOCUMENT.read_text()))
