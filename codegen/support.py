"""What the host does with each slot, callback and profile: support.toml joined with the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codegen.errors import CodegenError
from codegen.model import Abi, Member, Struct
from codegen.toml_file import read_toml

SUPPORT_TABLE = Path(__file__).parent / "support.toml"

SLOT_STATES = ("implemented", "table", "null", "deferred", "rejected")
CALLBACK_STATES = ("called", "deferred", "rejected")
PROFILE_STATES = ("implemented", "partial", "deferred", "rejected")
STUB = "not implemented"


@dataclass(frozen=True)
class Support:
    """The state of one slot of a host table or of one callback of a plugin's struct."""

    table: str
    name: str
    index: int
    since: int | None
    state: str
    profile: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "slot": self.name,
            "index": self.index,
            "since": self.since,
            "state": self.state,
            "profile": self.profile,
            "reason": self.reason,
        }


@dataclass
class Profile:
    """A set of slots and callbacks that is usable, deferred or rejected as a whole."""

    id: str
    title: str
    reason: str
    tensor_types: list[str]
    requires: list[str]
    stated: str
    api_versions: list[int]
    platforms: list[str]
    slots: list[Support] = field(default_factory=list)
    callbacks: list[Support] = field(default_factory=list)
    waits_for: list[Profile] = field(default_factory=list)

    @property
    def state(self) -> str:
        """As stated, else what its slots and callbacks amount to, which is not all while a required profile is not."""
        own = self.stated or self._own_state
        return "partial" if own == "implemented" and self.waits_for else own

    @property
    def _own_state(self) -> str:
        # Another table tells nothing: plugins fetch all of them at load, without using them.
        states = {support.state for support in (*self.slots, *self.callbacks)} - {"table"}
        if not states & {"implemented", "null", "called"}:
            return "rejected" if states == {"rejected"} else "deferred"
        return "partial" if "deferred" in states else "implemented"

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "state": self.state,
            "reason": self.reason,
            "requires": self.requires,
            "api_versions": self.api_versions,
            "platforms": self.platforms,
            "tensor_types": self.tensor_types,
            "host_slots": [f"{support.table}::{support.name}" for support in self.slots],
            "plugin_callbacks": [f"{support.table}::{support.name}" for support in self.callbacks],
        }


def _is_list_of(kind: type, value: object) -> bool:
    return isinstance(value, list) and all(type(item) is kind for item in value)


def _is_table_of_tables(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(entry, dict) for entry in value.values())


