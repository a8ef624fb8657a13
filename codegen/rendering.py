"""Renders a template of `templates/`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen.model import declare

TEMPLATES = Path(__file__).parent.parent / "templates"


def _ranges(numbers: Sequence[int]) -> str:
    """Numbers as text: ``[8, 9, 10, 29]`` as "8 to 10, 29"."""
    ends = [n for n in numbers if n + 1 not in numbers]
    starts = [n for n in numbers if n - 1 not in numbers]
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in zip(sorted(starts), sorted(ends), strict=True))


_environment = Environment(
    loader=FileSystemLoader(TEMPLATES),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)
_environment.filters["c_string"] = json.dumps
_environment.filters["c_int"] = lambda value: "(-2147483647 - 1)" if value == -(2**31) else str(value)
_environment.filters["ranges"] = _ranges
_environment.globals["declare"] = declare


def render(template: str, **context: Any) -> str:
    """The text of a template."""
    return _environment.get_template(template).render(**context)
