"""Renders a template of `templates/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from codegen.model import declare

TEMPLATES = Path(__file__).parent.parent / "templates"

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
_environment.globals["declare"] = declare


def render(template: str, **context: Any) -> str:
    """The text of a template."""
    return _environment.get_template(template).render(**context)
