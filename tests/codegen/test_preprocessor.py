"""Directives, macros and marks, on snippets."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.header_parser import parse_headers
from codegen.preprocessor import Preprocessed, Preprocessor

Edit = Callable[[str, str, str], Path]


@pytest.fixture
def preprocess(tmp_path: Path) -> Callable[[str], Preprocessed]:
    def run(text: str) -> Preprocessed:
        (tmp_path / "snippet.h").write_text(text)
        return Preprocessor(tmp_path).run("snippet.h")

    return run


def code(result: Preprocessed) -> str:
    """The C text on one line, without line markers."""
    return " ".join(re.sub(r"#line .*", "", result.text).split())


def test_conditionals_are_those_of_a_c_compiler_on_linux(preprocess: Callable[[str], Preprocessed]) -> None:
    result = preprocess(
        "#ifdef __cplusplus\nint cxx;\n#if __cplusplus > 3\nint nested;\n#endif\n#else\nint c;\n#endif\n"
        "#if defined(ORT_MINIMAL_BUILD)\nint minimal;\n#else\nint full;\n#endif\n"
        "#ifndef X\n#define X\nint once;\n#endif\n#ifndef X\nint twice;\n#endif\n"
        "#if !defined(_WIN32)\nint linux_;\n#endif\n"
    )
    assert code(result) == "int c ; int full ; int once ; int linux_ ;"


def test_annotations_become_marks_and_the_rest_stays(preprocess: Callable[[str], Preprocessed]) -> None:
    result = preprocess("void f(_In_reads_(n) const int* p, _In_ size_t n, _Out_opt_ int*);")
    assert result.marks == ["_In_reads_(n)", "_In_", "_Out_opt_"]
    assert code(result) == (
        "void f ( _Alignas ( 0 ) const int * p , _Alignas ( 1 ) size_t n , _Alignas ( 2 ) int * unnamed ) ;"
    )


def test_function_macros_expand_with_the_headers_own_definition(preprocess: Callable[[str], Preprocessed]) -> None:
    result = preprocess(
        "#define ORT_API2_STATUS(NAME, ...) _Check_return_ OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION\n"
        "#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL * Release##X)(_Frees_ptr_opt_ Ort##X * input)\n"
        "ORT_API2_STATUS(Get, int a, void (*f)(int, int));\nORT_CLASS_RELEASE(Env);\n"
    )
    assert code(result) == (
        "OrtStatusPtr ( * Get ) ( int a , void ( * f ) ( int , int ) ) ; "
        "void ( * ReleaseEnv ) ( _Alignas ( 0 ) OrtEnv * input ) ;"
    )


def test_since_comments_mark_members_and_name_types(preprocess: Callable[[str], Preprocessed]) -> None:
    result = preprocess(
        "/** \\since Version 1.22. */\nstruct S {\n/// \\since 1.24\nint a;\n/* since 25 */ int b;\n"
        "/// Nothing since then: \\see other\nint c;\n};\n"
        "/** \\since Version 1.23. */\ntypedef int* (ORT_API_CALL* Function)(int);\n"
    )
    assert result.since_of_type == {"S": 22, "Function": 23}
    assert result.marks == ["since 24", "since 25"]


def test_unknown_macro_is_refused_naming_file_line_and_slot(edit: Edit) -> None:
    folder = edit("onnxruntime_c_api.h", "Later, _In_ const", "Later, _In_range_(0, 3) const")
    line = (folder / "onnxruntime_c_api.h").read_text().split("Later, _In_range_")[0].count("\n") + 1
    with pytest.raises(CodegenError) as refused:
        parse_headers(folder)
    assert str(refused.value) == (
        f"{folder / 'onnxruntime_c_api.h'}:{line}: OrtApi::Later: "
        "unknown macro _In_range_; teach codegen/preprocessor.py what it means"
    )


def test_unknown_macro_that_the_header_defines_is_refused(edit: Edit) -> None:
    folder = edit(
        "onnxruntime_c_api.h",
        "  ORT_API2_STATUS(Throw, int what);",
        "#define ORT_API3_STATUS(NAME, ...) OrtStatusPtr (*NAME)(__VA_ARGS__)\n  ORT_API3_STATUS(Throw, int what);",
    )
    with pytest.raises(CodegenError, match=r"onnxruntime_c_api\.h:\d+: OrtApi::Throw: unknown macro ORT_API3_STATUS"):
        parse_headers(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#if SIZE > 3\n#endif\n", r"snippet\.h:1: '#if SIZE > 3' is not \[!\]defined"),
        ("#ifdef A\n", r"snippet\.h: a conditional is not closed"),
        ("\n#endif\n", r"snippet\.h:2: #endif without #if"),
        ("#warning no\n", r"snippet\.h:1: directive '#warning' is not known"),
        ("ORT_API2_STATUS(A);", r"snippet\.h:1: .*unknown macro ORT_API2_STATUS"),
        ("#define ORT_API_T(R, N, ...) R (*N)(__VA_ARGS__)\nORT_API_T(int, A\n", r"snippet\.h:2: .*is not closed"),
    ],
)
def test_what_is_not_understood_is_refused(preprocess: Callable[[str], Preprocessed], text: str, message: str) -> None:
    with pytest.raises(CodegenError, match=message):
        preprocess(text)


def test_missing_included_header_is_refused(small_headers: Path) -> None:
    (small_headers / "onnxruntime_error_code.h").unlink()
    with pytest.raises(CodegenError, match=r"onnxruntime_error_code\.h: no such header"):
        parse_headers(small_headers)
