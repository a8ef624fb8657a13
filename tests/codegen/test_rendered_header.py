"""The C header that plugins compile against."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from codegen.model import Abi
from codegen.pin import load_pin

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "generated" / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow"]


def _compile(source: Path, language: str, include: Path = INCLUDE) -> subprocess.CompletedProcess[str]:
    compiler = "gcc" if language.startswith("c1") else "g++"
    command = [compiler, f"-std={language}", *WARNINGS, f"-I{include}", "-c", str(source), "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(("language", "suffix"), [("c11", "c"), ("c17", "c"), ("c++17", "cpp"), ("c++20", "cpp")])
@pytest.mark.parametrize(
    "header",
    ["onnx_light_ort/ort_abi.h", "onnxruntime_c_api.h", "onnxruntime_ep_c_api.h", "onnxruntime_error_code.h"],
)
def test_header_compiles_without_warnings(tmp_path: Path, language: str, suffix: str, header: str) -> None:
    source = tmp_path / f"source.{suffix}"
    source.write_text(f'#include "{header}"\nOrtErrorCode code = ORT_OK;\n')
    result = _compile(source, language)
    assert (result.returncode, result.stderr) == (0, "")


def test_parsing_the_rendered_header_gives_the_same_model(abi: Abi, tmp_path: Path) -> None:
    shutil.copy(INCLUDE / "onnx_light_ort" / "ort_abi.h", tmp_path / "onnxruntime_c_api.h")
    assert load_pin(tmp_path) == abi


def test_every_member_of_every_struct_has_its_offset_asserted(abi: Abi) -> None:
    text = (INCLUDE / "onnx_light_ort" / "ort_abi.h").read_text()
    for struct in abi.structs.values():
        for member in struct.members:
            assert text.count(f'"{struct.name}::{member.name} has moved"') == 1


@pytest.mark.parametrize("language", ["c11", "c++17"])
def test_moved_slot_does_not_compile(tmp_path: Path, language: str) -> None:
    text = (INCLUDE / "onnx_light_ort" / "ort_abi.h").read_text()
    begin = text.index("  OrtStatusPtr(ORT_API_CALL* CreateEnv)(")
    slot = text[begin : text.index("\n", begin) + 1]
    following = text.index("  OrtStatusPtr(ORT_API_CALL* EnableTelemetryEvents)(")
    moved = text[:begin] + text[begin + len(slot) : following] + slot + text[following:]
    (tmp_path / "moved.h").write_text(moved)
    source = tmp_path / ("source.c" if language == "c11" else "source.cpp")
    source.write_text('#include "moved.h"\n')
    result = _compile(source, language, tmp_path)
    assert result.returncode != 0
    assert "OrtApi::CreateEnv has moved" in result.stderr


def test_offsets_and_sizes_of_the_model_are_those_of_the_compiler(abi: Abi, tmp_path: Path) -> None:
    lines = []
    for struct in abi.structs.values():
        c_type = f"struct {struct.name}"
        lines.append(f'  printf("{struct.name} %zu\\n", sizeof({c_type}));')
        for member in struct.members:
            lines.append(f'  printf("{struct.name}.{member.name} %zu\\n", offsetof({c_type}, {member.name}));')
    source = tmp_path / "layout.c"
    body = "\n".join(lines)
    source.write_text(
        f'#include <stdio.h>\n#include "onnxruntime_c_api.h"\nint main(void) {{\n{body}\n  return 0;\n}}\n'
    )
    program = tmp_path / "layout"
    subprocess.run(["gcc", "-std=c11", f"-I{INCLUDE}", str(source), "-o", str(program)], check=True)
    output = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    measured = {name: int(value) for name, value in (line.split() for line in output.splitlines())}
    expected: dict[str, int | None] = {}
    for struct in abi.structs.values():
        expected[struct.name] = struct.size
        expected.update({f"{struct.name}.{member.name}": member.offset for member in struct.members})
    assert measured == expected


def test_plugin_sources_can_use_the_macros_of_the_headers(tmp_path: Path) -> None:
    source = tmp_path / "plugin.cpp"
    source.write_text(
        """
#include "onnxruntime_c_api.h"
struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) noexcept -> const char* { return "fixture"; };
    CreateEp = create;
  }
  static OrtStatus* ORT_API_CALL create(_In_ OrtEpFactory*, _In_reads_(n) const OrtHardwareDevice* const*,
                                        const OrtKeyValuePairs* const*, size_t, const OrtSessionOptions*,
                                        const OrtLogger*, _Outptr_ OrtEp** ep) noexcept {
    *ep = nullptr;
    return nullptr;
  }
};
extern "C" ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*,
                                                   OrtEpFactory**, size_t, size_t* count) {
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  if (api == nullptr) return nullptr;
  *count = 0;
  (void)ORT_FILE;
  return api->CreateStatus(ORT_NOT_IMPLEMENTED, "none");
}
CreateEpApiFactoriesFn check = CreateEpFactories;
Factory factory;
"""
    )
    result = _compile(source, "c++17")
    assert (result.returncode, result.stderr) == (0, "")


def test_unused_status_is_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "careless.c"
    source.write_text(
        '#include "onnxruntime_c_api.h"\nvoid f(const OrtApi* api, OrtEnv** env);\n'
        'void f(const OrtApi* api, OrtEnv** env) { api->CreateEnv(ORT_LOGGING_LEVEL_INFO, "", env); }\n'
    )
    result = _compile(source, "c11")
    assert "unused-result" in result.stderr


def test_abi_json_has_every_struct_of_function_pointers_in_its_shape(abi: Abi) -> None:
    model = json.loads((ROOT / "generated" / "abi.json").read_text())
    assert model["api_version"] == abi.api_version
    assert set(model["tables"]) == {struct.name for struct in abi.structs.values() if struct.is_table}
    assert {"OrtApiBase", "OrtAllocator", "OrtEp", "OrtKernelImpl", "OrtCustomOp"} <= set(model["tables"])
    for table, entries in model["tables"].items():
        for index, entry in enumerate(entries):
            assert entry["index"] == index, table
            if entry["kind"] == "field":
                assert {"name", "since", "type", "offset"} <= set(entry)
                continue
            assert {"name", "since", "returns", "params", "status", "ownership"} <= set(entry)
            for param in entry["params"]:
                assert set(param) == {"name", "type", "annotation"}
    create_env = model["tables"]["OrtApi"][3]
    assert create_env["params"][2] == {"name": "out", "type": "OrtEnv**", "annotation": "_Outptr_"}
    assert create_env["ownership"] == {"out": "caller, OrtApi::ReleaseEnv"}
    assert model["enums"]["OrtErrorCode"]["members"][2] == {"name": "ORT_INVALID_ARGUMENT", "value": 2}
