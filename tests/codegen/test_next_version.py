"""Appending slots works with no hand edit: they build, they answer as stubs, and the matrix shows them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen.generators import Tables
from codegen.model import Abi
from codegen.pin import load_pin, pin

ROOT = Path(__file__).resolve().parents[2]
SMALL_ABI = Path(__file__).parent / "small_abi"

Compile = Callable[..., "subprocess.CompletedProcess[str]"]

# Only what bootstrap.cpp and error.cpp give a body to, so that the tables link without the rest of the host.
SUPPORT = """
accepted_api_versions = [29, 30]
platforms = ["Linux x86-64"]

[profiles.core]
title = "Core"

[slots.OrtApiBase]
GetApi = { state = "table", profile = "core" }
GetVersionString = { state = "implemented", profile = "core" }

[slots.OrtApi]
CreateStatus = { state = "implemented", profile = "core" }
GetErrorCode = { state = "implemented", profile = "core" }
GetErrorMessage = { state = "implemented", profile = "core" }
ReleaseStatus = { state = "implemented", profile = "core" }
GetBuildInfoString = { state = "implemented", profile = "core" }
GetEpApi = { state = "table", profile = "core" }
"""

APPENDED = """
  /** \\since Version 1.30. */
  ORT_API2_STATUS(AppendedStatus, _In_ const OrtValue* value, _Out_ size_t* out);
  ORT_CLASS_RELEASE(Appended);
  /** \\since Version 1.30. */
  ORT_API_T(uint32_t, AppendedNumber, _In_ const OrtValue* value);
};
"""

MACROS = """
#define ORT_API2_STATUS(NAME, ...) OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION
#define ORT_API_T(RETURN_TYPE, NAME, ...) RETURN_TYPE(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION
#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL * Release##X)(_Frees_ptr_opt_ Ort##X * input)
struct OrtAppended;
typedef struct OrtAppended OrtAppended;
"""

CALLER = """
#include <cstdio>
#include "tables.h"
using namespace onnx_light_ort::abi;
int main(int argc, char**) {
  const OrtApi* api = api_base<Plain>()->GetApi(30);
  if (argc > 1) return static_cast<int>(api->AppendedNumber(nullptr));
  OrtStatus* status = api->AppendedStatus(nullptr, nullptr);
  std::printf("%d %s\\n", static_cast<int>(api->GetErrorCode(status)), api->GetErrorMessage(status));
  api->ReleaseStatus(status);
  api->ReleaseAppended(nullptr);
  std::printf("%s %zu\\n", api_base<Plain>()->GetVersionString(), sizeof(OrtApi) / sizeof(void*));
  return 0;
}
"""


@pytest.fixture(scope="module")
def next_root(
    newest_pin: Path,
    tmp_path_factory: pytest.TempPathFactory,
    render_to: Callable[[Abi, Path, Tables], None],
) -> Path:
    """Everything generated from the pinned ABI with three slots appended in a synthetic version 30."""
    root = tmp_path_factory.mktemp("next")
    headers = root / "headers"
    shutil.copytree(newest_pin, headers / "v29")
    include = Path(shutil.copytree(newest_pin, root / "include"))
    text = (include / "onnxruntime_c_api.h").read_text()
    text = text.replace("ORT_API_VERSION 29", "ORT_API_VERSION 30" + MACROS)
    begin = text.index("struct OrtApi {")
    end = text.index("};\n", begin)
    (include / "onnxruntime_c_api.h").write_text(text[:end] + APPENDED + text[end + 3 :])
    pin(include, 30, headers, "synthetic")
    (root / "support.toml").write_text(SUPPORT)
    tables = Tables(root / "support.toml", SMALL_ABI / "nullability.toml", SMALL_ABI / "ownership.toml")
    render_to(load_pin(headers / "v30"), root, tables)
    return root


@pytest.fixture(scope="module")
def caller(next_root: Path, host_core: list[Path], compile_native: Compile) -> Path:
    source = next_root / "caller.cpp"
    source.write_text(CALLER)
    tables = sorted((next_root / "generated" / "native").glob("*.cpp"))
    compile_native([*host_core, *tables, source], next_root / "caller", next_root)
    return next_root / "caller"


def test_appended_slots_answer_as_stubs(caller: Path) -> None:
    output = subprocess.run([str(caller)], capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == [
        "9 OrtApi::AppendedStatus is not implemented: no profile of this host uses it",
        "1.30.0 428",
    ]
    failed = subprocess.run([str(caller), "number"], capture_output=True, text=True)
    assert failed.returncode == -signal.SIGABRT
    assert "OrtApi::AppendedNumber: no profile of this host uses it" in failed.stderr


def test_appended_slots_are_not_implemented_rows_of_the_matrix(next_root: Path) -> None:
    matrix = json.loads((next_root / "generated" / "support_matrix.json").read_text())
    rows = [row for row in matrix["slots"] if row["table"] == "OrtApi"][425:]
    assert [(row["slot"], row["since"], row["state"]) for row in rows] == [
        ("AppendedStatus", 30, "not implemented"),
        ("ReleaseAppended", 30, "not implemented"),
        ("AppendedNumber", 30, "not implemented"),
    ]
    page = (next_root / "docs" / "support_matrix.md").read_text()
    assert "| 425 | AppendedStatus | 30 | not implemented |" in page


def test_appended_slots_are_in_the_model(next_root: Path) -> None:
    model = json.loads((next_root / "generated" / "abi.json").read_text())
    assert model["api_version"] == 30
    status, release, number = model["tables"]["OrtApi"][425:]
    assert (status["name"], status["status"], status["returns"]) == ("AppendedStatus", True, "OrtStatusPtr")
    assert release["params"] == [{"name": "input", "type": "OrtAppended*", "annotation": "_Frees_ptr_opt_"}]
    assert (number["status"], number["returns"], number["index"]) == (False, "uint32_t", 427)
