"""A newer field of an older struct is never read."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from codegen.model import Abi, Member, Struct

ROOT = Path(__file__).resolve().parents[2]

Compile = Callable[..., "subprocess.CompletedProcess[str]"]

# A struct's bytes end where readable memory ends: whatever reads on ends the process.
PROGRAM = """
#include <sys/mman.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>
#include "version_gates.h"

namespace field = onnx_light_ort::abi::field;

namespace {
char* end_of_readable_memory() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* mapped = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* memory = static_cast<char*>(mapped);
  mprotect(memory + page, page, PROT_NONE);
  return memory + page;
}
int failures = 0;
void expect(bool condition, const char* what) {
  if (!condition) { std::printf("%s\\n", what); ++failures; }
}
}  // namespace

int main() {
  char* const end = end_of_readable_memory();
STEPS
  return failures == 0 ? 0 : 1;
}
"""


def _extent(struct: Struct, version: int) -> int:
    """Bytes of a struct as a plugin of that version declares it."""
    newer = [member for member in struct.members if (member.since or 1) > version]
    return (newer[0].offset if newer else struct.size) or 0


def _check(struct: Struct, member: Member, version: int) -> str:
    what = f"{struct.name}::{member.name} of a struct of version {version}"
    there = (member.since or 1) <= version
    accessor = f"field::{struct.name}::{member.name}"
    if member.function:
        return f'expect(({accessor}(s) != nullptr) == {str(there).lower()}, "{what}");'
    if member.type not in ("uint32_t", "bool", "size_t", "int32_t"):
        return f"(void)static_cast<decltype(&{accessor})>(nullptr);"
    value = "true" if member.type == "bool" else f"static_cast<{member.type}>(0x01010101)"
    if member.type == "size_t":
        value = "0x0101010101010101u"
    absent = "false" if member.type == "bool" else "5"
    return f'expect({accessor}(s, {absent}) == {value if there else absent}, "{what}");'


def test_no_accessor_reads_past_the_declared_version(abi: Abi, compile_native: Compile, tmp_path: Path) -> None:
    steps = []
    for struct in abi.structs.values():
        if not struct.version_field:
            continue
        sinces = {member.since or struct.since or 1 for member in struct.members[1:]}
        versions = sorted(sinces | {since - 1 for since in sinces if since > 1} | {abi.api_version, 32})
        for version in versions:
            extent = max(_extent(struct, version), 8)
            steps.append("  {")
            steps.append(f"    char* const start = end - {(extent + 7) // 8 * 8};")
            steps.append(f"    std::memset(start, 1, {extent});")
            steps.append(f"    auto* s = reinterpret_cast<::{struct.name}*>(start);")
            steps.append(f"    s->{struct.version_field} = {version};")
            steps += [f"    {_check(struct, member, version)}" for member in struct.members[1:]]
            steps.append("  }")
    source = tmp_path / "gates.cpp"
    source.write_text(PROGRAM.replace("STEPS", "\n".join(steps)))
    program = tmp_path / "gates"
    compile_native([source], program, ROOT)
    result = subprocess.run([str(program)], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "")


def test_custom_op_members_are_read_from_the_versions_on_that_the_runtime_reads_them(abi: Abi) -> None:
    since = {member.name: member.since for member in abi.structs["OrtCustomOp"].members}
    expected = {
        "GetInputCharacteristic": 8,
        "GetInputMemoryType": 13,
        "GetVariadicInputMinArity": 14,
        "GetVariadicOutputHomogeneity": 14,
        "CreateKernelV2": 16,
        "KernelComputeV2": 16,
        "InferOutputShapeFn": 17,
        "GetStartVersion": 17,
        "GetEndVersion": 17,
        "GetMayInplace": 18,
        "ReleaseAliasMap": 18,
        "KernelDestroy": 1,
    }
    assert {name: since[name] for name in expected} == expected


def test_callbacks_can_throw_through_the_pointer_that_a_gate_gives(compile_native: Compile, tmp_path: Path) -> None:
    source = tmp_path / "throwing.cpp"
    source.write_text(
        """
#include <stdexcept>
#include <type_traits>
#include "version_gates.h"
namespace field = onnx_light_ort::abi::field;
OrtStatus* throwing(OrtEp*, const OrtGraph*, OrtEpGraphSupportInfo*) { throw std::runtime_error("plugin"); }
static_assert(!std::is_nothrow_invocable_v<decltype(::OrtEp::GetCapability), ::OrtEp*, const OrtGraph*,
                                           OrtEpGraphSupportInfo*>);
static_assert(std::is_nothrow_invocable_v<decltype(::OrtApi::GetEpApi)>);
int main() {
  ::OrtEp ep{};
  ep.ort_version_supported = 29;
  ep.GetCapability = throwing;
  try {
    OrtStatus* status = field::OrtEp::GetCapability(&ep)(&ep, nullptr, nullptr);
    return status == nullptr ? 1 : 2;
  } catch (const std::runtime_error&) {
    return 0;
  }
}
"""
    )
    program = tmp_path / "throwing"
    compile_native([source], program, ROOT, ["-Wno-ignored-attributes"])
    assert subprocess.run([str(program)]).returncode == 0
