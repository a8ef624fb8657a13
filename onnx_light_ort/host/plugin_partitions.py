"""Partitions that a plugin EP compiles and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onnx_light_ort import errors
from onnx_light_ort._native import abi
from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition

if TYPE_CHECKING:
    from onnx_light_ort._native import engine as native
    from onnx_light_ort.host.graph_view import GraphView, ModelViews


#: Entries of a session that ask for what is made here for one session only, and never written down.
_REFUSED_ENTRIES = {
    "ep.context_enable": "compiled models (EPContext) are not written",
    "ep.enable_weightless": "weightless models are not supported",
    "ep.enable_weightless_ep_context_nodes": "weightless models are not supported",
}

_DISABLE_COMPILATION = "session.disable_model_compile"


def check_entries(config: Mapping[str, str]) -> None:
    """Checks that a session's configuration entries do not ask for a model to be compiled for later.

    Raises:
        NotImplemented: they do; the message names the entry.
    """
    for key, reason in _REFUSED_ENTRIES.items():
        if config.get(key, "0") != "0":
            raise errors.NotImplemented(f"session entry {key!r} is {config[key]!r}, but {reason}: leave the entry out")


class PluginPartitions:
    """All that one plugin EP compiles for one session.

    Args:
        ep: of the session; kept until everything that it compiled is released.
        config: the session's configuration entries.
    """

    def __init__(self, ep: abi.Ep, config: Mapping[str, str]) -> None:
        self._is_disabled = config.get(_DISABLE_COMPILATION, "0") == "1"
        self._name = ep.name
        self._compilation: abi.EpCompilation | None = abi.EpCompilation(ep)

    def compile(
        self, views: ModelViews, offered: GraphView, partitions: Sequence[FusedPartition]
    ) -> list[PluginPartition]:
        """Lets the EP compile the partitions of one graph.

        Args:
            views: of the model.
            offered: the view of the graph as it was when the EP claimed the nodes.

        Raises:
            ModelRequiresCompilation: the session does not allow it.
            Error: what the EP reports, or what it leaves out, with its name and the partition's.
        """
        assert self._compilation is not None
        if self._is_disabled:
            names = ", ".join(repr(partition.name) for partition in partitions)
            raise errors.ModelRequiresCompilation(
                f"execution provider {self._name!r} has to compile {names}, and session entry "
                f"{_DISABLE_COMPILATION!r} is '1': set it to '0', or leave the provider out"
            )
        fused = {node.partition: node for node in partitions[0].graph.nodes if node.partition is not None}
        parts = [(offered.part(partition), partition.name, views.node_id(fused[partition])) for partition in partitions]
        compiled = self._compilation.compile(parts)
        return [PluginPartition(partition, item) for partition, item in zip(partitions, compiled, strict=True)]

    def close(self) -> None:
        """Releases what the EP compiled. Every partition has been released."""
        self._compilation = None


class PluginPartition(ExecutablePartition):
    """A partition with the state that its EP made for the session. Runs in C++ only."""

    def __init__(self, partition: FusedPartition, compiled: abi.CompiledPartition) -> None:
        self.inputs = partition.input_contracts
        self.outputs = partition.output_contracts
        self._compiled = compiled

    def prepare(self) -> None:
        self._compiled.create_state()

    def native_kernel(self) -> native.Kernel:
        return self._compiled.kernel

    def run(self, *inputs: Any) -> Sequence[Any]:
        raise NotImplementedError("a compiled partition runs by its native kernel")

    def release(self) -> None:
        self._compiled.release()
