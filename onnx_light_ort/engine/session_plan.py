"""From a model to a plan: every stage of planning, in order."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from onnx_light_ort import errors
from onnx_light_ort._native import engine as native
from onnx_light_ort.engine.assignment import ENGINE, NodeAssignment
from onnx_light_ort.engine.constant_folding import fold_constants
from onnx_light_ort.engine.dead_nodes import drop_dead_nodes, no_op_aliases
from onnx_light_ort.engine.execution_provider import ExecutionProvider
from onnx_light_ort.engine.function_expansion import expand, inline_functions, schema_function
from onnx_light_ort.engine.graph import CONTROL_FLOW, Graph, Model, Node, Value
from onnx_light_ort.engine.kernel import KernelProduct
from onnx_light_ort.engine.kernel_registry import Decline, KernelContext, KernelEntry, KernelRegistry
from onnx_light_ort.engine.model_loading import ModelSource, load_model
from onnx_light_ort.engine.operator_schema import ForeignOperator
from onnx_light_ort.engine.partition import partition_callable
from onnx_light_ort.engine.placement import Placement
from onnx_light_ort.engine.plan_writing import PlanWriter
from onnx_light_ort.engine.run_context import ParallelFor
from onnx_light_ort.engine.type_inference import infer_model

Progress = Callable[[str], None]
"""Told the name of each stage as it begins."""


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Planning makes many objects that stay; the collector would walk all of them again and again, and find nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class SessionPlan:
    """A model ready to run.

    Owns what the run needs: the executor with its plan, whose kernels hold the constants, and the placement with the
    providers' partitions. :meth:`close` gives it up.

    Raises, when made:
        Error: the model is wrong, an operator has no kernel, or a provider fails; see the stages.
    """

    def __init__(
        self,
        source: ModelSource,
        *,
        providers: Sequence[ExecutionProvider] = (),
        registries: Sequence[KernelRegistry] = (),
        intra_op_num_threads: int = 0,
        memory_budget: native.MemoryBudget | None = None,
        optimize: bool = True,
        inline_ahead: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self._stage = progress or (lambda name: None)
        self._optimize = optimize
        self._context = KernelContext(registries)
        self._parallel_for = ParallelFor(intra_op_num_threads)
        self._kernels: dict[Node, KernelProduct] = {}
        self._entries: dict[Node, KernelEntry] = {}
        self._declined: dict[Node, list[Decline]] = {}
        self.placement = Placement(providers)
        with _collector_paused():
            try:
                self._stage("load")
                self.model: Model = load_model(source)
                self._source_nodes = list(self.model.graph.all_nodes())
                plan = self._plan(inline_ahead)
                self.executor = native.Executor(plan, intra_op_num_threads, memory_budget or native.MemoryBudget(0))
            except BaseException:
                self.close()
                raise

    def _plan(self, inline_ahead: bool) -> native.Plan:
        model, stage = self.model, self._stage
        stage("infer types")
        infer_model(model, self._context)
        if self._optimize:
            stage("fold constants")
            self._fold_constants()
        stage("place")
        self.placement.open(model)
        if inline_ahead and model.functions:
            # A call that nobody is going to claim is no border between the nodes around it.
            while inline_functions(model, self._context, wanted=self.placement.foreseen):
                self._fold_constants()
        self.placement.place(model)
        may_inline = bool(model.functions or self.placement.providers)
        while may_inline and inline_functions(model, self._context, self._gives_way):
            self._fold_constants()
            self.placement.place(model)
            self._forget_kernels_of_claimed_nodes()
        stage("choose kernels")
        drop_dead_nodes(model.graph)
        if self._choose_kernels(model.graph):
            self._fold_constants()
            drop_dead_nodes(model.graph)
        aliases = no_op_aliases(model.graph) if self._optimize else {}
        self.placement.prepare(model)
        stage("write plan")
        plan = PlanWriter(model.graph, self._kernel, self._parallel_for, aliases).write()
        self._release_constants()
        return plan

    def _fold_constants(self) -> None:
        if self._optimize:
            fold_constants(self.model.graph, self._find_kernel, self._evaluate)

    def _gives_way(self, node: Node) -> bool:
        """Whether a node that has a body is replaced by it while providers are still asked."""
        return node.function is not None or (bool(self.placement.providers) and not self._has_kernel(node))

    def _forget_kernels_of_claimed_nodes(self) -> None:
        """A provider may take an operator once another one beside it gave way to its body."""
        for node in [node for node in self._kernels if node.provider is not None]:
            del self._kernels[node], self._entries[node]

    def _release_constants(self) -> None:
        """Gives up what planning knew of constants: plan and kernels hold what they need, and no more is to stay."""
        for graph in self.model.graph.all_graphs():
            for value in graph.values.values():
                value.constant = None
            graph.initializers.clear()

    @property
    def has_numpy_kernels(self) -> bool:
        """Whether a run computes with numpy, whose floating-point warnings are then to be silenced."""
        return any(entry.registry == "python" for entry in self._entries.values())

    def close(self) -> None:
        """Releases partitions, providers and kernels. The executor must not run any more."""
        self._kernels.clear()
        self.placement.close()
        self._parallel_for.close()
        # An exception of a session that could not be made may keep this plan; its kernels would keep their providers.
        if hasattr(self, "executor"):
            del self.executor

    def assignment(self) -> list[NodeAssignment]:
        """Who runs each node, and why others do not; see :class:`NodeAssignment`."""
        executed: dict[Node, list[NodeAssignment]] = {}
        for node in self.model.graph.all_nodes():
            for source, row in self._assignments(node):
                executed.setdefault(source.origin or source, []).append(row)
        return [
            row
            for source in self._source_nodes
            for row in executed.get(source) or [NodeAssignment.of(source, ENGINE, source.fate or "dropped", ())]
        ]

    def _assignments(self, node: Node) -> Iterator[tuple[Node, NodeAssignment]]:
        """A node of the plan with its row; of a partition, its nodes with theirs."""
        partition = node.partition
        if partition is None:
            yield node, self._assignment(node)
            if node.provider is not None:
                yield from _held(node, node.provider, None)
            return
        for inner in partition.nodes:
            declined = self.placement.declines(inner)
            yield inner, NodeAssignment.of(inner, partition.provider, "partition", declined, partition.name)
            yield from _held(inner, partition.provider, partition.name)

    def _assignment(self, node: Node) -> NodeAssignment:
        declined = [*self.placement.declines(node), *self._declined.get(node, ())]
        entry = self._entries.get(node)
        if node.provider is not None:
            kernel = str(entry)
        elif node.fate is not None:
            kernel = node.fate
        elif entry is None:
            kernel = "control flow" if node.op_type in CONTROL_FLOW else f"operator {node.operator!r}"
        else:
            kernel = str(entry)
            before = self._context.registries[: self._context.position(entry)]
            declined = [*self.placement.declines(node), *(d for r in before for d in r.declines(node)),
                        *self._declined.get(node, ())]  # fmt: skip
        return NodeAssignment.of(node, node.provider or ENGINE, kernel, declined)

    # Kernels

    def _choose_kernels(self, graph: Graph) -> bool:
        """Finds every node's kernel, and expands operators that have none but a function body; true when it did."""
        expanded = False
        for inner in list(graph.all_graphs()):
            bodies = {node: self._expansion(node) for node in inner.nodes if not self._has_kernel(node)}
            if bodies:
                expanded = True
                inner.nodes = [made for node in inner.nodes for made in bodies.get(node, (node,))]
                for index, node in enumerate(inner.nodes):
                    node.index = index
        return expanded

    def _has_kernel(self, node: Node) -> bool:
        if node.partition is not None:
            return True
        if node.op_type in CONTROL_FLOW and node.domain == "" and node.provider is None:
            # Scan of opset 8 has a batch dimension, and is a loop over Scans of opset 9.
            return node.op_type != "Scan" or node.since_version > 8
        return self._find_kernel(node)

    def _find_kernel(self, node: Node) -> bool:
        """Makes the node's kernel: the first candidate that does not decline."""
        if node in self._kernels:
            return True
        if node.provider is not None:
            entry = self.placement.kernel(node)
            self._kernels[node] = entry.factory(node)
            self._entries[node] = entry
            return True
        operator = node.operator
        self._declined.pop(node, None)
        for entry in self._context.candidates(node):
            try:
                self._kernels[node] = entry.factory(node)
            except errors.NotImplemented as error:
                self._declined.setdefault(node, []).append(Decline(str(entry), str(error)))
                continue
            except errors.Error:
                raise
            except Exception as error:
                raise errors.Fail(
                    f"{node}: {entry} cannot be made, so an attribute or type is probably wrong: "
                    f"{type(error).__name__}: {error}"
                ) from error
            self._entries[node] = entry
            return True
        if isinstance(operator, ForeignOperator):
            self._kernels[node] = operator.create_kernel(node)
            return True
        return False

    def _expansion(self, node: Node, depth: int = 0) -> list[Node]:
        """The nodes of the operator's function body, each with a kernel.

        Raises:
            NotImplemented: there is no function body either; the message gives the reason of each registry.
        """
        function = schema_function(node)
        if function is None or depth > 16:
            raise errors.NotImplemented(
                f"{node}: no kernel computes version {node.since_version}: {'; '.join(map(str, self._declines(node)))}"
            )
        result: list[Node] = []
        for inner in expand(node, function, self._context, self.model):
            for subgraph in inner.subgraphs.values():
                self._choose_kernels(subgraph)
            if self._has_kernel(inner):
                result.append(inner)
            else:
                result.extend(self._expansion(inner, depth + 1))
        return result

    def _declines(self, node: Node) -> list[Decline]:
        return [*self._context.declines(node), *self._declined.get(node, ())]

    def _kernel(self, node: Node) -> KernelProduct:
        """What runs a node in the plan."""
        made = self._kernels.pop(node, None)
        if made is not None:
            return made
        partition = node.partition
        if partition is not None:
            executable = partition.executable
            assert executable is not None
            kernel = executable.native_kernel()
            return partition_callable(partition, executable) if kernel is None else kernel
        if not self._find_kernel(node):
            raise errors.NotImplemented(f"{node}: no kernel computes it")
        return self._kernels.pop(node)

    def _evaluate(self, nodes: Sequence[Node], wanted: Sequence[Value]) -> list[Any]:
        """Runs nodes on constants, with the kernels that would run them in the plan."""
        graph = Graph("constants", None)
        graph.outputs = list(wanted)
        graph.nodes = list(nodes)
        plan = PlanWriter(graph, self._kernel, self._parallel_for, {}).write()
        with np.errstate(all="ignore"):
            outputs: list[Any] = native.Executor(plan, 1, native.MemoryBudget(0)).run(None, {})
        return outputs


def _held(holder: Node, provider: str, partition: str | None) -> Iterator[tuple[Node, NodeAssignment]]:
    """The nodes of the subgraphs of a node that a provider runs, whoever had claimed them before."""
    for subgraph in holder.subgraphs.values():
        for node in subgraph.all_nodes():
            for inner in node.partition.nodes if node.partition is not None else (node,):
                yield inner, NodeAssignment.of(inner, provider, f"inside {holder}", (), partition)
                if node.partition is not None:
                    yield from _held(inner, provider, partition)
