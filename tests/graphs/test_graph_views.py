"""What plugins read of a graph is what ORT tells them of it, and the views keep their promises."""

from __future__ import annotations

import contextlib
import fnmatch
import gc
import json
from pathlib import Path

import onnx
import pytest
from graph_reader.graph_comparison import comparable, differences
from graph_reader.graph_goldens import COMPILED, OFFERED, locate, read_golden
from graph_reader.graph_models import MODELS, external_data
from graph_reader.reader_library import Description, GraphReader
from onnx_models import chain, graph, value

import onnx_light_ort as ort
from onnx_light_ort._native import abi
from onnx_light_ort.engine.function_expansion import inline_functions
from onnx_light_ort.engine.graph import Model
from onnx_light_ort.engine.kernel_registry import KernelContext
from onnx_light_ort.engine.model_loading import load_model
from onnx_light_ort.engine.node_order import topological_order
from onnx_light_ort.engine.type_inference import infer_model
from onnx_light_ort.host.graph_view import GraphView, ModelViews

INVALID_ARGUMENT = 2

#: Where the host's answers differ from ORT's: place, and why.
MEANT_DIFFERENCES = {
    # ORT gives an output the only type that its schema allows; package onnx's inference gives it none.
    "*.values.scaled.type": "Scaler of ai.onnx.ml has no type inference in package onnx",
    # Data propagation follows the shape through Shape and Reshape, and so knows more than ORT does.
    "*.values.reshaped.type.shape*": "package onnx infers a shape that ORT does not",
}


def planned(source: str | bytes | onnx.ModelProto) -> Model:
    model = load_model(source)
    infer_model(model, KernelContext(()))
    return model


def described(reader: GraphReader, view: GraphView | abi.GraphView) -> Description:
    """What a view says, which lives until it has said it."""
    return reader.describe(view.address)


def meant(place: str) -> bool:
    return any(fnmatch.fnmatchcase(place, pattern) for pattern in MEANT_DIFFERENCES)


