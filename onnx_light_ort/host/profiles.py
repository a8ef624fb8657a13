"""Which profile a library serves, told by what it exports."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

REGISTER_CUSTOM_OPS = "RegisterCustomOps"
CREATE_EP_FACTORIES = "CreateEpFactories"
RELEASE_EP_FACTORY = "ReleaseEpFactory"

ENTRY_POINTS = (REGISTER_CUSTOM_OPS, CREATE_EP_FACTORIES, RELEASE_EP_FACTORY)

CUSTOM_OPS = "custom ops"
PLUGIN_EP = "plugin EP"

_FUNCTIONS = ("FUNC", "GNU_IFUNC")
_DECLARE_C = 'declare it extern "C" with default visibility'


@dataclass(frozen=True)
class ProfileFit:
    """The profiles that the exports make possible; where there is none, ``problem`` says what is wrong with them.

    Whether a plugin EP registers kernels or compiles partitions shows only when it runs.
    """

    profiles: tuple[str, ...]
    problem: str | None


def fit_profiles(exports: dict[str, str]) -> ProfileFit:
    """``exports`` maps each exported name to its symbol type, as in ``ElfSymbols``."""
    usable = {name for name in ENTRY_POINTS if exports.get(name) in _FUNCTIONS}
    profiles = []
    if REGISTER_CUSTOM_OPS in usable:
        profiles.append(CUSTOM_OPS)
    if {CREATE_EP_FACTORIES, RELEASE_EP_FACTORY} <= usable:
        profiles.append(PLUGIN_EP)
    return ProfileFit(tuple(profiles), None if profiles else _problem(exports, usable))


def _problem(exports: dict[str, str], usable: set[str]) -> str:
    for name, other in ((CREATE_EP_FACTORIES, RELEASE_EP_FACTORY), (RELEASE_EP_FACTORY, CREATE_EP_FACTORIES)):
        if name in usable:
            return f"it exports {name} but not {other}; export both, as C functions"
    for name in ENTRY_POINTS:
        if name in exports:
            return (
                f"its {name} is not a function but a symbol of type {exports[name]}; export a C function of that name"
            )
        mangled = next((e for e in exports if e.startswith(f"_Z{len(name)}{name}")), None)
        if mangled:
            return f"it exports {name} under the C++ name {mangled}; {_DECLARE_C}"
    for name in ENTRY_POINTS:
        similar = difflib.get_close_matches(name.lower(), [e.lower() for e in exports], n=1, cutoff=0.8)
        if similar:
            spelled = next(e for e in exports if e.lower() == similar[0])
            return f"it exports {spelled}, which is not {name}; rename it"
    return (
        f"it exports neither {REGISTER_CUSTOM_OPS} (custom ops) nor {CREATE_EP_FACTORIES} and {RELEASE_EP_FACTORY} "
        f"(a plugin EP); pass a plugin library, or {_DECLARE_C} if the function is in its source"
    )
