"""Offsets and sizes on the platforms that the host serves: 64-bit, with pointers, size_t and int64_t of eight bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codegen.errors import CodegenError
from codegen.model import Abi, Member, is_pointer

_SIZES = {
    "bool": 1, "char": 1, "unsigned char": 1, "int": 4, "unsigned": 4, "float": 4, "int32_t": 4, "uint32_t": 4,
    "int64_t": 8, "uint64_t": 8, "size_t": 8, "double": 8,
}  # fmt: skip


def lay_out(abi: Abi) -> None:
    """Computes the offset of every member and the size of every struct."""
    done: dict[str, tuple[int, int]] = {}
    for name in abi.order:
        struct = abi.structs.get(name)
        if struct:
            struct.size, alignment = _place(abi, struct.members, done, name)
            done[name] = (struct.size, alignment)


def _place(abi: Abi, members: Sequence[Member], done: dict[str, tuple[int, int]], struct: str) -> tuple[int, int]:
    offset = 0
    widest = 1
    for member in members:
        size, alignment = _extent(abi, member, done, struct)
        offset = (offset + alignment - 1) // alignment * alignment
        member.offset = offset
        offset += size
        widest = max(widest, alignment)
    return (offset + widest - 1) // widest * widest, widest


def _extent(abi: Abi, member: Member, done: dict[str, tuple[int, int]], struct: str) -> tuple[int, int]:
    """Size and alignment of a member."""
    if member.members:
        extents = [_extent(abi, alternative, done, struct) for alternative in member.members]
        for alternative in member.members:
            alternative.offset = 0
        alignment = max(alignment for _, alignment in extents)
        return (max(size for size, _ in extents) + alignment - 1) // alignment * alignment, alignment
    array = re.match(r"(.*)\[(\d+)\]$", member.type)
    base = (array[1] if array else member.type).removeprefix("const ").removeprefix("enum ").removeprefix("struct ")
    count = int(array[2]) if array else 1
    alias = abi.typedefs.get(base)
    if member.function or is_pointer(base) or (alias and (alias.function or is_pointer(alias.type))):
        return 8 * count, 8
    if base in abi.enums:
        return 4 * count, 4
    if base in _SIZES:
        return _SIZES[base] * count, _SIZES[base]
    if base in done:
        return done[base][0] * count, done[base][1]
    raise CodegenError(f"the size of type {base} is not known", member.file, member.line, f"{struct}::{member.name}")
