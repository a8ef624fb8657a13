"""The support matrix says what the host does, and the tables do what the matrix says."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codegen.errors import CodegenError
from codegen.model import Abi
from codegen.support import SupportTable

ROOT = Path(__file__).resolve().parents[2]

Compile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def matrix() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / "generated" / "support_matrix.json").read_text())
    return content


def _rows(matrix: dict[str, Any], kind: str = "slots") -> dict[str, dict[str, Any]]:
    return {f"{row['table']}::{row['slot']}": row for row in matrix[kind]}


def test_every_slot_and_callback_is_a_row(abi: Abi, matrix: dict[str, Any]) -> None:
    for kind, structs in (("slots", abi.host_tables), ("callbacks", abi.callback_structs)):
        expected = [f"{struct.name}::{member.name}" for struct in structs for member in struct.slots]
        assert list(_rows(matrix, kind)) == expected


def test_what_is_not_served_has_a_reason(matrix: dict[str, Any]) -> None:
    for row in [*matrix["slots"], *matrix["callbacks"]]:
        if row["state"] in ("deferred", "rejected", "not implemented"):
            assert row["reason"], row
    for profile in matrix["profiles"]:
        if profile["state"] == "rejected":
            assert profile["reason"], profile


@pytest.mark.parametrize(
    "profile",
    [
        "core",
        "custom_ops",
        "strings",
        "kernel_eps",
        "compiling_eps",
        "devices",
        "streams",
        "shared_prepacking",
        "structured_values",
        "ep_context",
        "execution_helpers",
        "model_editor",
        "profiling",
        "graph_capture",
        "external_resources",
        "weightless",
        "layouts_and_options",
        "ep_custom_op_domains",
    ],
)
def test_profile_has_a_record(matrix: dict[str, Any], profile: str) -> None:
    (record,) = [entry for entry in matrix["profiles"] if entry["id"] == profile]
    assert record["state"] in ("implemented", "partial", "deferred", "rejected")
    assert record["api_versions"]
    assert record["platforms"] == ["Linux x86-64, System V calling convention"]
    rows = {**_rows(matrix), **_rows(matrix, "callbacks")}
    for name in [*record["host_slots"], *record["plugin_callbacks"]]:
        assert rows[name]["profile"] == profile


@pytest.mark.parametrize(
    "slot",
    [
        "OrtApi::CreateOp",
        "OrtApi::InvokeOp",
        "OrtApi::CreateSession",
        "OrtApi::CreateSessionFromArray",
        "OrtApi::Run",
        "OrtEpApi::CreateIfKernel",
        "OrtEpApi::CreateLoopKernel",
        "OrtEpApi::CreateScanKernel",
    ],
)
def test_execution_helper_is_rejected_with_its_reason(matrix: dict[str, Any], slot: str) -> None:
    row = _rows(matrix)[slot]
    assert (row["state"], row["profile"]) == ("rejected", "execution_helpers")
    assert "does not run ORT operators" in row["reason"]


CALLER = """
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <string>
#include "error.h"
#include "tables.h"
using namespace onnx_light_ort::abi;

void print_status(const char* slot, OrtStatus* status) {
  std::printf("%s|%d|%s\\n", slot, static_cast<int>(status->code), status->message.c_str());
  release_status(status);
}

// The call is made in a child, whose message on stderr is what comes back.
template <class Call>
void print_end(const char* slot, Call call) {
  int ends[2];
  if (pipe(ends) != 0) return;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    call();
    _exit(0);
  }
  close(ends[1]);
  std::string message;
  char buffer[256];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) message.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  std::printf("%s|%d|%s", slot, WIFSIGNALED(ended) ? -WTERMSIG(ended) : WEXITSTATUS(ended), message.c_str());
  if (message.empty()) std::printf("\\n");
}

