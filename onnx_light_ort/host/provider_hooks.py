"""What the plugin providers of a session are told of it: that it was made, that a run starts, that it ended."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from onnx_light_ort._native import abi
from onnx_light_ort.errors import Error
from onnx_light_ort.host.plugin_execution_provider import PluginExecutionProvider

if TYPE_CHECKING:
    from onnx_light_ort.engine.execution_provider import ExecutionProvider
    from onnx_light_ort.session_options import RunOptions

_log = logging.getLogger("onnx_light_ort")

_NO_SYNC = "disable_synchronize_execution_providers"
"""Run configuration entry, as in ORT: "1" for ends of runs that do not wait for the device."""


class ProviderHooks:
    """The plugin providers of one session, in their order."""

    def __init__(self, providers: Iterable[ExecutionProvider]) -> None:
        self._eps = [item.native for item in providers if isinstance(item, PluginExecutionProvider)]
        self._told = [ep for ep in self._eps if ep.wants_runs]
        # One that supports concurrent runs lifts no rule of the engine; one that does not adds this one.
        is_concurrent = all(ep.is_concurrent_run_supported() for ep in self._eps)
        self._one_at_a_time = nullcontext() if is_concurrent else threading.Lock()
        #: Whether runs must go through :meth:`run`.
        self.concerns_runs = bool(self._told) or not is_concurrent
        self._default_options = abi.RunOptions()
        self._under_way: list[abi.RunOptions] = []

    @property
    def has_run_under_way(self) -> bool:
        """Whether a provider may still have to be told of the end of a run."""
        return bool(self._under_way)

    def session_initialized(self) -> None:
        """The session is about to be handed to its user."""
        for ep in self._eps:
            ep.on_session_initialization_end()

    def synchronize(self) -> None:
        for ep in self._eps:
            ep.sync()

    @contextmanager
    def run(self, options: RunOptions | None) -> Iterator[None]:
        """Around one run. As in ORT, whoever was told of the start is told of the end, also of a run that fails; a run
        of which a provider cannot be told fails."""
        native = self._default_options if options is None else _native(options)
        syncs = options is None or options._config.get(_NO_SYNC, "0") == "0"
        self._under_way.append(native)
        try:
            with self._one_at_a_time:
                yield from self._told_of(native, syncs)
        finally:
            self._under_way.pop()

    def _told_of(self, native: abi.RunOptions, syncs: bool) -> Iterator[None]:
        started: list[abi.Ep] = []
        try:
            for ep in self._told:
                ep.on_run_start(native)
                started.append(ep)
            yield
        except BaseException:
            for ep in started:
                try:
                    ep.on_run_end(native, syncs)
                except Error as error:  # what failed before is raised
                    _log.error("%s", error)
            raise
        failures: list[Error] = []
        for ep in started:
            try:
                ep.on_run_end(native, syncs)
            except Error as error:
                failures.append(error)
        if failures:
            raise failures[0]


def _native(options: RunOptions) -> abi.RunOptions:
    return abi.RunOptions(options.log_severity_level, options.log_verbosity_level, options.logid, dict(options._config))
