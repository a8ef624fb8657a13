"""The model of the ABI: everything that is rendered is rendered from here, and it is what abi.json holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
# Path and line of a declaration, for messages.
Place = tuple[str, int]

_VERSION_FIELDS = ("version", "ort_version_supported")


@dataclass(frozen=True)
class Param:
    """A parameter: C type without its name (`const OrtEnv*`, `void (*)(void*, size_t)`) and SAL annotation."""

    name: str
    type: str
    annotation: str = ""

    @property
    def annotated(self) -> str:
        """Its declaration in the pinned headers and in the rendered one."""
        return f"{self.annotation} {declare(self.type, self.name)}".lstrip()

    def to_json(self) -> Json:
        return {"name": self.name, "type": self.type, "annotation": self.annotation}


@dataclass(frozen=True)
class Function:
    """A function's signature."""

    returns: str
    params: tuple[Param, ...]

    def pointer(self, name: str = "") -> str:
        """C declaration of a pointer to such a function."""
        params = ", ".join(declare(param.type, param.name) for param in self.params) or "void"
        return f"{self.returns} (ORT_API_CALL* {name})({params})" if name else f"{self.returns} (*)({params})"


@dataclass
class Member:
    """A member of a struct: a slot (function pointer, `function` set) or a plain field.

    `alias` is the typedef that names the pointer type, where there is one. `members` are those of a union.
    Places (`file`, `line`) are for messages and no part of the model.
    """

    name: str
    type: str
    index: int
    since: int | None = None
    function: Function | None = None
    alias: str = ""
    members: list[Member] = field(default_factory=list)
    status: bool = False
    ownership: dict[str, str] = field(default_factory=dict)
    offset: int | None = None
    file: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    @property
    def slot(self) -> Function:
        """Signature of a slot."""
        assert self.function is not None, self.name
        return self.function

    def to_json(self) -> Json:
        if self.function is None:
            entry: Json = {"name": self.name, "kind": "field", "index": self.index, "since": self.since}
            entry["type"] = self.type
            if self.members:
                entry["members"] = [member.to_json() for member in self.members]
            entry["offset"] = self.offset
            return entry
        return {
            "name": self.name,
            "kind": "slot",
            "index": self.index,
            "since": self.since,
            "returns": self.function.returns,
            "params": [param.to_json() for param in self.function.params],
            "status": self.status,
            "ownership": self.ownership,
            **({"typedef": self.alias} if self.alias else {}),
            "offset": self.offset,
        }


@dataclass
class Struct:
    """A struct with members; `typedef` says whether its bare name is a type in C."""

    name: str
    members: list[Member]
    since: int | None = None
    typedef: bool = True
    size: int | None = None
    file: str = field(default="", compare=False)
    place: Place = field(default=("", 0), compare=False)

    @property
    def slots(self) -> list[Member]:
        return [member for member in self.members if member.function]

    @property
    def is_table(self) -> bool:
        """Whether it holds function pointers."""
        return bool(self.slots)

    @property
    def version_field(self) -> str:
        """The member that declares for which version the struct was filled in, or an empty string."""
        first = self.members[0] if self.members else None
        return first.name if first and first.name in _VERSION_FIELDS else ""

    @property
    def is_host_table(self) -> bool:
        """Whether the host fills it in: function pointers only. Callback structs start with a version."""
        return self.is_table and not self.version_field


@dataclass
class Enum:
    """An enumeration with evaluated values; `places` are those of the values, by name."""

    name: str
    members: list[tuple[str, int]]
    since: int | None = None
    typedef: bool = True
    file: str = field(default="", compare=False)
    place: Place = field(default=("", 0), compare=False)
    places: dict[str, Place] = field(default_factory=dict, compare=False)


@dataclass
class Typedef:
    """A named function-pointer type (`function`) or an alias of another type (`type`)."""

    name: str
    type: str = ""
    function: Function | None = None
    since: int | None = None
    file: str = field(default="", compare=False)
    place: Place = field(default=("", 0), compare=False)


@dataclass
class ExportedFunction:
    """A function that ORT's library exports by name."""

    name: str
    function: Function
    file: str = field(default="", compare=False)


@dataclass
class Abi:
    """All declarations of the public headers at one API version. `order` lists type names as declared."""

    api_version: int
    structs: dict[str, Struct] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    typedefs: dict[str, Typedef] = field(default_factory=dict)
    functions: dict[str, ExportedFunction] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list, compare=False)
    file_of_opaque: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def host_tables(self) -> list[Struct]:
        """The tables that the host provides, OrtApiBase first."""
        return [struct for struct in self.structs.values() if struct.is_host_table]

    @property
    def callback_structs(self) -> list[Struct]:
        """The structs of function pointers that plugins (or callers) fill in."""
        return [struct for struct in self.structs.values() if struct.is_table and not struct.is_host_table]

    def slots(self) -> Iterator[tuple[Struct, Member]]:
        """Every slot of every table, in the header's order."""
        for struct in self.structs.values():
            for member in struct.slots:
                yield struct, member

    def to_json(self) -> Json:
        """The content of abi.json."""
        return {
            "api_version": self.api_version,
            "tables": {s.name: [m.to_json() for m in s.members] for s in self.structs.values() if s.is_table},
            "enums": {
                enum.name: {"since": enum.since, "members": [{"name": n, "value": v} for n, v in enum.members]}
                for enum in self.enums.values()
            },
            "structs": {
                s.name: {"since": s.since, "size": s.size, "members": [m.to_json() for m in s.members]}
                for s in self.structs.values()
                if not s.is_table
            },
            "sizes": {s.name: s.size for s in self.structs.values() if s.is_table},
            "opaque": self.opaque,
            "typedefs": {
                typedef.name: {
                    "since": typedef.since,
                    **(
                        {
                            "returns": typedef.function.returns,
                            "params": [param.to_json() for param in typedef.function.params],
                        }
                        if typedef.function
                        else {"type": typedef.type}
                    ),
                }
                for typedef in self.typedefs.values()
            },
            "functions": {
                f.name: {"returns": f.function.returns, "params": [param.to_json() for param in f.function.params]}
                for f in self.functions.values()
            },
        }


def is_pointer(c_type: str) -> bool:
    """Whether a C type is a pointer, an array parameter or a function pointer."""
    return c_type.endswith(("*", "]", "*const", "* const")) or "(*)" in c_type


def declare(c_type: str, name: str) -> str:
    """C declaration of `name` with a type that is written without one."""
    if not name:
        return c_type
    if "(*)" in c_type:
        return c_type.replace("(*)", f"(*{name})", 1)
    if match := re.match(r"(.*?)((?:\[\w*\])+)$", c_type):
        return f"{match[1]} {name}{match[2]}"
    return f"{c_type} {name}"
