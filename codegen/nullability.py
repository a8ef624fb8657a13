"""Which parameters of a slot the generated thunk checks for null."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import CodegenError
from codegen.model import Abi, Member, Param, is_pointer
from codegen.toml_file import read_toml

NULLABILITY_TABLE = Path(__file__).parent / "nullability.toml"


@dataclass(frozen=True)
class NullCheck:
    """A parameter that must not be null, unless `count` (a parameter of the slot) is 0."""

    parameter: str
    count: str = ""


class Nullability:
    """The rule and its exceptions."""

    def __init__(self, abi: Abi, table: Path = NULLABILITY_TABLE) -> None:
        self._exceptions: dict[str, dict[str, dict[str, str]]] = read_toml(table)
        self._file = str(table)
        self._pointer_types = {
            name for name, typedef in abi.typedefs.items() if typedef.function or is_pointer(typedef.type)
        }
        for struct, slots in self._exceptions.items():
            known = {member.name: member for member in abi.structs[struct].slots} if struct in abi.structs else {}
            for slot, lines in slots.items():
                if slot not in known:
                    raise CodegenError("there is no such slot", self._file, slot=f"{struct}::{slot}")
                for parameter, state in lines.items():
                    self._check_line(known[slot], struct, parameter, state)

    def _check_line(self, member: Member, struct: str, parameter: str, state: str) -> None:
        params = {param.name: param for param in member.slot.params}
        place = f"{struct}::{member.name}"
        if parameter not in params or not self._can_be_null(params[parameter]):
            raise CodegenError(f"it has no pointer parameter '{parameter}'", self._file, slot=place)
        counted = state.removeprefix("count:")
        if state not in ("required", "nullable") and (counted == state or counted not in params):
            raise CodegenError(f"'{state}' of '{parameter}' is not required, nullable or count:<parameter>", self._file)

    def checks(self, struct: str, member: Member) -> list[NullCheck]:
        """The checks of a slot, in the order of its parameters."""
        exceptions = self._exceptions.get(struct, {}).get(member.name, {})
        names = {param.name for param in member.slot.params}
        checks = []
        for param in member.slot.params:
            if not self._can_be_null(param):
                continue
            state = exceptions.get(param.name) or _default(param, names)
            if state == "required":
                checks.append(NullCheck(param.name))
            elif state.startswith("count:"):
                checks.append(NullCheck(param.name, state[len("count:") :]))
        return checks

    def _can_be_null(self, param: Param) -> bool:
        return is_pointer(param.type) or param.type in self._pointer_types


def _default(param: Param, names: set[str]) -> str:
    annotation = param.annotation
    if not annotation or "opt_" in annotation:
        return "nullable"
    if match := re.match(r"_(?:In_reads|Out_writes\w*|Inout_updates\w*)_\((\w+)\)", annotation):
        # Some annotations name a parameter that does not exist.
        return f"count:{match[1]}" if match[1] in names else "nullable"
    return "required"
