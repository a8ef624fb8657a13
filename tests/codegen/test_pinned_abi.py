"""What is pinned is version 29 of the public ABI, as measured elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.model import Abi
from codegen.pin import load_pin, provenance

ROOT = Path(__file__).resolve().parents[2]

# Index of the last slot of each version, from the assertions on table sizes in the runtime's sources.
LAST_SLOTS = {
    "OrtApi": {
        1: ("ReleaseCustomOpDomain", 101),
        2: ("ReleaseModelMetadata", 118),
        3: ("AddFreeDimensionOverrideByName", 124),
        4: ("ReleaseAvailableProviders", 126),
        5: ("SetGlobalSpinControl", 149),
        6: ("ReleaseArenaCfg", 157),
        7: ("GetCurrentGpuDeviceId", 161),
        8: ("CreateSessionFromArrayWithPrepackedWeightsContainer", 169),
        9: ("GetSparseTensorIndices", 191),
        10: ("SynchronizeBoundOutputs", 203),
        11: ("SessionOptionsAppendExecutionProvider_MIGraphX", 209),
        12: ("ReleaseKernelInfo", 218),
        13: ("ReleaseCANNProviderOptions", 224),
        14: ("GetSessionConfigEntry", 238),
        15: ("GetBuildInfoString", 254),
        16: ("KernelContext_GetResource", 265),
        17: ("SessionOptionsAppendExecutionProvider_OpenVINO_V2", 275),
        18: ("AddExternalInitializersFromFilesInMemory", 279),
        20: ("SetEpDynamicOptions", 284),
        22: ("GetEpApi", 317),
        23: ("CreateExternalInitializerInfo", 389),
        24: ("GetTensorElementTypeAndShapeDataReference", 414),
        25: ("SetPerSessionThreadPoolCallbacks", 418),
        27: ("SessionReleaseCapturedGraph", 421),
        28: ("KernelContext_GetSyncStream", 423),
        29: ("SessionOptionsSetWeightlessSourceModelBuffer", 424),
    },
    "OrtEpApi": {
        22: ("ReleaseEpDevice", 1),
        23: ("GetSyncIdForLastWaitOnSyncStream", 15),
        24: ("GetEnvConfigEntries", 49),
        25: ("ProfilingEventsContainer_AddEvents", 72),
        29: ("SessionOptionsGetWeightlessSourceModelBuffer", 73),
    },
}


@pytest.fixture(scope="module")
def version_29() -> Abi:
    return load_pin(ROOT / "headers" / "v29")


@pytest.mark.parametrize(
    ("table", "count"),
    [
        ("OrtApiBase", 2),
        ("OrtApi", 425),
        ("OrtEpApi", 74),
        ("OrtModelEditorApi", 20),
        ("OrtCompileApi", 16),
        ("OrtInteropApi", 13),
        ("OrtCustomOp", 26),
        ("OrtEp", 26),
        ("OrtEpFactory", 21),
        ("OrtKernelImpl", 6),
        ("OrtNodeComputeInfo", 4),
        ("OrtAllocator", 8),
        ("OrtDataTransferImpl", 4),
        ("OrtSyncStreamImpl", 6),
        ("OrtSyncNotificationImpl", 5),
    ],
)
def test_tables_have_as_many_members_as_in_the_runtime(version_29: Abi, table: str, count: int) -> None:
    assert len(version_29.structs[table].members) == count


@pytest.mark.parametrize("table", LAST_SLOTS)
def test_since_agrees_with_the_table_sizes_of_every_version(version_29: Abi, table: str) -> None:
    members = version_29.structs[table].members
    first = 0
    for version, (name, last) in LAST_SLOTS[table].items():
        assert members[last].name == name
        assert {member.since for member in members[first : last + 1]} == {version}
        first = last + 1
    assert first == len(members)


def test_every_member_of_every_table_has_a_version(version_29: Abi) -> None:
    for struct in version_29.structs.values():
        if struct.is_table:
            sinces = [member.since or 0 for member in struct.members]
            assert sinces == sorted(sinces), struct.name
            assert min(sinces) >= 1
            assert max(sinces) <= 29


def test_element_types_have_orts_numbers(version_29: Abi) -> None:
    values = dict(version_29.enums["ONNXTensorElementDataType"].members)
    prefix = "ONNX_TENSOR_ELEMENT_DATA_TYPE_"
    assert {name: values[prefix + name] for name in ("FLOAT", "FLOAT4E2M1", "UINT2", "INT2", "FLOAT8E8M0")} == {
        "FLOAT": 1,
        "FLOAT4E2M1": 23,
        "UINT2": 24,
        "INT2": 25,
        "FLOAT8E8M0": 26,
    }


def test_status_returning_slots_are_told_from_slots_that_return_a_status_as_result(version_29: Abi) -> None:
    from codegen.ownership import complete_ownership

    complete_ownership(version_29)
    api = {member.name: member for member in version_29.structs["OrtApi"].members}
    assert not api["CreateStatus"].status
    assert api["CreateEnv"].status
    assert not api["MemoryInfoGetDeviceType"].status
    assert {member.name for member in version_29.structs["OrtNodeComputeInfo"].members if member.status} == {
        "CreateState",
        "Compute",
    }


def test_pin_records_where_the_declarations_came_from() -> None:
    record = provenance(ROOT / "headers" / "v29")
    assert record["api"] == 29
    assert record["header_api_version"] == 30
    assert record["repository"] == "https://github.com/intel/onnxruntime"
    assert record["commit"] == "cc8e901ecc3feaf75fd05204c19c93068afba9d9"
    assert set(record["sha256"]) == {
        "onnxruntime_c_api.h",
        "onnxruntime_ep_c_api.h",
        "onnxruntime_error_code.h",
    }


def test_upstream_notice_goes_with_the_declarations() -> None:
    notice = "Copyright (c) Microsoft Corporation"
    headers = [*(ROOT / "headers" / "v29").glob("*.h"), ROOT / "generated" / "include" / "onnx_light_ort" / "ort_abi.h"]
    assert len(headers) == 4
    for path in [*headers, ROOT / "NOTICE"]:
        text = path.read_text()
        assert notice in text
        assert "THE SOFTWARE IS PROVIDED" in text
