"""Writes ``operator_schemas.inc``: the names of inputs, outputs and attributes of ONNX's operators, as package onnx has
them. Run it when the pinned version of package onnx changes::

    python reverse_plugin/tables/operator_schemas.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from onnx import defs

TABLE = Path(__file__).with_suffix(".inc")

_KINDS = {
    defs.OpSchema.AttrType.INT: "i",
    defs.OpSchema.AttrType.FLOAT: "f",
    defs.OpSchema.AttrType.STRING: "s",
    defs.OpSchema.AttrType.INTS: "I",
    defs.OpSchema.AttrType.FLOATS: "F",
    defs.OpSchema.AttrType.STRINGS: "S",
    defs.OpSchema.AttrType.TENSOR: "t",
}
_MARKS = {
    defs.OpSchema.FormalParameterOption.Single: "",
    defs.OpSchema.FormalParameterOption.Optional: "?",
    defs.OpSchema.FormalParameterOption.Variadic: "*",
}


def _parameters(schema: defs.OpSchema, formals: Sequence[defs.OpSchema.FormalParameter]) -> str:
    names = {constraint.type_param_str for constraint in schema.type_constraints}
    return " ".join(
        f"{formal.name}:{formal.type_str if formal.type_str in names else ''}{_MARKS[formal.option]}"
        for formal in formals
    )


def rows() -> Iterator[str]:
    """One line of the table for each version of each operator without subgraphs."""
    schemas = [schema for schema in defs.get_all_schemas_with_history() if schema.domain in ("", "ai.onnx.ml")]
    for schema in sorted(schemas, key=lambda one: (one.domain, one.name, one.since_version)):
        attributes = sorted(schema.attributes.values(), key=lambda one: one.name)
        if schema.deprecated or any(one.type == defs.OpSchema.AttrType.GRAPH for one in attributes):
            continue
        fields = [
            _parameters(schema, schema.inputs),
            _parameters(schema, schema.outputs),
            " ".join(f"{one.name}:{_KINDS[one.type]}" for one in attributes if one.type in _KINDS),
        ]
        texts = ", ".join(f'"{field}"' for field in fields)
        yield f'{{"{schema.domain}", "{schema.name}", {schema.since_version}, {texts}}},'


if __name__ == "__main__":
    TABLE.write_text("// Written by operator_schemas.py from package onnx.\n" + "\n".join(rows()) + "\n")
