"""Writes the plan that the executor runs: values become slots, nodes become steps."""

from __future__ import annotations

from collections.abc import Callable

from onnx_light_ort._native import engine as native
from onnx_light_ort.engine.graph import Graph, Node, Value
from onnx_light_ort.engine.kernel import KernelProduct, python_callable
from onnx_light_ort.engine.operator_schema import ForeignOperator
from onnx_light_ort.engine.run_context import ParallelFor
from onnx_light_ort.errors import Fail

_ABSENT = -1

KernelMaker = Callable[[Node], KernelProduct]


class PlanWriter:
    """Writes the plan of one graph, and by writers of their own those of its subgraphs.

    Args:
        aliases: values that are others under another name; the nodes that make them are no steps.
    """

    def __init__(
        self,
        graph: Graph,
        make_kernel: KernelMaker,
        parallel_for: ParallelFor,
        aliases: dict[Value, Value],
        outer: PlanWriter | None = None,
    ) -> None:
        self._graph = graph
        self._make_kernel = make_kernel
        self._parallel_for = parallel_for
        self._aliases = aliases
        self._outer = outer
        self._builder = native.PlanBuilder()
        self._slots: dict[Value, int] = {}
        #: What somebody reads; None, for inputs that are left out, may be among it.
        self._read: set[Value | None] = set()
        #: What only the model's caller reads, who can do without the optional outputs of foreign kernels.
        self._only_results: frozenset[Value] = frozenset()

    def write(self) -> native.Plan:
        """The frozen plan."""
        graph, builder, slots = self._graph, self._builder, self._slots
        aliases, read = self._aliases, self._read
        for node in graph.nodes:
            read.update(node.inputs)
            if node.captures:
                read.update(node.captures)
        if self._outer is None:
            self._only_results = frozenset(graph.outputs) - read
        read.update(graph.outputs)
        for value in graph.inputs:
            slots[value] = slot = builder.add_value(value.name)
            shape = value.shape
            dims = None if shape is None else [dim if isinstance(dim, int) else None for dim in shape]
            builder.add_input(slot, value.name, value.element_type, dims)
        for node in graph.nodes:
            if not node.outputs or node.outputs[0] not in aliases:
                self._add_step(node)
        for value in graph.outputs:
            builder.add_output(self._slot(value), value.name)
        return builder.build()

    def _slot(self, value: Value | None) -> int:
        """The slot that a value is read from."""
        if value is None:
            return _ABSENT
        value = self._aliases.get(value, value)
        slot = self._slots.get(value)
        if slot is not None:
            return slot
        slot = int(self._builder.add_value(value.name))
        if value.constant is not None:
            self._builder.add_constant(slot, value.constant.array())
        elif value.graph is self._graph or self._outer is None:
            raise Fail(f"value {value.name!r} is read before it is made")
        else:
            self._builder.add_capture(slot, self._outer._slot(value), value.element_type)
        self._slots[value] = slot
        return slot

    def _output_slots(self, node: Node) -> tuple[list[int], list[int]]:
        """Slots and types of a node's outputs; those that nobody reads are left out.

        A foreign kernel is given every tensor that the model names: it may count on what its own runtime gives it.
        """
        slots: list[int] = []
        types: list[int] = []
        for value in node.outputs:
            if value is None:
                slots.append(_ABSENT)
                types.append(0)
                continue
            element_type = value.element_type
            if value in self._read or (element_type and _is_foreign(node)):
                slot = self._slots[value] = self._builder.add_value(value.name)
                slots.append(slot)
            else:
                slots.append(_ABSENT)
            types.append(element_type)
        return slots, types

    def _add_step(self, node: Node) -> None:
        if node.subgraphs and node.partition is None and node.provider is None and node.domain == "":
            add = _CONTROL_FLOW.get(node.op_type)
            if add is not None:
                add(self, node)
                return
        kernel = self._make_kernel(node)
        slots = self._slots
        inputs: list[int] = []
        for value in node.inputs if node.partition is None else step_inputs(node):
            slot = slots.get(value)  # type: ignore[arg-type]
            inputs.append(self._slot(value) if slot is None else slot)
        outputs, types = self._output_slots(node)
        if isinstance(kernel, native.Kernel):
            dispensable = self._dispensable_outputs(node)
            self._builder.add_kernel_step(node.name, node.op_type, kernel, inputs, outputs, types, dispensable)
        else:
            function = python_callable(kernel, node, [slot != _ABSENT for slot in outputs], self._parallel_for)
            self._builder.add_python_step(node.name, node.op_type, function, inputs, outputs, types)

    def _dispensable_outputs(self, node: Node) -> list[bool]:
        """Which outputs a kernel may leave unmade though they are read; empty where it has to make all."""
        operator = node.operator
        if not isinstance(operator, ForeignOperator) or self._only_results.isdisjoint(node.outputs):
            return []
        formals = [operator.output(index) for index in range(len(node.outputs))]
        return [
            value in self._only_results and formal is not None and formal.option == "optional"
            for value, formal in zip(node.outputs, formals, strict=True)
        ]

    def _body(self, node: Node, name: str) -> native.Plan:
        graph = node.subgraphs.get(name)
        if graph is None:
            raise Fail(f"{node}: it has no subgraph {name!r}")
        return PlanWriter(graph, self._make_kernel, self._parallel_for, self._aliases, self).write()

    def _add_if(self, node: Node) -> None:
        condition = self._slot(node.inputs[0])
        then_branch, else_branch = self._body(node, "then_branch"), self._body(node, "else_branch")
        outputs, types = self._output_slots(node)
        self._builder.add_if_step(node.name, condition, then_branch, else_branch, outputs, types)

    def _add_loop(self, node: Node) -> None:
        inputs = [self._slot(value) for value in (*node.inputs, None, None)[: max(2, len(node.inputs))]]
        body = self._body(node, "body")
        states = len(inputs) - 2
        dims = [_element_dims(value) for value in node.subgraphs["body"].outputs[1 + states :]]
        outputs, types = self._output_slots(node)
        self._builder.add_loop_step(node.name, inputs[0], inputs[1], inputs[2:], body, outputs, types, dims)

    def _add_scan(self, node: Node) -> None:
        attributes = node.attributes
        scan_inputs = attributes["num_scan_inputs"]
        states = len(node.inputs) - scan_inputs
        # onnx's inference sees to the axes, and to neither number nor values of the directions.
        for name, count in (
            ("scan_input_directions", scan_inputs),
            ("scan_output_directions", len(node.outputs) - states),
        ):
            directions = attributes.get(name) or [0] * count
            if len(directions) != count or not set(directions) <= {0, 1}:
                raise Fail(f"{node}: {name} is {list(directions)}, and {count} numbers are needed, each 0 or 1")
        inputs = [self._slot(value) for value in node.inputs]
        body = self._body(node, "body")
        dims = [_element_dims(value) for value in node.subgraphs["body"].outputs[states:]]
        outputs, types = self._output_slots(node)
        self._builder.add_scan_step(
            node.name,
            inputs[:states],
            inputs[states:],
            body,
            outputs,
            types,
            attributes.get("scan_input_axes", []),
            attributes.get("scan_output_axes", []),
            attributes.get("scan_input_directions", []),
            attributes.get("scan_output_directions", []),
            dims,
        )


_CONTROL_FLOW: dict[str, Callable[[PlanWriter, Node], None]] = {
    "If": PlanWriter._add_if,
    "Loop": PlanWriter._add_loop,
    "Scan": PlanWriter._add_scan,
}


def _is_foreign(node: Node) -> bool:
    return isinstance(node.operator, ForeignOperator) or node.provider is not None


def step_inputs(node: Node) -> list[Value | None]:
    """What a node's step reads, in the order of its kernel: a partition has an order of its own."""
    partition = node.partition
    if partition is None or partition.executable is None:
        return node.inputs
    by_name = {value.name: value for value in partition.inputs}
    return [by_name[contract.name] for contract in partition.executable.inputs]


def _element_dims(value: Value) -> list[int]:
    shape = value.shape
    return [] if shape is None else [dim if isinstance(dim, int) else -1 for dim in shape]