int main() {
CALLS
}
"""


def test_every_slot_that_is_not_served_refuses_with_its_name_and_reason(
    abi: Abi, matrix: dict[str, Any], compile_native: Compile, tmp_path: Path
) -> None:
    """The stubs of all committed tables, called one by one. Bodies are left unlinked, as none is called."""
    rows = _rows(matrix)
    calls = []
    expected = {}
    for struct in abi.host_tables:
        for member in struct.slots:
            slot = f"{struct.name}::{member.name}"
            row = rows[slot]
            if row["state"] not in ("deferred", "rejected", "not implemented"):
                continue
            arguments = ", ".join("{}" for _ in member.slot.params)
            call = f"table<{struct.name}, Plain>()->{member.name}({arguments})"
            if member.status:
                calls.append(f'  print_status("{slot}", {call});')
                expected[slot] = ["9", f"{slot} is not implemented: {row['reason']}"]
            else:
                calls.append(f'  print_end("{slot}", [] {{ {call}; }});')
                end = "the slot cannot report an error, so the process ends"
                released = member.name.startswith("Release")
                expected[slot] = ["0", ""] if released else ["-6", f"onnx-light-ort: {slot}: {row['reason']}; {end}"]
    source = tmp_path / "caller.cpp"
    source.write_text(CALLER.replace("CALLS", "\n".join(calls)))
    core = ROOT / "onnx_light_ort" / "_native" / "abi"
    tables = sorted((ROOT / "generated" / "native").glob("*_table.cpp"))
    sources = [source, core / "error.cpp", core / "fail_fast.cpp", core / "bootstrap.cpp", *tables]
    flags = ["-no-pie", "-Wno-unused-result", "-Wl,--unresolved-symbols=ignore-all"]
    compile_native(sources, tmp_path / "caller", ROOT, flags)
    output = subprocess.run([str(tmp_path / "caller")], capture_output=True, text=True, check=True).stdout
    answers = {slot: rest for slot, *rest in (line.split("|") for line in output.splitlines())}
    assert answers == expected
    assert {"OrtApi::CreateOp", "OrtApi::InvokeOp", "OrtApi::Run", "OrtEpApi::CreateIfKernel"} <= set(answers)


def test_nested_tables_are_answered_in_full_and_optional_interfaces_with_null(matrix: dict[str, Any]) -> None:
    rows = _rows(matrix)
    states = {name: rows[f"OrtApi::{name}"]["state"] for name in ("GetEpApi", "GetModelEditorApi", "GetCompileApi")}
    assert set(states.values()) == {"table"}
    assert rows["OrtApi::GetInteropApi"]["state"] == "table"
    assert rows["OrtApi::GetTrainingApi"]["state"] == "null"
    assert rows["OrtApi::GetExperimentalFunction"]["state"] == "null"


def test_declared_bodies_are_those_that_are_listed(matrix: dict[str, Any]) -> None:
    declared = []
    table = ""
    for line in (ROOT / "generated" / "native" / "slots.h").read_text().splitlines():
        if match := re.match(r"struct (\w+)Slots \{", line):
            table = match[1]
        elif match := re.match(r"  static .*?(\w+)\(", line):
            declared.append(f"{table}::{match[1]}")
    assert declared == [name for name, row in _rows(matrix).items() if row["state"] == "implemented"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('[slots.OrtApi]\nNoSuchSlot = { state = "deferred", profile = "p" }', "OrtApi::NoSuchSlot: there is no such"),
        ('[slots.OrtEp]\nGetName = { state = "deferred", profile = "p" }', "OrtEp::GetName: there is no such"),
        ('[slots.OrtApi]\nRun = { state = "faked", profile = "p" }', "OrtApi::Run: state must be one of implemented"),
        ('[slots.OrtApi]\nRun = { state = "deferred", profile = "q" }', "OrtApi::Run: profile 'q' is not declared"),
        ('[slots.OrtApi]\nRun = { state = "null", profile = "p" }', "OrtApi::Run: state 'null' is for slots"),
        ('[slots.OrtApi]\nRun = { state = "table", profile = "p" }', "OrtApi::Run: state 'table' is for slots"),
        ('[callbacks.OrtEp]\nSync = { state = "implemented", profile = "p" }', "state must be one of called"),
        ('[profiles.r]\ntitle = "R"\nrequires = ["s"]', "profile r requires 's', which is none"),
        ('[profiles.r]\ntitle = "R"\nrequires = ["r"]', "profile r requires itself, by way of r"),
        ("[slots.OrtApi", "support.toml: does not parse as TOML"),
        ('[profiles.r]\nreason = "R"', "support.toml: profile r: title must be a string"),
        ("[profiles.r]\ntitle = 3", "support.toml: profile r: title must be a string"),
        ('[profiles.r]\ntitle = "R"\nstate = "done"', "profile r: state must be one of implemented"),
        ('[profiles.r]\ntitle = "R"\nrequires = "p"', "profile r: requires is missing or does not consist of strings"),
        ('[profiles.r]\ntitle = "R"\napi_versions = ["29"]', "profile r: api_versions is missing or does not"),
        ('[slots]\nOrtApi = "all"', "slots is missing or does not consist of tables"),
        ('[slots.OrtApi]\nRun = "deferred"', "OrtApi::Run: must be a table of strings"),
        ('[slots.OrtApi]\nRun = { state = 3, profile = "p" }', "OrtApi::Run: must be a table of strings"),
    ],
)
def test_line_that_says_nothing_true_is_refused(abi: Abi, tmp_path: Path, line: str, message: str) -> None:
    table = tmp_path / "support.toml"
    table.write_text(f'accepted_api_versions = [29]\nplatforms = []\n[profiles.p]\ntitle = "P"\n{line}\n')
    with pytest.raises(CodegenError, match=re.escape(message)):
        SupportTable(abi, table)


def test_state_of_a_profile_follows_from_its_rows(abi: Abi, tmp_path: Path) -> None:
    def state(*states: str) -> str:
        slots = ("IsTensor", "GetTensorData", "HasValue")
        lines = [
            f'{slot} = {{ state = "{s}", profile = "p", reason = "r" }}' for slot, s in zip(slots, states, strict=False)
        ]
        text = "\n".join(["[slots.OrtApi]", *lines])
        table = tmp_path / "support.toml"
        table.write_text(f'accepted_api_versions = [29]\nplatforms = []\n[profiles.p]\ntitle = "P"\n{text}\n')
        return SupportTable(abi, table).profiles["p"].state

    assert state("implemented", "implemented") == "implemented"
    assert state("implemented", "deferred") == "partial"
    assert state("deferred", "rejected") == "deferred"
    assert state("rejected") == "rejected"
    assert state("implemented", "rejected") == "implemented"


def test_profile_is_no_more_usable_than_those_it_requires(abi: Abi, tmp_path: Path) -> None:
    table = tmp_path / "support.toml"
    table.write_text(
        "accepted_api_versions = [29]\nplatforms = []\n"
        '[profiles.far]\ntitle = "Far"\nrequires = ["near"]\n'
        '[profiles.near]\ntitle = "Near"\nrequires = ["base", "late"]\n'
        '[profiles.base]\ntitle = "Base"\n[profiles.late]\ntitle = "Late"\n[profiles.free]\ntitle = "Free"\n'
        'requires = ["base"]\n[slots.OrtApi]\n'
        'IsTensor = { state = "implemented", profile = "far" }\n'
        'HasValue = { state = "implemented", profile = "near" }\n'
        'GetTensorData = { state = "implemented", profile = "base" }\n'
        'GetValue = { state = "deferred", profile = "late" }\n'
        'GetValueType = { state = "implemented", profile = "free" }\n'
    )
    profiles = SupportTable(abi, table).profiles
    states = {id: (profile.state, [other.id for other in profile.waits_for]) for id, profile in profiles.items()}
    assert states == {
        "far": ("partial", ["near"]),
        "near": ("partial", ["late"]),
        "base": ("implemented", []),
        "late": ("deferred", []),
        "free": ("implemented", []),
    }


def test_page_says_which_profile_another_waits_for(matrix: dict[str, Any]) -> None:
    titles = {profile["id"]: profile["title"] for profile in matrix["profiles"]}
    states = {profile["id"]: profile["state"] for profile in matrix["profiles"]}
    page = (ROOT / "docs" / "support_matrix.md").read_text()
    for profile in matrix["profiles"]:
        section = page.split(f"### {profile['title']}\n")[1].split("\n- ")[0]
        late = [id for id in profile["requires"] if states[id] != "implemented"]
        assert f"State: **{profile['state']}**." in section
        assert profile["state"] != "implemented" or not late
        for id in late if profile["state"] == "partial" else ():
            assert f'"{titles[id]}" ({states[id]})' in section


@pytest.mark.parametrize("versions", ["[29, 30]", "[0]", "[]"])
def test_version_that_is_not_pinned_cannot_be_accepted(abi: Abi, tmp_path: Path, versions: str) -> None:
    table = tmp_path / "support.toml"
    table.write_text(f"accepted_api_versions = {versions}\nplatforms = []\n[profiles]\n")
    with pytest.raises(CodegenError, match=r"(30|0) cannot be accepted: versions 1 to 29 are pinned"):
        SupportTable(abi, table)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "support.toml: cannot be read: No such file"),
        (b"\xff", "support.toml: is not UTF-8 at byte 0"),
        (b"platforms = []\n[profiles]\n", "accepted_api_versions is missing"),
        (b'accepted_api_versions = "29"\nplatforms = []\n[profiles]\n', "accepted_api_versions is missing or"),
        (b"accepted_api_versions = [29]\n[profiles]\n", "platforms is missing"),
        (b"accepted_api_versions = [29]\nplatforms = []\n", "profiles is missing"),
    ],
)
def test_table_that_cannot_be_used_is_refused_naming_the_file(
    abi: Abi, tmp_path: Path, text: bytes | None, message: str
) -> None:
    table = tmp_path / "support.toml"
    if text is not None:
        table.write_bytes(text)
    with pytest.raises(CodegenError, match=re.escape(message)) as refused:
        SupportTable(abi, table)
    assert refused.value.file == str(table)
