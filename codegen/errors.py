"""The one error that the generator raises for input it refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class CodegenError(Exception):
    """Input that the generator refuses: where it stands, which slot it concerns, and why.

    `file` and `line` point into the input; `slot` is `Struct::Member`, or empty when no member is concerned.
    """

    message: str
    file: str = ""
    line: int = 0
    slot: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file and self.line else f"{self.file}: " if self.file else ""
        return f"{place}{self.slot}: {self.message}" if self.slot else f"{place}{self.message}"
