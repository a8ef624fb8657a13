"""Execution providers written in Python claim nodes and partitions, and are held to what they claim."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper
from onnx_models import BOOL, FLOAT, INT64, constant, model, node, value

import onnx_light_ort as ort
from onnx_light_ort.engine.execution_provider import (
    Claim,
    DeclinedNode,
    ExecutionProvider,
    FusionClaim,
    KernelLookup,
    SingleNodeClaim,
)
from onnx_light_ort.engine.graph import Graph
from onnx_light_ort.engine.kernel_registry import KernelRegistry
from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition, ValueContract

X = np.array([[-1, 2, -3, 4]], np.float32)

# x -> Relu a -> Neg b -> Abs y, with a read twice.
MODEL = model(
    [
        node("Relu", ["x"], ["a"], name="relu"),
        node("Neg", ["a"], ["b"], name="neg"),
        node("Abs", ["b"], ["c"], name="abs"),
        node("Add", ["c", "a"], ["y"], name="add"),
    ]
)
EXPECTED = 2 * np.maximum(X, 0)


class Recorded(ExecutablePartition):
    """Runs its nodes with numpy, and writes down what happens to it."""

    def __init__(self, partition: FusedPartition, log: list[str]) -> None:
        self.partition = partition
        self.inputs: Sequence[ValueContract] = partition.input_contracts
        self.outputs: Sequence[ValueContract] = partition.output_contracts
        self.log = log

    def prepare(self) -> None:
        self.log.append(f"prepare {self.partition.name}")

    def run(self, *inputs: Any) -> Sequence[Any]:
        self.log.append(f"run {self.partition.name}")
        values = {contract.name: array for contract, array in zip(self.inputs, inputs, strict=True)}
        compute: dict[str, Callable[..., Any]] = {
            "Relu": lambda x: np.maximum(x, 0),
            "Neg": np.negative,
            "Abs": np.abs,
            "Add": np.add,
        }
        for item in self.partition.nodes:
            result = compute[item.op_type](*(values[source.name] for source in item.inputs if source is not None))
            target = item.outputs[0]
            assert target is not None
            values[target.name] = result
        return [values[contract.name] for contract in self.outputs]

    def release(self) -> None:
        self.log.append(f"release {self.partition.name}")


class Provider(ExecutionProvider):
    """Claims what a function says."""

    def __init__(self, claim: Callable[[Graph, KernelLookup], Iterable[Claim]], name: str = "TestEP") -> None:
        self.name = name
        self.claim = claim
        self.log: list[str] = []
        self.asked: list[str] = []
        self.registry = KernelRegistry(name)
        self.make: Callable[[FusedPartition], ExecutablePartition] = lambda partition: Recorded(partition, self.log)

    @property
    def kernel_registry(self) -> KernelRegistry:
        return self.registry

    def get_capability(self, graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        self.asked.append(graph.name)
        return self.claim(graph, lookup)

    def compile(self, partitions: Sequence[FusedPartition]) -> Sequence[ExecutablePartition]:
        self.log.append(f"compile {len(partitions)}")
        return [self.make(partition) for partition in partitions]

    def close(self) -> None:
        self.log.append("close")


def named(graph: Graph, *names: str) -> list[Any]:
    return [item for name in names for item in graph.nodes if item.name == name]


def fuse(*names: str, **options: Any) -> Callable[[Graph, KernelLookup], Iterable[Claim]]:
    return lambda graph, lookup: [FusionClaim(named(graph, *names), **options)]


def run(session: ort.InferenceSession, **more: Any) -> Any:
    return session.run(None, {"x": X, **more})[0]


def test_a_provider_runs_single_nodes_by_its_own_kernels() -> None:
    provider = Provider(lambda graph, lookup: [SingleNodeClaim(item) for item in graph.nodes if lookup(item)])
    provider.registry.register_kernel("", "Neg", 1, None, {"T": [FLOAT]}, lambda resolved: lambda x: x * 10)
    session = ort.InferenceSession(MODEL, providers=[provider])
    np.testing.assert_array_equal(run(session), 11 * np.maximum(X, 0))
    by_name = {row.name: row for row in session.assignment()}
    assert by_name["neg"].provider == "TestEP"
    assert by_name["neg"].kernel == "TestEP kernel Neg (1 and later; T: tensor(float))"
    assert by_name["relu"].provider == "CPUExecutionProvider"
    assert session.get_providers() == ["TestEP", "CPUExecutionProvider"]


def test_a_claim_without_a_kernel_is_refused() -> None:
    provider = Provider(lambda graph, lookup: [SingleNodeClaim(graph.nodes[0])])
    with pytest.raises(ort.EPFail, match=r"'TestEP' claims node 'relu' \(Relu\), but has no kernel"):
        ort.InferenceSession(MODEL, providers=[provider])


def test_a_provider_fuses_two_nodes_and_its_partition_lives_as_long_as_the_session() -> None:
    provider = Provider(fuse("neg", "abs", name="tail"))
    session = ort.InferenceSession(MODEL, providers=[provider])
    np.testing.assert_array_equal(run(session), EXPECTED)
    np.testing.assert_array_equal(run(session), EXPECTED)
    assert [(row.name, row.provider) for row in session.assignment()] == [
        ("relu", "CPUExecutionProvider"),
        ("neg", "TestEP"),
        ("abs", "TestEP"),
        ("add", "CPUExecutionProvider"),
    ]
    assert provider.log == ["compile 1", "prepare tail", "run tail", "run tail"]
    del session
    gc.collect()
    assert provider.log[4:] == ["release tail", "close"]


def test_the_boundary_of_a_partition_is_in_a_fixed_order() -> None:
    seen: list[FusedPartition] = []
    provider = Provider(fuse("abs", "relu", "neg"))

    def make(partition: FusedPartition) -> ExecutablePartition:
        seen.append(partition)
        return Recorded(partition, provider.log)

    provider.make = make
    np.testing.assert_array_equal(run(ort.InferenceSession(MODEL, providers=[provider])), EXPECTED)
    assert [item.name for item in seen[0].nodes] == ["relu", "neg", "abs"]
    assert [item.name for item in seen[0].inputs] == ["x"]
    assert [item.name for item in seen[0].outputs] == ["a", "c"]


def test_the_boundary_follows_a_breadth_first_walk() -> None:
    # Two chains that meet: the walk takes a step of each in turn.
    proto = model(
        [
            node("Relu", ["p"], ["a1"], name="a1"),
            node("Add", ["a1", "q"], ["a2"], name="a2"),
            node("Relu", ["r"], ["b1"], name="b1"),
            node("Add", ["b1", "s"], ["b2"], name="b2"),
            node("Add", ["b2", "a2"], ["y"], name="sum"),
            node("Neg", ["b1"], ["z2"], name="outside2"),
            node("Neg", ["a1"], ["z1"], name="outside1"),
        ],
        [value(name) for name in "pqrs"],
        [value("y"), value("z2"), value("z1")],
    )
    seen: list[FusedPartition] = []
    provider = Provider(fuse("sum", "a1", "a2", "b1", "b2"))
    provider.make = lambda partition: seen.append(partition) or Recorded(partition, provider.log)  # type: ignore[func-returns-value]
    ort.InferenceSession(proto, providers=[provider])
    assert [item.name for item in seen[0].inputs] == ["p", "r", "q", "s"]
    assert [item.name for item in seen[0].outputs] == ["a1", "b1", "y"]


def test_constants_are_inputs_of_a_partition_unless_it_drops_them() -> None:
    proto = model([node("Add", ["x", "w"], ["y"], name="add")], initializers=[constant("w", [1, 2, 3, 4])])
    for drop, inputs in ((False, ["x", "w"]), (True, ["x"])):
        seen: list[FusedPartition] = []
        provider = Provider(fuse("add", drop_constants=drop))

        def make(partition: FusedPartition, seen: list[FusedPartition] = seen) -> ExecutablePartition:
            seen.append(partition)
            made = Recorded(partition, [])
            held = {item.name: item.constant.array() for item in partition.constants if item.constant is not None}
            made.run = lambda *arrays: [arrays[0] + held["w"]]  # type: ignore[method-assign]
            return made

        provider.make = make
        session = ort.InferenceSession(proto, providers=[provider])
        np.testing.assert_array_equal(run(session), X + np.arange(1, 5))
        assert [item.name for item in seen[0].inputs] == inputs
        assert [item.name for item in seen[0].constants] == ["w"]


def test_providers_are_asked_in_the_callers_order_and_the_first_claim_counts() -> None:
    def everything(graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        free = [item for item in graph.nodes if item.provider is None]
        return [FusionClaim(free)] if free else []

    first, second = Provider(fuse("relu"), "first"), Provider(everything, "second")
    session = ort.InferenceSession(MODEL, providers=[first, second])
    np.testing.assert_array_equal(run(session), EXPECTED)
    assert [row.provider for row in session.assignment()] == ["first", "second", "second", "second"]
    third = Provider(everything, "third")
    fourth = Provider(everything, "fourth")
    assert [row.provider for row in ort.InferenceSession(MODEL, providers=[third, fourth]).assignment()] == [
        "third"
    ] * 4


def test_reasons_for_declining_are_reported() -> None:
    provider = Provider(lambda graph, lookup: [DeclinedNode(graph.nodes[0], "too small")])
    rows = ort.InferenceSession(MODEL, providers=[provider]).assignment()
    assert "TestEP: too small" in [str(item) for item in rows[0].declined]
    assert "TestEP: not claimed" in [str(item) for item in rows[1].declined]


def test_subgraphs_are_offered_before_the_graph_that_holds_them() -> None:
    inner = helper.make_graph([node("Neg", ["x"], ["t"], name="inner")], "inner", [], [value("t")])
    outer = helper.make_graph(
        [node("If", ["c"], ["s"], name="if2", then_branch=inner, else_branch=inner)], "outer", [], [value("s")]
    )
    proto = model(
        [node("If", ["c"], ["y"], name="if1", then_branch=outer, else_branch=outer)],
        [value("c", BOOL, []), value("x")],
        name="main",
    )
    provider = Provider(lambda graph, lookup: [FusionClaim(named(graph, "inner"))] if named(graph, "inner") else [])
    session = ort.InferenceSession(proto, providers=[provider])
    assert provider.asked == ["inner", "inner", "outer", "inner", "inner", "outer", "main"]
    np.testing.assert_array_equal(run(session, c=np.array(True)), -X)
    assert "compile 1" in provider.log


def test_a_provider_is_asked_about_all_graphs_before_the_next_one() -> None:
    inner = helper.make_graph([node("Neg", ["x"], ["t"], name="inner")], "inner", [], [value("t")])
    proto = model(
        [node("If", ["c"], ["y"], name="if", then_branch=inner, else_branch=inner)],
        [value("c", BOOL, []), value("x")],
        name="main",
    )
    first = Provider(lambda graph, lookup: [FusionClaim(nodes)] if (nodes := named(graph, "if")) else [], "first")
    second = Provider(lambda graph, lookup: [], "second")
    session = ort.InferenceSession(proto, providers=[first, second])
    assert first.asked == ["inner", "inner", "main"]
    assert second.asked == ["main"], "the subgraphs went with the node that the first provider claimed"
    assert [row.provider for row in session.assignment() if row.name == "if"] == ["first"]


def test_a_partition_of_a_subgraph_whose_node_is_claimed_is_not_prepared() -> None:
    inner = helper.make_graph([node("Neg", ["x"], ["t"], name="inner")], "inner", [], [value("t")])
    proto = model(
        [node("If", ["c"], ["y"], name="if", then_branch=inner, else_branch=inner)],
        [value("c", BOOL, []), value("x")],
        name="main",
    )
    provider = Provider(lambda graph, lookup: [FusionClaim(graph.nodes)])
    made: list[FusedPartition] = []

    def make(partition: FusedPartition) -> ExecutablePartition:
        made.append(partition)
        return Recorded(partition, provider.log)

    provider.make = make
    session = ort.InferenceSession(proto, providers=[provider])
    names = [partition.name for partition in made]
    assert len(set(names)) == 3, "also partitions of graphs of one name have names of their own"
    assert [line for line in provider.log if line.startswith("prepare")] == [f"prepare {names[2]}"]
    assert {item.name for item in made[2].inputs} == {"c", "x"}, "what the subgraphs capture is an input"
    del session
    gc.collect()
    assert [line for line in provider.log if line.startswith("release")] == [f"release {name}" for name in names[::-1]]


def test_a_model_local_function_is_offered_whole_and_then_inlined() -> None:
    function = helper.make_function(
        "local",
        "F",
        ["a"],
        ["b"],
        [node("Relu", ["a"], ["t"], name="r"), node("Neg", ["t"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    proto = model([node("F", ["x"], ["y"], name="f", domain="local")], imports=[("local", 1)], functions=[function])
    seen: list[list[str]] = []

    def look(graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        seen.append([item.op_type for item in graph.nodes])
        return []

    session = ort.InferenceSession(proto, providers=[Provider(look)])
    np.testing.assert_array_equal(run(session), -np.maximum(X, 0))
    assert seen == [["F"], ["Relu", "Neg"]]
    assert [row.expanded_from for row in session.assignment()] == ["f", "f"]

    def claim(graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        return [FusionClaim([item for item in graph.nodes if item.op_type == "F"])]

    provider = Provider(claim)
    provider.make = lambda partition: Whole(partition)
    np.testing.assert_array_equal(run(ort.InferenceSession(proto, providers=[provider])), X * 3)


class Whole(ExecutablePartition):
    def __init__(self, partition: FusedPartition) -> None:
        self.inputs = partition.input_contracts
        self.outputs = partition.output_contracts

    def run(self, *inputs: Any) -> Sequence[Any]:
        return [inputs[0] * 3]


def refusal(claim: Callable[[Graph, KernelLookup], Iterable[Claim]], proto: ModelProto = MODEL) -> str:
    with pytest.raises(ort.EPFail) as caught:
        ort.InferenceSession(proto, providers=[Provider(claim)])
    assert "'TestEP'" in str(caught.value)
    return str(caught.value)


def test_a_partition_around_an_unclaimed_node_is_refused_with_the_path() -> None:
    message = refusal(fuse("relu", "abs"))
    assert "node 'relu' (Relu) -> node 'neg' (Neg) -> node 'abs' (Abs)" in message


def test_two_partitions_that_need_each_other_are_refused() -> None:
    # a and d in one, b and c in the other: each alone is fine.
    proto = model(
        [
            node("Relu", ["x"], ["p"], name="a"),
            node("Neg", ["p"], ["q"], name="b"),
            node("Relu", ["x"], ["r"], name="c"),
            node("Neg", ["r"], ["s"], name="d"),
            node("Add", ["q", "s"], ["y"], name="e"),
        ]
    )
    message = refusal(
        lambda graph, lookup: [FusionClaim(named(graph, "a", "d"), "one"), FusionClaim(named(graph, "b", "c"), "two")],
        proto,
    )
    assert "need each other" in message
    assert "'one'" in message
    assert "'two'" in message


def test_claims_of_what_cannot_be_had_are_refused() -> None:
    strangers: list[Graph] = []

    def keep(graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        strangers.append(graph)
        return []

    ort.InferenceSession(MODEL, providers=[Provider(keep)])
    (stranger,) = strangers
    assert "is no node of graph" in refusal(lambda graph, lookup: [FusionClaim([stranger.nodes[0]])])
    assert "is no node of graph" in refusal(lambda graph, lookup: [SingleNodeClaim(stranger.nodes[0])])
    assert "twice" in refusal(fuse("relu", "relu"))
    assert "without nodes" in refusal(fuse())
    overlap = refusal(
        lambda graph, lookup: [FusionClaim(named(graph, "relu", "neg")), FusionClaim(named(graph, "neg", "abs"))]
    )
    assert "'neg'" in overlap
    assert "claimed already" in overlap
    assert "no claim" in refusal(lambda graph, lookup: ["relu"])  # type: ignore[list-item]


def failing(message: str) -> Callable[..., Any]:
    def fail(*anything: Any) -> Any:
        raise RuntimeError(message)

    return fail


def test_an_error_of_a_provider_names_it_and_undoes_what_was_made() -> None:
    assert "broken" in refusal(failing("broken"))
    provider = Provider(lambda graph, lookup: [FusionClaim(named(graph, "relu")), FusionClaim(named(graph, "abs"))])
    made: list[ExecutablePartition] = []

    def one_of_two(partitions: Sequence[FusedPartition]) -> Sequence[ExecutablePartition]:
        made.append(Recorded(partitions[0], provider.log))
        return made

    provider.compile = one_of_two  # type: ignore[method-assign]
    with pytest.raises(ort.EPFail, match="compiled 1 of the 2 partitions"):
        ort.InferenceSession(MODEL, providers=[provider])
    assert provider.log == ["release TestEP_g_0", "close"]


@pytest.mark.parametrize(
    ("outputs", "part"),
    [
        ([ValueContract("nope", FLOAT, None)], "'nope'"),
        ([], "does not make its outputs"),
        ([ValueContract("b", INT64, None)], "tensor(int64)"),
        ([ValueContract("b", FLOAT, None, "gpu")], "'gpu' memory"),
        ([ValueContract("b", FLOAT, None)] * 2, "twice"),
    ],
    ids=["unknown", "missing", "type", "memory", "twice"],
)
def test_an_executable_of_another_boundary_is_refused(outputs: list[ValueContract], part: str) -> None:
    provider = Provider(fuse("neg"))

    def make(partition: FusedPartition) -> ExecutablePartition:
        made = Recorded(partition, provider.log)
        made.outputs = outputs
        return made

    provider.make = make
    with pytest.raises(ort.EPFail) as caught:
        ort.InferenceSession(MODEL, providers=[provider])
    assert part in str(caught.value)
    assert provider.log[-1] == "close"


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (lambda x: [], "0 outputs instead of 1"),
        (lambda x: [x.astype(np.float64)], "float64"),
        (lambda x: [x[:, :2]], "shape"),
        (failing("numerical trouble"), "numerical trouble"),
    ],
    ids=["count", "dtype", "shape", "error"],
)
def test_a_partition_that_breaks_its_contract_fails_the_run_and_not_the_session(result: Any, part: str) -> None:
    provider = Provider(fuse("neg"))
    broken = [True]

    def make(partition: FusedPartition) -> ExecutablePartition:
        made = Recorded(partition, provider.log)
        right = made.run

        def run_either(*inputs: Any) -> Any:
            return result(*inputs) if broken[0] else right(*inputs)

        made.run = run_either  # type: ignore[method-assign]
        return made

    provider.make = make
    session = ort.InferenceSession(MODEL, providers=[provider])
    with pytest.raises(ort.Error, match=part):
        run(session)
    broken[0] = False
    np.testing.assert_array_equal(run(session), EXPECTED)


def test_a_profile_names_the_provider_of_a_partition() -> None:
    options = ort.SessionOptions()
    options.enable_profiling = True
    session = ort.InferenceSession(MODEL, options, providers=[Provider(fuse("neg", "abs", name="tail"))])
    run(session)
    assert session.profile is not None
    providers = {event["name"]: event["args"].get("provider") for event in session.profile.events()}
    assert providers["tail_kernel_time"] == "TestEP"
    assert providers["relu_kernel_time"] == "CPUExecutionProvider"


def test_options_make_a_provider_for_each_session() -> None:
    made: list[Provider] = []

    def factory(options: ort.SessionOptions) -> Provider:
        made.append(Provider(fuse("neg", "abs")))
        return made[-1]

    options = ort.SessionOptions()
    options.add_provider_factory(factory)
    for _ in range(2):
        np.testing.assert_array_equal(run(ort.InferenceSession(MODEL, options)), EXPECTED)
    assert len(made) == 2


def test_nodes_are_not_left_to_the_engine_where_the_session_forbids_it() -> None:
    options = ort.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    with pytest.raises(ort.Fail, match="no provider takes 1 nodes: 'add'") as caught:
        ort.InferenceSession(MODEL, options, providers=[Provider(fuse("relu", "neg", "abs"))])
    assert type(caught.value) is ort.Fail
    whole = ort.InferenceSession(MODEL, options, providers=[Provider(fuse("relu", "neg", "abs", "add"))])
    assert {row.provider for row in whole.assignment()} == {"TestEP"}
    with pytest.raises(ort.InvalidArgument, match="CPUExecutionProvider"):
        ort.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
