"""Reads TOML on every Python that the project supports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

from codegen.errors import CodegenError


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises CodegenError naming the file when it cannot be read or does not parse."""
    try:
        content: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CodegenError(f"cannot be read: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError as error:
        raise CodegenError(f"is not UTF-8 at byte {error.start}", file=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise CodegenError(f"does not parse as TOML: {error}", file=str(path)) from None
    return content