class SupportTable:
    """support.toml, checked against the model."""

    def __init__(self, abi: Abi, table: Path = SUPPORT_TABLE) -> None:
        content = read_toml(table)
        self._file = str(table)
        self._abi = abi
        self._check_types(content)
        self.accepted_api_versions: list[int] = content["accepted_api_versions"]
        for version in self.accepted_api_versions or [0]:
            if not 1 <= version <= abi.api_version:
                raise CodegenError(
                    f"{version} cannot be accepted: versions 1 to {abi.api_version} are pinned", self._file
                )
        self.platforms: list[str] = content["platforms"]
        dense: list[str] = content.get("dense_types", [])
        self.profiles: dict[str, Profile] = {
            id: Profile(
                id=id,
                title=entry["title"],
                reason=entry.get("reason", ""),
                tensor_types=dense if entry.get("tensor_types") == "@dense" else entry.get("tensor_types", []),
                requires=entry.get("requires", []),
                stated=entry.get("state", ""),
                api_versions=entry.get("api_versions", self.accepted_api_versions),
                platforms=entry.get("platforms", self.platforms),
            )
            for id, entry in content["profiles"].items()
        }
        for profile in self.profiles.values():
            for required in profile.requires:
                if required not in self.profiles:
                    raise CodegenError(f"profile {profile.id} requires '{required}', which is none", self._file)
        slots = self._collect(content.get("slots", {}), abi.host_tables, SLOT_STATES, "slots")
        callbacks = self._collect(content.get("callbacks", {}), abi.callback_structs, CALLBACK_STATES, "callbacks")
        self.slots: dict[str, list[Support]] = slots
        self.callbacks: dict[str, list[Support]] = callbacks
        settled: set[str] = set()
        for profile in self.profiles.values():
            self._settle(profile, settled, ())

    def _check_types(self, content: dict[str, Any]) -> None:
        """Refuses what is missing or of another type, so that the rest can rely on it."""
        self._refuse_unless(_is_list_of(int, content.get("accepted_api_versions")), "accepted_api_versions", "numbers")
        for key in ("platforms", "dense_types"):
            self._refuse_unless(_is_list_of(str, content.get(key, [])), key, "strings")
        self._refuse_unless("platforms" in content, "platforms", "strings")
        self._refuse_unless(_is_table_of_tables(content.get("profiles")), "profiles", "tables, [profiles.NAME]")
        for id, entry in content["profiles"].items():
            where = f"profile {id}: "
            for key in ("title", "reason", "state"):
                value = entry.get(key, None if key == "title" else "")
                if not isinstance(value, str):
                    raise CodegenError(f"{where}{key} must be a string", self._file)
            if entry.get("state", "rejected") not in PROFILE_STATES:
                raise CodegenError(f"{where}state must be one of {', '.join(PROFILE_STATES)}", self._file)
            for key in ("requires", "platforms"):
                self._refuse_unless(_is_list_of(str, entry.get(key, [])), where + key, "strings")
            self._refuse_unless(_is_list_of(int, entry.get("api_versions", [])), where + "api_versions", "numbers")
            types = entry.get("tensor_types", [])
            self._refuse_unless(types == "@dense" or _is_list_of(str, types), where + "tensor_types", "strings")
        for kind in ("slots", "callbacks"):
            tables = content.get(kind, {})
            self._refuse_unless(_is_table_of_tables(tables), kind, f"tables, [{kind}.STRUCT]")
            for struct, entries in tables.items():
                for name, entry in entries.items():
                    fits = isinstance(entry, dict) and all(isinstance(value, str) for value in entry.values())
                    if not fits:
                        message = "must be a table of strings: state, profile and reason"
                        raise CodegenError(message, self._file, slot=f"{struct}::{name}")

    def _refuse_unless(self, holds: bool, key: str, items: str) -> None:
        if not holds:
            raise CodegenError(f"{key} is missing or does not consist of {items}", self._file)

    def _settle(self, profile: Profile, settled: set[str], path: tuple[str, ...]) -> None:
        """Fills in what a profile waits for, after its requirements, whose states depend on theirs."""
        if profile.id in path:
            raise CodegenError(f"profile {profile.id} requires itself, by way of {' and '.join(path)}", self._file)
        if profile.id in settled:
            return
        required = [self.profiles[id] for id in profile.requires]
        for requirement in required:
            self._settle(requirement, settled, (*path, profile.id))
        profile.waits_for = [requirement for requirement in required if requirement.state != "implemented"]
        settled.add(profile.id)

    def _collect(
        self, lines: dict[str, dict[str, dict[str, str]]], structs: list[Struct], states: tuple[str, ...], kind: str
    ) -> dict[str, list[Support]]:
        known = {struct.name: {member.name for member in struct.slots} for struct in structs}
        for table, entries in lines.items():
            for name, entry in entries.items():
                slot = f"{table}::{name}"
                if name not in known.get(table, ()):
                    raise CodegenError(f"there is no such entry for [{kind}.{table}]", self._file, slot=slot)
                if entry.get("state") not in states:
                    raise CodegenError(f"state must be one of {', '.join(states)}", self._file, slot=slot)
                if entry.get("profile") not in self.profiles:
                    raise CodegenError(f"profile '{entry.get('profile')}' is not declared", self._file, slot=slot)
        collected: dict[str, list[Support]] = {}
        for struct in structs:
            rows = collected[struct.name] = []
            for member in struct.slots:
                support = self._support(struct, member, lines.get(struct.name, {}).get(member.name))
                rows.append(support)
                if support.profile:
                    profile = self.profiles[support.profile]
                    (profile.slots if kind == "slots" else profile.callbacks).append(support)
        return collected

    def _support(self, struct: Struct, member: Member, entry: dict[str, str] | None) -> Support:
        if entry is None:
            reason = "no profile of this host uses it"
            return Support(struct.name, member.name, member.index, member.since, STUB, "", reason)
        profile = self.profiles[entry["profile"]]
        reason = entry.get("reason", "")
        if not reason and entry["state"] in ("deferred", "rejected"):
            reason = profile.reason or f"it comes with the profile '{profile.title}'"
        self._check_contract(struct, member, entry["state"])
        return Support(struct.name, member.name, member.index, member.since, entry["state"], profile.id, reason)

    def _check_contract(self, struct: Struct, member: Member, state: str) -> None:
        slot = f"{struct.name}::{member.name}"
        returns = member.slot.returns
        if state == "table" and self.nested_table(member) is None:
            raise CodegenError("state 'table' is for slots that return a host table", self._file, slot=slot)
        pointer = self._abi.typedefs.get(returns)
        if state == "null" and not (returns.endswith("*") or (pointer and pointer.function)):
            raise CodegenError("state 'null' is for slots that return a pointer", self._file, slot=slot)

    def nested_table(self, member: Member) -> Struct | None:
        """The host table that a slot returns, if it returns one."""
        name = member.slot.returns.removeprefix("const ").removesuffix("*")
        struct = self._abi.structs.get(name)
        return struct if struct and struct.is_host_table and member.slot.returns == f"const {name}*" else None

    def matrix(self) -> dict[str, Any]:
        """The content of support_matrix.json."""
        counts: dict[str, dict[str, int]] = {}
        for table, rows in self.slots.items():
            counts[table] = {}
            for row in rows:
                counts[table][row.state] = counts[table].get(row.state, 0) + 1
        return {
            "api_version": self._abi.api_version,
            "accepted_api_versions": self.accepted_api_versions,
            "platforms": self.platforms,
            "counts": counts,
            "profiles": [profile.to_json() for profile in self.profiles.values()],
            "slots": [row.to_json() for rows in self.slots.values() for row in rows],
            "callbacks": [row.to_json() for rows in self.callbacks.values() for row in rows],
        }
