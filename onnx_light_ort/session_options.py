"""Options of sessions and runs, under ORT's names."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from onnx_light_ort._abi_enums import ExecutionMode, GraphOptimizationLevel
from onnx_light_ort._native import engine as native

if TYPE_CHECKING:
    from onnx_light_ort._native import abi
    from onnx_light_ort.engine.execution_provider import ExecutionProvider
    from onnx_light_ort.engine.graph import Model
    from onnx_light_ort.engine.kernel_registry import KernelRegistry
    from onnx_light_ort.ep_device import OrtEpDevice
    from onnx_light_ort.host.custom_ops import CustomOpLibraries
    from onnx_light_ort.host.graph_view import ModelViews
    from onnx_light_ort.host.plugin_execution_provider import ChosenDevices

#: In bytes of UTF-8, as plugins see the entries.
_MAX_KEY = 1024
_MAX_VALUE = 8192

#: Held while options get their CustomOpLibraries. One for all, so that options can be copied.
_MAKING_LIBRARIES = threading.Lock()


class ExecutionOrder(IntEnum):
    """Preference for the order of nodes; the model's order is kept in any case."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


def _logger_severity() -> int:
    """The OrtLoggingLevel of the level that the package's logger has."""
    level = logging.getLogger("onnx_light_ort").getEffectiveLevel()
    return min(max(level // 10 - 1, 0), 4)


def _check_entry(key: str, value: str) -> None:
    key_bytes, value_bytes = len(key.encode()), len(value.encode())
    if not 0 < key_bytes <= _MAX_KEY:
        raise RuntimeError(f"a configuration key has 1 to {_MAX_KEY} bytes in UTF-8, this one has {key_bytes}")
    if value_bytes > _MAX_VALUE:
        raise RuntimeError(
            f"the value of configuration key {key!r} has {value_bytes} bytes in UTF-8; at most {_MAX_VALUE} fit"
        )


class SessionOptions:
    """How a session is made. One object may serve several sessions; each reads it when it is made."""

    # So that a misspelt option is an AttributeError, as in ORT.
    __slots__ = (
        "_config", "_custom_ops", "_providers", "_registries", "enable_cpu_mem_arena", "enable_mem_pattern",
        "enable_mem_reuse", "enable_profiling", "execution_mode", "execution_order", "graph_optimization_level",
        "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level", "logid",
        "memory_limit", "profile_file_prefix", "use_deterministic_compute", "use_per_session_threads",
    )  # fmt: skip

    def __init__(self) -> None:
        #: Threads that one run may use: 0 for one a core, 1 for none beside the caller's.
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        #: 0 verbose, 1 info, 2 warning, 3 error, 4 fatal; -1: as the logger "onnx_light_ort" is set.
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        #: How much planning may change: nothing with ORT_DISABLE_ALL, else constants are folded and no-ops dropped.
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        #: Accepted for ORT's sake: nodes run one after another in either mode.
        self.execution_mode = ExecutionMode.ORT_SEQUENTIAL
        self.execution_order = ExecutionOrder.DEFAULT
        #: Whether every run's nodes are timed; InferenceSession.end_profiling writes the file.
        self.enable_profiling = False
        self.profile_file_prefix = "onnx_light_ort_profile_"
        #: Accepted for ORT's sake: memory is always pooled and reused.
        self.enable_cpu_mem_arena = True
        self.enable_mem_pattern = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = False
        self.use_per_session_threads = True
        #: Bytes that the buffers of a session's runs may hold together, 0: no limit. Not in ORT.
        self.memory_limit = 0
        self._config: dict[str, str] = {}
        self._registries: list[KernelRegistry] = []
        self._custom_ops: CustomOpLibraries | None = None
        #: Plugins' devices, or makers of providers written in Python, in the order in which they are asked.
        self._providers: list[ChosenDevices | Callable[[SessionOptions], ExecutionProvider]] = []

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an entry; a later one replaces an earlier one. Raises RuntimeError for an empty or too long key."""
        _check_entry(key, value)
        self._config[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The entry's value. Raises RuntimeError where there is none."""
        if key not in self._config:
            raise RuntimeError(f"the session options have no configuration entry {key!r}")
        return self._config[key]

    @property
    def session_config_entries(self) -> Mapping[str, str]:
        """All entries. Not in ORT."""
        return dict(self._config)

    def register_custom_ops_library(self, library_path: str | os.PathLike[str], *, bootstrap: bool = False) -> None:
        """Loads a custom-op library and registers its operators: all of them, or none.

        Args:
            library_path: absolute path of the library. It stays loaded as long as these options or a session made from
                them.
            bootstrap: whether the library may import ``OrtGetApiBase``, which is then visible to the whole process. Not
                in ORT.

        Raises:
            LibraryError (also a Fail): the library cannot be loaded, is not admitted, or its registration failed; the
                options are as they were.
            Fail: a library that is registering with these options asks for it.
        """
        from onnx_light_ort.host.custom_ops import CustomOpLibraries

        with _MAKING_LIBRARIES:
            if self._custom_ops is None:
                self._custom_ops = CustomOpLibraries()
        self._custom_ops.register(library_path, self._config, bootstrap=bootstrap)

    def add_provider_for_devices(
        self, devices: Sequence[OrtEpDevice], options: Mapping[str, str] | None = None
    ) -> None:
        """Has a plugin execution provider run what it claims, on the given devices.

        Providers are asked in the order in which they were added. What none claims runs on the engine; adding the
        engine's own device changes nothing.

        Args:
            devices: one or more of ``get_ep_devices()``, all of one provider.
            options: the provider's options; it reads them as configuration entries ``ep.<lower-case name>.<key>``.

        Raises:
            InvalidArgument: no devices, devices of several providers, or of a library that was unregistered.
            RuntimeError: an option is empty or too long.
        """
        from onnx_light_ort.host.plugin_execution_provider import ChosenDevices

        chosen = ChosenDevices(devices)
        entries = chosen.config_entries(options or {})
        for key, value in entries.items():
            _check_entry(key, value)
        self._config.update(entries)
        if chosen.library is not None:
            self._providers.append(chosen)

    def add_kernel_registry(self, registry: KernelRegistry) -> None:
        """Puts kernels and operators of the caller before the engine's own. Not in ORT."""
        self._registries.append(registry)

    def add_provider_factory(self, factory: Callable[[SessionOptions], ExecutionProvider]) -> None:
        """Has an execution provider written in Python asked what it takes; the factory makes one for each session.
        Not in ORT."""
        self._providers.append(factory)

    def _session_parts(
        self, budget: native.MemoryBudget, session: str
    ) -> tuple[list[KernelRegistry], list[ExecutionProvider]]:
        """The registries and the execution providers for one session, whose name is for messages.

        The caller's registries come first, then one of custom ops. What plugins allocate is charged to the budget.

        Raises:
            Error: a provider cannot be made; those before it are closed.
        """
        if self._custom_ops is None and not self._providers:
            return self._registries, []
        from onnx_light_ort._native import abi

        if self._custom_ops is not None:
            options = self._custom_ops.session_options(self._config)
        else:
            options = abi.SessionOptions()
            for key, value in dict(self._config).items():  # a copy: another thread may add to it
                options.add_config_entry(key, value)
        options.mem_pattern = self.enable_mem_pattern
        options.execution_mode = int(self.execution_mode)
        severity = self.log_severity_level if self.log_severity_level >= 0 else _logger_severity()
        services = abi.SessionServices(options, budget, "onnx_light_ort", severity)
        providers = self._make_providers(options, services, session)
        try:
            return [*self._registries, *_custom_op_registries(options, services, providers)], providers
        except BaseException:
            _close(providers)
            raise

    def _make_providers(
        self, options: abi.SessionOptions, services: abi.SessionServices, session: str
    ) -> list[ExecutionProvider]:
        """The session's providers, having added the custom ops that they bring to the options."""
        if not self._providers:
            return []
        from onnx_light_ort.host.graph_view import ModelViews
        from onnx_light_ort.host.plugin_execution_provider import ChosenDevices, PluginExecutionProvider

        # functools.cache would take longer to make than all the rest here.
        views_of: dict[Model, ModelViews] = {}

        def views(model: Model) -> ModelViews:
            return views_of.get(model) or views_of.setdefault(model, ModelViews(model))

        made: list[ExecutionProvider] = []
        try:
            for item in self._providers:
                if isinstance(item, ChosenDevices):
                    provider = PluginExecutionProvider(item, options, services, session, views)
                    made.append(provider)
                    provider.add_custom_ops(options)
                else:
                    made.append(item(self))
        except BaseException:
            _close(made)
            raise
        return made

    def has_providers(self) -> bool:
        return bool(self._providers)


def _custom_op_registries(
    options: abi.SessionOptions, services: abi.SessionServices, providers: Sequence[ExecutionProvider]
) -> list[KernelRegistry]:
    ops = options.custom_ops
    if not ops:
        return []
    from onnx_light_ort.engine.kernel_registry import KernelRegistry
    from onnx_light_ort.host.custom_ops import custom_operators
    from onnx_light_ort.host.plugin_execution_provider import PluginExecutionProvider

    registry = KernelRegistry("custom ops")
    operators = custom_operators(ops, services)
    for operator in operators:
        registry.register_operator(operator)
    for provider in providers:
        if isinstance(provider, PluginExecutionProvider):
            provider.take_operators([operator for operator in operators if operator.provider == provider.name])
            # Another one of the same name is refused later.
            operators = [operator for operator in operators if operator.provider != provider.name]
    return [registry]


def _close(providers: Sequence[ExecutionProvider]) -> None:
    for provider in providers:
        provider.close()


class RunOptions:
    """How one run is done. ``terminate`` may be set from another thread: the run then ends after its current node."""

    __slots__ = ("_config", "_control", "log_severity_level", "log_verbosity_level", "logid",
                 "only_execute_path_to_fetches")  # fmt: skip

    def __init__(self) -> None:
        self.log_severity_level = -1
        self.log_verbosity_level = 0
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self._control = native.RunControl()
        self._config: dict[str, str] = {}

    @property
    def terminate(self) -> bool:
        return bool(self._control.terminate)

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._control.terminate = bool(value)

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Sets an entry; a later one replaces an earlier one. Raises RuntimeError for an empty or too long key."""
        _check_entry(key, value)
        self._config[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The entry's value. Raises RuntimeError where there is none."""
        if key not in self._config:
            raise RuntimeError(f"the run options have no configuration entry {key!r}")
        return self._config[key]
