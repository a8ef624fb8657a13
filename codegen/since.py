"""Gives each member of a table the version that introduced it."""

from __future__ import annotations

from pathlib import Path

from codegen.model import Abi, Member, Struct
from codegen.toml_file import read_toml

SINCE_TABLE = Path(__file__).parent / "since.toml"


def complete_since(abi: Abi, previous: Abi | None, table: Path = SINCE_TABLE) -> list[str]:
    """Fills in `since`; returns a sentence for each comment that `since.toml` contradicts.

    In this order: `since.toml`, the header's comment, the previous pin; a member that the previous pin does not have
    gets the version being pinned, which is never too early. Without a previous pin, a member is as old as its
    struct or its predecessor, whichever is younger; the first, of a struct of unknown age, as the next member.
    """
    contradicted = []
    last_slots: dict[str, dict[str, int]] = read_toml(table)["last_slot"]
    for struct in abi.structs.values():
        if not (struct.is_table or struct.version_field):
            continue
        known = sorted((int(version), last) for version, last in last_slots.get(struct.name, {}).items())
        before = previous.structs.get(struct.name) if previous else None
        youngest = struct.since or next((m.since for m in struct.members if m.since), 1)
        for member in struct.members:
            stated = next((version for version, last in known if member.index <= last), None)
            if stated and member.since not in (None, stated):
                contradicted.append(
                    f"{member.file}:{member.line}: {struct.name}::{member.name}: "
                    f"its comment says version {member.since}, codegen/since.toml says {stated} and holds"
                )
            member.since = stated or member.since or _inherited(member, struct, before, youngest, abi.api_version)
            youngest = max(youngest, member.since)
    return contradicted


def _inherited(member: Member, struct: Struct, before: Struct | None, youngest: int, api_version: int) -> int:
    if before is None:
        return youngest
    if member.index < len(before.members):
        return before.members[member.index].since or youngest
    return api_version
