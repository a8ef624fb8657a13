"""An execution provider of a plugin, as planning asks it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from onnx_light_ort._native import abi
from onnx_light_ort.engine.execution_provider import (
    Claim,
    ExecutionProvider,
    FusionClaim,
    KernelLookup,
    SingleNodeClaim,
)
from onnx_light_ort.errors import InvalidArgument
from onnx_light_ort.host.graph_view import GraphView, ModelViews
from onnx_light_ort.host.plugin_kernels import PluginKernels
from onnx_light_ort.host.plugin_partitions import PluginPartitions, check_entries

if TYPE_CHECKING:
    from onnx_light_ort.engine.graph import Graph, Model, Node
    from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition
    from onnx_light_ort.ep_device import OrtEpDevice
    from onnx_light_ort.host.custom_ops import CustomOperator
    from onnx_light_ort.host.ep_libraries import RegisteredLibrary

_log = logging.getLogger("onnx_light_ort")


class ChosenDevices:
    """The devices of one factory that a session is to use.

    Raises:
        InvalidArgument: there are none, they are of different providers, or their library was unregistered.
    """

    def __init__(self, devices: Sequence[OrtEpDevice]) -> None:
        if not devices:
            raise InvalidArgument("add_provider_for_devices takes one or more devices of get_ep_devices(), got none")
        first = devices[0]
        for device in devices:
            if device._library is not first._library or device._factory != first._factory:
                raise InvalidArgument(
                    f"the devices are of the execution providers {first.ep_name!r} and {device.ep_name!r}: add each "
                    "provider by a call of its own"
                )
        self.ep_name = first.ep_name
        #: None: the engine, which every session has.
        self.library: RegisteredLibrary | None = first._library
        self.positions = [device._position for device in devices]
        self._default_options = [dict(device.ep_options) for device in devices]
        self.require_registered()

    def require_registered(self) -> None:
        if self.library is not None and not self.library.is_registered:
            raise InvalidArgument(
                f"the library {self.library.name!r} of execution provider {self.ep_name!r} was unregistered: register "
                "it, and take its devices from get_ep_devices()"
            )

    def config_entries(self, options: Mapping[str, str]) -> dict[str, str]:
        """The session's configuration entries for the provider: its own options, replaced by the caller's."""
        prefix = f"ep.{self.ep_name.lower()}."
        entries: dict[str, str] = {}
        for defaults in self._default_options:
            for key, value in (*defaults.items(), *options.items()):
                entries[prefix + key] = value
        return entries


class PluginExecutionProvider(ExecutionProvider):
    """Owns the OrtEp of one session, until :meth:`close`; kernels and partitions that it made keep it longer.

    The OrtEp is made when planning opens the provider, or earlier where somebody asks for it: as in ORT, not before the
    model is loaded. EPs allocate large buffers at once, and what planning keeps is not to lie behind them in the heap,
    which could not shrink any more.

    Args:
        devices: what it is to run on.
        options: the session's options as plugins see them.
        services: what it gets from the session.
        session: the session's name, for messages.
        views: makes the views of a model; one for all providers of the session, so that they see the same nodes.
    """

    def __init__(
        self,
        devices: ChosenDevices,
        options: abi.SessionOptions,
        services: abi.SessionServices,
        session: str,
        views: Callable[[Model], ModelViews],
    ) -> None:
        devices.require_registered()
        self._entries: Mapping[str, str] = options.config_entries
        check_entries(self._entries)
        self.name = devices.ep_name
        self._devices = devices
        #: What it takes to make the OrtEp, until it is made: the options hold the custom ops, and these the OrtEp.
        self._parts: tuple[abi.SessionOptions, abi.SessionServices, str] | None = (options, services, session)
        self._make_views = views
        self._ep: abi.Ep | None = None
        self._kernels: PluginKernels | None = None
        self._partitions: PluginPartitions | None = None
        self._operators: list[CustomOperator] = []
        self._running_operators: list[CustomOperator] = []
        self._operator_definitions = abi.OperatorDefinitions(self.name, [])
        self._views: ModelViews | None = None
        #: Of the graph that was asked about last: partitions are compiled as it was then. It stays, so that two
        #: inference sessions never have nodes at one address, unless it would keep constants that the EP dropped.
        self._view: GraphView | None = None

    @property
    def kernel_registry(self) -> PluginKernels:
        assert self._kernels is not None
        return self._kernels

    @property
    def native(self) -> abi.Ep:
        """The OrtEp, until :meth:`close`.

        Raises:
            Error: the plugin fails to make it.
        """
        if self._ep is None:
            devices = self._devices
            devices.require_registered()
            assert devices.library is not None
            assert self._parts is not None
            self._ep = devices.library.native.create_ep(devices.positions, *self._parts)
            self._parts = None
            self.name = self._ep.name
        return self._ep

    def add_custom_ops(self, options: abi.SessionOptions) -> None:
        """Adds the operators that its factory brings to the options."""
        library = self._devices.library
        assert library is not None
        if library.native.brings_custom_ops(self._devices.positions):
            self.native.add_custom_ops(options)

    def take_operators(self, operators: Sequence[CustomOperator]) -> None:
        """Takes over the custom ops that its factory brings; they are closed with it."""
        self._operators = list(operators)
        # Others are names for nodes that it has kernels for, and nothing else runs.
        self._running_operators = [item for item in operators if item.runs_on_provider]
        definitions = [item.definition for item in self._running_operators]
        self._operator_definitions = abi.OperatorDefinitions(self.name, definitions)

    def open(self, model: Model) -> None:
        ep = self.native
        self._kernels = PluginKernels(ep)
        self._partitions = PluginPartitions(ep, self._entries)
        self._views = self._make_views(model)

    def get_capability(self, graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        if not graph.nodes:  # ORT does not ask about it either
            return []
        assert self._views is not None
        self._view = view = self._views.freeze(graph)
        kernels = self.kernel_registry
        claims: list[Claim] = []
        for is_fused, drops_constants, positions in self.native.get_capability(
            view.native,
            kernels.native,
            self._operator_definitions,
            kernels.matching(view.operators, self._running_operators),
        ):
            nodes = [view.nodes[position] for position in positions]
            if self._is_open(nodes):
                claims.append(
                    FusionClaim(nodes, drop_constants=drops_constants) if is_fused else SingleNodeClaim(nodes[0])
                )
        return claims

    def compile(self, partitions: Sequence[FusedPartition]) -> Sequence[ExecutablePartition]:
        assert self._views is not None
        assert self._view is not None
        assert self._partitions is not None
        compiled = self._partitions.compile(self._views, self._view, partitions)
        if any(value not in partition.inputs for partition in partitions for value in partition.constants):
            self._view = None
        return compiled

    def placed(self) -> None:
        self._views = None

    def close(self) -> None:
        self._view = self._views = self._parts = None
        if self._partitions is not None:
            self._partitions.close()
        for operator in self._operators:
            operator.close()
        self._operators.clear()
        self._running_operators.clear()
        if self._ep is not None:
            self._ep.close()

    def _is_open(self, nodes: Sequence[Node]) -> bool:
        """Whether nodes can be claimed: as in ORT, a provider may name nodes that are taken, and does not get them."""
        taken = next((node for node in nodes if node.provider is not None), None)
        if taken is not None and taken.provider != self.name:
            _log.warning(
                "execution provider %r claims %s, which %r has claimed before; it does not get it",
                self.name,
                taken,
                taken.provider,
            )
        return taken is None
