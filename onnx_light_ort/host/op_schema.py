"""Operators' schemas as plugins ask for them."""

from __future__ import annotations

from functools import cache

Description = tuple[int, list[tuple[str, str]], list[tuple[str, str]], list[tuple[str, list[str]]]]
"""The version; name and type of each formal input, then output; name and allowed types of each type parameter."""


@cache
def describe_operator(name: str, newest: int, domain: str) -> Description | None:
    """The newest version of an operator of the package onnx that is not above `newest`; None where there is none."""
    from onnx import defs

    try:
        schema = defs.get_schema(name, newest, domain)
    except defs.SchemaError:
        return None
    return (
        schema.since_version,
        [(formal.name, formal.type_str) for formal in schema.inputs],
        [(formal.name, formal.type_str) for formal in schema.outputs],
        [(item.type_param_str, list(item.allowed_type_strs)) for item in schema.type_constraints],
    )
