"""Who owns what a slot gives out. The rule derives it; `ownership.toml` holds what the rule gets wrong."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.errors import CodegenError
from codegen.model import Abi, Member, Param, Struct, is_pointer
from codegen.toml_file import read_toml

OWNERSHIP_TABLE = Path(__file__).parent / "ownership.toml"

RETURN = "return"


def complete_ownership(abi: Abi, table: Path = OWNERSHIP_TABLE) -> None:
    """Fills in `ownership` of every slot: for each pointer given out, by `return` or parameter name,

    - `borrowed`: stays with its owner;
    - `caller, <Table>::<Slot>`: the caller's, which gives it back through that slot;
    - `caller, allocator <parameter>`: the caller's, which frees it with the allocator that it passed;
    - another sentence of `ownership.toml` where none of these fits.
    """
    exceptions: dict[str, dict[str, dict[str, str]]] = read_toml(table)
    releases = _releases(abi)
    for struct, member in abi.slots():
        member.ownership = _derived(struct, member, releases, abi)
        if RETURN in member.ownership and _is_status(member.slot.returns):
            # A status that reports failure is always the caller's; that is not worth a line for each slot.
            del member.ownership[RETURN]
    for struct_name, slots in exceptions.items():
        for slot, lines in slots.items():
            found = [m for s, m in abi.slots() if s.name == struct_name and m.name == slot]
            place = f"{struct_name}::{slot}"
            if not found:
                raise CodegenError("there is no such slot", str(table), slot=place)
            names = {param.name for param in found[0].slot.params} | {RETURN}
            for name, owner in lines.items():
                if name not in names:
                    raise CodegenError(f"it has no parameter '{name}'", str(table), slot=place)
                found[0].ownership[name] = owner
                if name == RETURN and _is_status(found[0].slot.returns):
                    # What it returns is its result and says nothing about success.
                    found[0].status = False


def _is_status(c_type: str) -> bool:
    return c_type in ("OrtStatusPtr", "OrtStatus*")


def _releases(abi: Abi) -> dict[str, str]:
    """Type to the host slot that releases it."""
    found: dict[str, str] = {}
    for struct in abi.host_tables:
        for member in struct.slots:
            if member.name.startswith("Release") and len(member.slot.params) == 1 and member.slot.returns == "void":
                found.setdefault(member.slot.params[0].type.removesuffix("*"), f"{struct.name}::{member.name}")
    return found


def _derived(struct: Struct, member: Member, releases: dict[str, str], abi: Abi) -> dict[str, str]:
    function = member.slot
    owners: dict[str, str] = {}
    if is_pointer(function.returns):
        owners[RETURN] = "borrowed"
    allocator = next((param.name for param in function.params if param.type == "OrtAllocator*"), "")
    for param in function.params:
        if not _gives_out(param):
            continue
        given = re.sub(r"\* const$|\*$|\[\]$", "", param.type)
        if given.startswith("const ") or given.endswith("const*"):
            owners[param.name] = "borrowed"
        elif (base := given.removesuffix("*")) in releases:
            owners[param.name] = f"caller, {releases[base]}"
        elif allocator and base.removesuffix("*") in ("char", "void"):
            owners[param.name] = f"caller, allocator {allocator}"
        else:
            owners[param.name] = "borrowed"
    return owners


def _gives_out(param: Param) -> bool:
    """Whether a pointer leaves through this parameter."""
    if not re.match(r"_Out|_Inout", param.annotation):
        return False
    return is_pointer(re.sub(r"\* const$|\*$|\[\]$", "", param.type))
