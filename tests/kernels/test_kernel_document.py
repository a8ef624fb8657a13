"""docs/kernels.md lists the kernels that the registry has. Run as a script, this file renders the list."""

from __future__ import annotations

import re
from pathlib import Path

from onnx import TensorProto, defs

from onnx_light_ort._native import engine

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "kernels.md"

# Sets of types that the table names in one word.
TYPE_SETS = {
    "floating point": "FLOAT DOUBLE FLOAT16 BFLOAT16",
    "signed integers": "INT8 INT16 INT32 INT64",
    "unsigned integers": "UINT8 UINT16 UINT32 UINT64",
    "complex": "COMPLEX64 COMPLEX128",
    "float8": "FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 FLOAT8E5M2FNUZ FLOAT8E8M0",
    "types below 8 bits": "UINT4 INT4 FLOAT4E2M1 UINT2 INT2",
}


def type_names(types: list[int]) -> str:
    rest = set(types)
    names = []
    for name, members in TYPE_SETS.items():
        numbers = {TensorProto.DataType.Value(member) for member in members.split()}
        if numbers <= rest:
            names.append(name)
            rest -= numbers
    return ", ".join(names + [TensorProto.DataType.Name(number).lower() for number in sorted(rest)])


def kernel_table() -> str:
    lines = ["| operator | versions | types |", "|---|---|---|"]
    for entry in sorted(engine.native_kernels(), key=lambda e: (e.op_type, e.since_version)):
        versions = sorted({s.since_version for s in schemas(entry.op_type)})
        held = [v for v in versions if entry.since_version <= v <= entry.end_version]
        types = "; ".join(f"{name}: {type_names(allowed)}" for name, allowed in entry.type_constraints.items())
        lines.append(f"| `{entry.op_type}` | {', '.join(map(str, held))} | {types} |")
    return "\n".join(lines)


def schemas(op_type: str) -> list[defs.OpSchema]:
    return [s for s in defs.get_all_schemas_with_history() if s.name == op_type and s.domain == ""]


def rendered(text: str) -> str:
    return re.sub(r"(?s)(<!-- kernels -->\n).*?(<!-- end -->)", rf"\g<1>{kernel_table()}\n\g<2>", text)


def test_the_document_lists_the_kernels_of_the_registry() -> None:
    text = DOCUMENT.read_text()
    assert text == rendered(text), "run python tests/kernels/test_kernel_document.py"


def test_entries_begin_and_end_at_versions_that_the_operator_has() -> None:
    for entry in engine.native_kernels():
        versions = {s.since_version for s in schemas(entry.op_type)}
        assert {entry.since_version, entry.end_version} <= versions, entry.op_type


def test_every_version_of_an_operator_from_opset_7_on_has_a_kernel() -> None:
    covered: dict[str, list[tuple[int, int]]] = {}
    for entry in engine.native_kernels():
        covered.setdefault(entry.op_type, []).append((entry.since_version, entry.end_version))
    for op_type, ranges in covered.items():
        versions = sorted({s.since_version for s in schemas(op_type) if not s.deprecated})
        at_opset_7 = max((v for v in versions if v <= 7), default=versions[0])
        for version in versions:
            if version >= at_opset_7:
                assert any(first <= version <= last for first, last in ranges), f"{op_type} {version}"


def test_constraints_go_by_names_of_the_schema_and_share_types_with_it() -> None:
    for entry in engine.native_kernels():
        for schema in schemas(entry.op_type):
            if not entry.since_version <= schema.since_version <= entry.end_version:
                continue
            allowed = {
                c.type_param_str: {
                    TensorProto.DataType.Value(t.removeprefix("tensor(").removesuffix(")").upper())
                    for t in c.allowed_type_strs
                    if t.startswith("tensor(")
                }
                for c in schema.type_constraints
            }
            where = f"{entry.op_type} {schema.since_version}"
            for name, types in entry.type_constraints.items():
                assert name not in allowed or allowed[name] & set(types), f"{where}: {name}"
            # A parameter that the kernel does not constrain must not vary in type.
            for name, types in allowed.items():
                assert name in entry.type_constraints or len(types) <= 2, f"{where}: {name} is not constrained"


if __name__ == "__main__":
    DOCUMENT.write_text(rendered(DOCUMENT.read_text()))