def asked_of_a_provider(
    library: Path, model: Path, does: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[Description]:
    """What the reader wrote down as the execution provider of a session."""
    file = folder / "graphs.jsonl"
    monkeypatch.setenv("GRAPH_READER_FILE", str(file))
    monkeypatch.setenv("GRAPH_READER_DOES", does)
    ort.set_admission("any")
    ort.register_execution_provider_library("GraphReader", library)
    try:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "GraphReader"])
        # Compiling fails by design.
        with contextlib.suppress(ort.Error):
            ort.InferenceSession(str(model), options)
    finally:
        ort.unregister_execution_provider_library("GraphReader")
        ort.set_admission("warn")
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("name", OFFERED)
def test_plugins_read_what_ort_tells_them(
    reader_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    offered = asked_of_a_provider(reader_file, locate(name, tmp_path), "describe", tmp_path, monkeypatch)
    golden = read_golden(name, "describe")
    if name == "functions":  # What comes after is inlined, under names that each runtime makes up.
        golden, offered = golden[:1], offered[:1]
    assert len(golden) == len(offered)
    # Both ask about subgraphs before the graph that holds them; siblings come in an order that ORT does not promise.
    remaining = [comparable(description) for description in offered]
    for expected in map(comparable, golden):
        key = (expected["name"], expected["parent"], expected["outputs"])
        actual = next(item for item in remaining if (item["name"], item["parent"], item["outputs"]) == key)
        remaining.remove(actual)
        assert [row for row in differences(expected, actual) if not meant(row[0])] == []


@pytest.mark.parametrize("does", ["fuse", "fuse_and_drop"])
@pytest.mark.parametrize("name", COMPILED)
def test_a_partition_is_compiled_from_the_view_that_ort_gives(
    reader_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, does: str
) -> None:
    given = asked_of_a_provider(reader_file, locate(name, tmp_path), does, tmp_path, monkeypatch)
    actual, expected = comparable(given), comparable(read_golden(name, does))
    assert list(differences(expected, actual)) == []


def test_a_meant_difference_is_one(reader: GraphReader, tmp_path: Path) -> None:
    seen: set[str] = set()
    for name in ("attributes", "types"):
        model = planned(str(locate(name, tmp_path)))
        actual = comparable(described(reader, ModelViews(model).freeze(model.graph)))
        for place, _, _ in differences(comparable(read_golden(name, "describe"))[0], actual):
            seen |= {pattern for pattern in MEANT_DIFFERENCES if fnmatch.fnmatchcase(place, pattern)}
    assert seen == set(MEANT_DIFFERENCES)


def test_inlined_functions_are_offered_as_their_bodies(reader: GraphReader) -> None:
    model = planned(MODELS["functions"]())
    views = ModelViews(model)
    before = described(reader, views.freeze(model.graph))
    assert inline_functions(model, KernelContext(()))
    after = described(reader, views.freeze(model.graph))
    expected = read_golden("functions", "describe")[1]
    assert sorted(node["type"] for node in after["nodes"]) == sorted(node["type"] for node in expected["nodes"])
    assert len(after["initializers"]) == len(expected["initializers"])
    ids = {node["label"]: node["id"] for node in before["nodes"]}
    ids_after = {node["label"]: node["id"] for node in after["nodes"]}
    assert ids_after["Sigmoid out"] == ids["Sigmoid out"], "a node keeps its id whatever becomes of the others"
    assert len(set(ids_after.values())) == 5


def test_nodes_are_found_by_address(reader: GraphReader) -> None:
    model = planned(MODELS["branches"]())
    views = ModelViews(model)
    view, again = views.freeze(model.graph), views.freeze(model.graph)
    nodes = reader.nodes(view.address)
    assert [view.node(address) for address in nodes] == topological_order(model.graph)
    assert [again.node(address) for address in nodes] == [None] * len(nodes)
    then = next(node.subgraphs["then_branch"] for node in model.graph.nodes if node.subgraphs)
    inner = views.freeze(then)
    assert view.node(reader.nodes(inner.address)[0]) is None


def test_a_view_of_a_plugin_lends_nodes_of_the_graph(reader: GraphReader) -> None:
    model = planned(MODELS["branches"]())
    view = ModelViews(model).freeze(model.graph)
    nodes = reader.nodes(view.address)
    code, made, its_node = reader.view(view.address, nodes[2])
    assert code == 0
    assert its_node != nodes[2]
    assert view.node(its_node) is view.nodes[2]
    reader.release_view(made)


def test_a_view_of_a_plugin_outlives_the_graph(reader: GraphReader) -> None:
    model = planned(MODELS["branches"]())
    view = ModelViews(model).freeze(model.graph)
    _, made, _ = reader.view(view.address, reader.nodes(view.address)[0])
    expected = reader.describe(made)
    del view, model
    gc.collect()
    assert reader.describe(made) == expected
    reader.release_view(made)


def test_a_view_takes_no_node_of_another_graph(reader: GraphReader) -> None:
    model, other = planned(MODELS["branches"]()), planned(MODELS["branches"]())
    view, foreign = ModelViews(model).freeze(model.graph), ModelViews(other).freeze(other.graph)
    code, _, _ = reader.view(view.address, reader.nodes(foreign.address)[0])
    assert code == INVALID_ARGUMENT


def test_releasing_a_graph_that_is_lent_does_nothing(reader: GraphReader) -> None:
    model = planned(MODELS["shortcuts"]())
    view = ModelViews(model).freeze(model.graph)
    expected = described(reader, view)
    reader.release_view(view.address)
    assert described(reader, view) == expected


def test_null_is_refused_where_something_is_wanted(reader: GraphReader) -> None:
    model = planned(MODELS["initializers"]())
    view = ModelViews(model).freeze(model.graph)
    codes = reader.refusals(view.address)
    assert len(codes) > 15
    assert set(codes.values()) == {INVALID_ARGUMENT}, codes


def test_initializers_are_lent_without_a_copy(reader: GraphReader, tmp_path: Path) -> None:
    model = planned(str(external_data(tmp_path)))
    view = ModelViews(model).freeze(model.graph)
    for name in ("big", "small", "inside"):
        constant = model.graph.values[name].constant
        assert constant is not None
        assert reader.initializer_data(view.address, name) == constant.array().ctypes.data


def test_a_view_keeps_what_was_frozen(reader: GraphReader) -> None:
    model = planned(MODELS["branches"]())
    views = ModelViews(model)
    view = views.freeze(model.graph)
    expected = described(reader, view)
    first = model.graph.nodes[0]
    first.provider = "somebody"
    model.graph.nodes.pop()
    model.graph.initializers.clear()
    assert described(reader, view) == expected
    assert first in view.nodes
    changed = described(reader, views.freeze(model.graph))
    assert [node["name"] for node in changed["nodes"] if node["provider"] == "somebody"] == [first.name]


def test_a_graph_without_nodes_has_a_view(reader: GraphReader) -> None:
    model = planned(onnx.helper.make_model(graph([], [value("x")], [value("x")]), ir_version=8))
    description = described(reader, ModelViews(model).freeze(model.graph))
    assert (description["nodes"], description["inputs"], description["outputs"]) == ([], ["x"], ["x"])


def test_ten_thousand_nodes_are_asked_everything(reader: GraphReader) -> None:
    calls = {}
    for length in (1000, 10000):
        model = planned(chain(length))
        view = ModelViews(model).freeze(model.graph)
        calls[length], _ = reader.ask(view.address)
    assert calls[10000] == pytest.approx(10 * calls[1000], rel=0.01)
