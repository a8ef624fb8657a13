"""What changed between two pinned versions. Layouts are append-only: everything but an appended member is a break."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.errors import CodegenError
from codegen.model import Abi, Enum, Member, Struct


@dataclass(frozen=True)
class Change:
    """One difference; `breaks` says whether it changes a layout that exists."""

    text: str
    slot: str
    breaks: bool
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        return f"{place}{self.slot}: {self.text}"


def compare(old: Abi, new: Abi) -> list[Change]:
    """All differences, in the order of the older version's declarations, then what is new.

    A change stands where the newer version has it; what vanished as a whole, where the older version has it.
    """
    changes: list[Change] = []
    for name, before in old.structs.items():
        after = new.structs.get(name)
        if after is None:
            changes.append(Change(f"vanished; version {old.api_version} has this struct", name, True, *before.place))
        else:
            changes += _members(before, after, old.api_version)
    for name, enum in old.enums.items():
        changes += _values(enum, new.enums.get(name), old.api_version)
    for name, typedef in old.typedefs.items():
        other = new.typedefs.get(name)
        if other is None:
            changes.append(Change(f"vanished; version {old.api_version} has this type", name, True, *typedef.place))
        elif (typedef.type, typedef.function and typedef.function.pointer()) != (
            other.type,
            other.function and other.function.pointer(),
        ):
            changes.append(Change(f"changed its signature since version {old.api_version}", name, True, *other.place))
    changes += [Change("added", name, False) for name in [*new.structs, *new.enums] if name not in _type_names(old)]
    return changes


def refuse_breaks(old: Abi, new: Abi) -> None:
    """Raises CodegenError naming file, line and slot of each break."""
    breaks = [change for change in compare(old, new) if change.breaks]
    if breaks:
        first, *others = breaks
        rest = "".join(f"\n{change}" for change in others)
        raise CodegenError(first.text + rest, first.file, first.line, first.slot)


def _type_names(abi: Abi) -> set[str]:
    return {*abi.structs, *abi.enums}


def _members(before: Struct, after: Struct, version: int) -> list[Change]:
    changes: list[Change] = []
    position = {member.name: member for member in after.members}
    for member in before.members:
        slot = f"{before.name}::{member.name}"
        found = position.get(member.name)
        if found is None:
            there = after.members[member.index] if member.index < len(after.members) else None
            text = f"vanished; version {version} has it at index {member.index}"
            text += f", where {there.name} stands now" if there else ""
            changes.append(Change(text, slot, True, *((there.file, there.line) if there else after.place)))
        elif found.index != member.index:
            text = f"moved from index {member.index} of version {version} to {found.index}"
            changes.append(Change(text, slot, True, found.file, found.line))
        elif _signature(found) != _signature(member):
            text = f"changed from '{_signature(member)}' of version {version} to '{_signature(found)}'"
            changes.append(Change(text, slot, True, found.file, found.line))
        elif found.since != member.since:
            text = f"is said to exist since {found.since}, and since {member.since} by version {version}"
            changes.append(Change(text, slot, True, found.file, found.line))
        elif found.function and found.slot.params != member.slot.params:
            changes.append(Change("changed the name or annotation of a parameter", slot, False, found.file, found.line))
    known = {member.name for member in before.members}
    for member in after.members:
        if member.name in known:
            continue
        slot = f"{after.name}::{member.name}"
        appended = member.index >= len(before.members)
        # A plain struct has no version that would tell who knows of a new member.
        breaks = not appended or not (before.is_table or before.version_field)
        text = f"added at index {member.index}, since {member.since}" if appended else "inserted among older members"
        changes.append(Change(text, slot, breaks, member.file, member.line))
    return changes


def _signature(member: Member) -> str:
    if member.function is None:
        return f"{member.type} {[f'{m.type} {m.name}' for m in member.members] or ''}".strip()
    return f"{member.function.returns} (*)({', '.join(param.type for param in member.function.params) or 'void'})"


def _values(before: Enum, after: Enum | None, version: int) -> list[Change]:
    if after is None:
        return [Change(f"vanished; version {version} has this enumeration", before.name, True, *before.place)]
    values = dict(after.members)
    changes = []
    for name, value in before.members:
        if values.get(name) != value:
            text = f"was {value} in version {version} and is now {values.get(name, 'gone')}"
            changes.append(Change(text, f"{before.name}::{name}", True, *after.places.get(name, after.place)))
    known = dict(before.members)
    changes += [
        Change(f"added with value {value}", f"{before.name}::{name}", False, *after.places[name])
        for name, value in after.members
        if name not in known
    ]
    return changes
