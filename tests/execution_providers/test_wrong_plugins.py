"""A plugin EP that is wrong is refused or reported, by name, and cleaned up after; where ORT goes on, so does the host.

Each failure runs in a process of its own: one that ends the process is told from one that is reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from execution_provider_failures import FAILURES, UNDEFINED_IN_ORT
from execution_provider_goldens import read_failure_goldens
from execution_provider_host import observed_apart

GOLDENS = read_failure_goldens()

#: Where the host refuses what ORT passes over, or refuses earlier.
STRICTER = {
    "library zero_factories": "register",
    "library empty_name": "register",
    "library factory_version_0": "register",
    "library factory_version_21": "register",
    "library device_of_other_factory": "register",
    "kernel_ep capability_fails": "create",
    "kernel_ep claims_null": "create",
    "kernel_ep claims_twice": "create",
    "kernel_ep claims_inner_node": "create",
    "kernel_ep looks_up_null": "create",
    "compiling_ep capability_fails": "create",
    "compiling_ep compile_gives_one_twice": "create",
    "compiling_ep claim=ends": "create",
    "compiling_ep claim=node_twice": "create",
    "compiling_ep claim=fused_and_single": "create",
    "compiling_ep claim=no_nodes": "create",
    "compiling_ep claim=inner_node": "create",
    "compiling_ep claim=unheard": "create",
}

#: A plugin that gives no way to release what it made, says that it made what it did not, or keeps a factory of its own.
_UNRELEASABLE = frozenset({
    "kernel_ep kernel_without_release", "compiling_ep create_state_gives_null",
    "library device_of_other_factory",
})  # fmt: skip

_PAIRS = (
    ("factories_created", "factories_released"),
    ("eps_created", "eps_released"),
    ("kernels_created", "kernels_released"),
    ("custom_kernels_created", "custom_kernels_released"),
    ("infos_made", "infos_released"),
    ("states_created", "states_released"),
)

#: How often the EP is told that a run starts, and that it ended.
_TOLD = ("run_starts", "run_ends")


@pytest.fixture(scope="module")
def observed(fixtures_dir: Path) -> Any:
    seen: dict[str, dict[str, Any]] = {}

    def observe(name: str) -> dict[str, Any]:
        if name not in seen:
            seen[name] = observed_apart(fixtures_dir, name)
        return seen[name]

    return observe


def outcomes(steps: dict[str, str]) -> dict[str, str]:
    """Which steps went well. Of the error's class, the host says more than ORT."""
    return {step: result if result == "ok" or result.isdigit() else "error" for step, result in steps.items()}


@pytest.mark.parametrize("name", FAILURES)
def test_a_wrong_plugin_is_reported_and_cleaned_up_after(name: str, observed: Any) -> None:
    found = observed(name)
    assert "crash" not in found, found
    steps = outcomes(found["steps"])
    if name in STRICTER:
        assert steps[STRICTER[name]] == "error"
    elif "crash" not in GOLDENS[name] and name not in UNDEFINED_IN_ORT:
        assert steps == outcomes(GOLDENS[name]["steps"])
        assert [found["counters"].get(key, 0) for key in _TOLD] == [
            GOLDENS[name]["counters"].get(key, 0) for key in _TOLD
        ]
    if "error" in steps.values() and FAILURES[name].misfeed is None:
        assert any(part in found["message"] for part in ("KernelEp", "CompilingEp", "libkernel_ep.so", "node '"))
    if steps["register"] == "ok":
        assert steps["unregister"] == "ok"
    if name not in _UNRELEASABLE:
        counted = found["counters"]
        assert [(pair, counted) for pair in _PAIRS if counted.get(pair[0], 0) != counted.get(pair[1], 0)] == []
