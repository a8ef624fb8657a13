from __future__ import annotations

import sys
from pathlib import Path

import pytest
from contract_probe.probe_library import ROOT, ContractProbe

from onnx_light_ort._native.abi import api_base_address

# The generator is part of no package. At the end, so that an installed onnx_light_ort is found before the sources.
sys.path.append(str(ROOT))


@pytest.fixture(scope="session")
def probe_library(fixtures_dir: Path) -> Path:
    return fixtures_dir / "contract_probe" / "libcontract_probe.so"


@pytest.fixture(scope="session")
def probe(probe_library: Path) -> ContractProbe:
    """The contract probe on this host's plain tables."""
    return ContractProbe(probe_library, api_base_address("plain"))
