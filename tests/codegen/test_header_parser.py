"""Headers into the model, on the small ABI and variations of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.header_parser import parse_headers
from codegen.layout import lay_out
from codegen.model import Param, declare

Edit = Callable[[str, str, str], Path]


def test_slots_keep_names_types_order_and_annotations(small_headers: Path) -> None:
    api = parse_headers(small_headers).structs["OrtApi"]
    assert [member.name for member in api.members[:5]] == [
        "CreateStatus",
        "GetErrorCode",
        "GetErrorMessage",
        "ReleaseStatus",
        "GetBuildInfoString",
    ]
    count = api.members[6]
    assert (count.name, count.index, count.status, count.slot.returns) == ("Count", 6, True, "OrtStatusPtr")
    assert count.slot.params == (
        Param("value", "const OrtValue*", "_In_"),
        Param("name", "const char*", "_In_opt_"),
        Param("sizes", "const int64_t*", "_In_reads_(size)"),
        Param("size", "size_t", ""),
        Param("out", "size_t*", "_Out_"),
    )
    assert api.members[3].slot.params == (Param("input", "OrtStatus*", "_Frees_ptr_opt_"),)


def test_host_tables_have_no_version_and_callback_structs_do(small_headers: Path) -> None:
    abi = parse_headers(small_headers)
    assert [table.name for table in abi.host_tables] == ["OrtApiBase", "OrtApi", "OrtEpApi"]
    assert [(struct.name, struct.version_field) for struct in abi.callback_structs] == [
        ("OrtEp", "ort_version_supported")
    ]


def test_opaque_types_are_those_without_members(small_headers: Path) -> None:
    assert parse_headers(small_headers).opaque == ["OrtStatus", "OrtValue", "OrtSession", "OrtTrainingApi"]


@pytest.mark.parametrize(
    ("declaration", "c_type"),
    [
        ("const char* const* names", "const char* const*"),
        ("int const* indices", "const int*"),
        ("const char* dims[]", "const char*[]"),
        ("void (*fn)(void*, size_t)", "void (*)(void*, size_t)"),
        ("const char** const denotation", "const char** const"),
        ("struct OrtValue* value", "OrtValue*"),
        ("enum OrtErrorCode code", "OrtErrorCode"),
        ("unsigned char flag", "unsigned char"),
    ],
)
def test_types_of_parameters(edit: Edit, declaration: str, c_type: str) -> None:
    folder = edit("onnxruntime_c_api.h", "Throw, int what", f"Throw, {declaration}")
    (param,) = parse_headers(folder).structs["OrtApi"].members[5].slot.params
    assert param.type == c_type


@pytest.mark.parametrize(
    ("c_type", "declaration"),
    [
        ("const char* const*", "const char* const* x"),
        ("const char*[]", "const char* x[]"),
        ("uint64_t[6]", "uint64_t x[6]"),
        ("void (*)(void*, size_t)", "void (*x)(void*, size_t)"),
    ],
)
def test_names_go_where_c_wants_them(c_type: str, declaration: str) -> None:
    assert declare(c_type, "x") == declaration


def test_enumerators_are_evaluated(edit: Edit) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "ORT_RUNTIME_CLASS(Status);",
        "ORT_RUNTIME_CLASS(Status);\nenum Flags { A = -2, B, C = B, D = 1 << 4, E = 1 << 31, F = 0x10 | 1 };\n"
        "typedef struct Uses { enum Flags flags; } Uses;",
    )
    abi = parse_headers(folder)
    assert abi.enums["Flags"].members == [("A", -2), ("B", -1), ("C", -1), ("D", 16), ("E", -(2**31)), ("F", 17)]
    assert not abi.enums["Flags"].typedef
    assert abi.structs["Uses"].members[0].type == "enum Flags"


def test_unions_and_inline_structs_are_laid_out(edit: Edit) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "ORT_RUNTIME_CLASS(Status);",
        "ORT_RUNTIME_CLASS(Status);\n"
        "typedef struct Sized { uint32_t kind; union { uint64_t bytes; uint64_t w[6]; } value; bool last; } Sized;\n"
        "typedef const struct Handle { char place; }* HandlePointer;",
    )
    abi = parse_headers(folder)
    lay_out(abi)
    sized = abi.structs["Sized"]
    assert [(member.name, member.offset) for member in sized.members] == [("kind", 0), ("value", 8), ("last", 56)]
    assert (sized.size, abi.structs["Handle"].size) == (64, 1)
    assert abi.typedefs["HandlePointer"].type == "const struct Handle*"


@pytest.mark.parametrize("value", ["OrtValue* * value value", "OrtValue value[", "const 3 value"])
def test_header_that_does_not_parse_is_refused_naming_file_line_and_slot(edit: Edit, value: str) -> None:
    folder = edit("onnxruntime_c_api.h", "Later, _In_ const OrtValue* value", f"Later, _In_ {value}")
    path = folder / "onnxruntime_c_api.h"
    line = path.read_text().split("Later,")[0].count("\n") + 1
    with pytest.raises(CodegenError) as refused:
        parse_headers(folder)
    error = refused.value
    assert (error.file, error.line, error.slot) == (str(path), line, "OrtApi::Later")
    assert "does not parse as C" in error.message


def test_what_is_no_declaration_is_refused_naming_file_and_line(edit: Edit) -> None:
    folder = edit("onnxruntime_c_api.h", "  ORT_API2_STATUS(Throw,", "  3 stray;\n  ORT_API2_STATUS(Throw,")
    path = folder / "onnxruntime_c_api.h"
    line = path.read_text().split("3 stray")[0].count("\n") + 1
    with pytest.raises(CodegenError) as refused:
        parse_headers(folder)
    assert (refused.value.file, refused.value.line) == (str(path), line)


def test_duplicate_slot_is_refused_naming_file_line_and_slot(edit: Edit) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "  ORT_API2_STATUS(Throw, int what);",
        "  ORT_API2_STATUS(Throw, int what);\n  ORT_API2_STATUS(Throw, int what);",
    )
    path = folder / "onnxruntime_c_api.h"
    line = path.read_text().split("(Throw,")[0].count("\n") + 1
    with pytest.raises(CodegenError) as refused:
        parse_headers(folder)
    assert str(refused.value) == (f"{path}:{line + 1}: OrtApi::Throw: duplicate slot, already declared at line {line}")


@pytest.mark.parametrize("kind", ["struct OrtApi { int a; };", "enum OrtErrorCode { Z };"])
def test_type_declared_twice_is_refused(edit: Edit, kind: str) -> None:
    folder = edit("onnxruntime_ep_c_api.h", "ORT_RUNTIME_CLASS(Ep);", f"ORT_RUNTIME_CLASS(Ep);\n{kind}")
    with pytest.raises(CodegenError, match=r"onnxruntime_ep_c_api\.h:\d+: Ort\w+: declared twice"):
        parse_headers(folder)


def test_member_of_unknown_size_is_refused(edit: Edit) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "ORT_RUNTIME_CLASS(Status);",
        "ORT_RUNTIME_CLASS(Status);\ntypedef struct Odd { long long wide; } Odd;",
    )
    abi = parse_headers(folder)
    with pytest.raises(CodegenError, match="Odd::wide: the size of type long long is not known"):
        lay_out(abi)


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("typedef struct Odd { int a[sizeof(int)]; } Odd;", "the length of an array is not a plain number"),
        ("typedef struct Odd { int a[-1]; } Odd;", "the length of an array is not a plain number"),
        ("int body(void) { return 0; }", "the body of a function is not expected"),
        ("typedef struct Odd { int a:3; } Odd;", "Odd::.*is a bit-field"),
        ("typedef struct Odd { union { int a; int b; }; } Odd;", "a member without a name"),
        ("typedef struct Odd { struct { int a; } b; } Odd;", "a type of kind Struct is not understood"),
        ("typedef struct { int a; } Odd;", "a struct without a name"),
        ("typedef enum { ODD } Odd;", "an enumeration without a name"),
        ("enum Odd { ODD = 1 << 100000000000 };", "a shift by 100000000000 is not understood"),
        ("enum Odd { ODD = 1 << -1 };", "a shift by -1 is not understood"),
        ("enum Odd { ODD = 1 << 40 };", "Odd::ODD: 1099511627776 is no 32-bit value"),
        ("enum Odd { ODD = 1 << 63 << 63 };", "the value of an enumerator is not understood"),
        ("enum Odd { ODD = 'a' };", "the value of an enumerator is not understood"),
        ("enum Odd { ODD = 017 };", "the value of an enumerator is not understood"),
        ("void odd(void (*f)(int, ...));", "a parameter without a type, or a variable number"),
        ("#define ORT_API_VERSION FOO", "ORT_API_VERSION is no version number: 'FOO'"),
        ("#define ORT_API_VERSION", "ORT_API_VERSION is no version number: ''"),
        ("#define ORT_API_VERSION 0", "ORT_API_VERSION is no version number: '0'"),
        ("/* \udcff */", "is not UTF-8 at byte"),
    ],
)
def test_declaration_that_is_not_understood_is_refused_naming_file_and_line(
    small_headers: Path, declaration: str, message: str
) -> None:
    path = small_headers / "onnxruntime_ep_c_api.h"
    text = path.read_text()
    path.write_bytes(f"{text}{declaration}\n".encode(errors="surrogateescape"))
    line = text.count("\n") + 1
    with pytest.raises(CodegenError, match=rf"^{path}:{line}: .*{message}"):
        parse_headers(small_headers)


@pytest.mark.parametrize(
    "macros",
    [
        "#define ORT_API(X) ORT_API(X)\n",
        "#define ORT_API(X) ORT_API_STATUS(X)\n#define ORT_API_STATUS(X) ORT_API(X)\n",
        "#define ORT_API(X) ORT_##X(X)\n#define API ORT_API\n",
    ],
)
def test_macro_that_expands_to_itself_is_refused_naming_file_and_line(small_headers: Path, macros: str) -> None:
    path = small_headers / "onnxruntime_ep_c_api.h"
    text = path.read_text() + "#undef ORT_API\n#undef ORT_API_STATUS\n" + macros
    path.write_text(text + "ORT_API(API);\n".replace("(API)", "(API)" if "##" in macros else "(x)"))
    line = text.count("\n") + 1
    with pytest.raises(CodegenError, match=rf"^{path}:{line}: macro ORT_API expands to itself"):
        parse_headers(small_headers)
