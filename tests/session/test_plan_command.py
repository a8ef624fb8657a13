"""``onnx-light-ort plan``: who runs what, for people, for programs and as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper
from onnx_models import model, node, value

from onnx_light_ort.cli import main
from onnx_light_ort.cli.layered_layout import layered_layout
from onnx_light_ort.cli.plan_page import plan_page
from onnx_light_ort.engine.execution_provider import Claim, ExecutionProvider, FusionClaim, KernelLookup
from onnx_light_ort.engine.graph import Graph
from onnx_light_ort.engine.partition import ExecutablePartition, FusedPartition
from onnx_light_ort.session import InferenceSession


@pytest.fixture
def path(tmp_path: Path) -> Path:
    nodes = [
        node("Relu", ["x"], ["a"], name="first"),
        node("Neg", ["a"], ["b"], name="<script>alert(1)</script>"),
        node("Add", ["a", "b"], ["y"], name="last"),
    ]
    file = tmp_path / "m.onnx"
    file.write_bytes(model(nodes, [value("x")]).SerializeToString())
    return file


def branching_model() -> bytes:
    branches = {
        name: helper.make_graph(
            [helper.make_node(op_type, ["x"], ["r"], name=f"in_{name}")],
            name,
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, ["n"])],
        )
        for name, op_type in (("then_branch", "Relu"), ("else_branch", "Neg"))
    }
    graph = helper.make_graph(
        [helper.make_node("If", ["c"], ["y"], name="choose", **branches)],
        "branching",
        [
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n"])],
    )
    serialized: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9
    ).SerializeToString()
    return serialized


def test_the_text_names_every_node_and_who_runs_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(path)]) == 0
    printed = capsys.readouterr().out
    assert f"{path}: 3 nodes" in printed
    assert "CPUExecutionProvider: 3: 3 native" in printed
    assert re.search(r"^first +Relu +CPUExecutionProvider +native kernel Relu", printed, re.MULTILINE)


def test_the_json_has_a_row_for_each_node(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(path), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["op_type"] for row in report["nodes"]] == ["Relu", "Neg", "Add"]
    assert report["nodes"][2]["inputs"] == ["a", "b"]
    assert report["providers"][0]["kinds"] == {"native": 3}


def test_nodes_of_subgraphs_say_where_they_stand() -> None:
    rows = InferenceSession(branching_model()).assignment()
    assert {(row.name, row.scope) for row in rows} == {
        ("choose", ""),
        ("in_then_branch", "choose.then_branch"),
        ("in_else_branch", "choose.else_branch"),
    }
    assert next(row for row in rows if row.name == "choose").inputs == ("c", "x")


class _Page(HTMLParser):
    """What a browser would load from elsewhere, and the texts and boxes of the drawing."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.boxes = 0
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.loaded += [f"{tag} {given[name]}" for name in ("src", "href") if given.get(name)]
        self.boxes += tag == "g" and given.get("class") == "node"
        self.scripts += tag == "script"


def read(page: str) -> _Page:
    parser = _Page()
    parser.feed(page)
    return parser


def test_the_page_draws_every_node_and_needs_no_network(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "plan.html"
    assert main(["plan", str(path), "--html", str(page)]) == 0
    assert str(page) in capsys.readouterr().out
    shown = read(page.read_text())
    assert shown.boxes == 3
    assert shown.loaded == []
    # Its own two; the name of a node is no third one.
    assert shown.scripts == 2


class FusesAll(ExecutionProvider):
    """Takes whatever it is offered as one partition that computes nothing."""

    name = "Fuses"

    def get_capability(self, graph: Graph, lookup: KernelLookup) -> Iterable[Claim]:
        return [FusionClaim(graph.nodes, name="all_of_it")]

    def compile(self, partitions: Sequence[FusedPartition]) -> list[ExecutablePartition]:
        class Nothing(ExecutablePartition):
            inputs = partitions[0].input_contracts
            outputs = partitions[0].output_contracts

            def run(self, *inputs: Any) -> Sequence[Any]:
                return inputs

        return [Nothing()]


def test_a_partition_is_named_for_each_of_its_nodes(path: Path) -> None:
    rows = InferenceSession(str(path), providers=[FusesAll()]).assignment()
    assert [row.partition for row in rows] == ["all_of_it"] * 3
    assert "Fuses: 3 nodes" in plan_page("m", rows)


def test_a_model_that_cannot_be_planned_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(tmp_path / "none.onnx")]) == 1
    assert "NoSuchFile" in capsys.readouterr().err
    assert main(["plan", str(tmp_path / "none.onnx"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"] == "NoSuchFile"


@pytest.mark.parametrize(("option", "part"), [("a", "KEY=VALUE"), ("a=b", "after the --ep")])
def test_an_ep_option_needs_an_ep_and_a_value(
    path: Path, option: str, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["plan", str(path), "--ep-option", option])
    assert caught.value.code == 2
    assert part in capsys.readouterr().err


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 30).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_a_layout_has_edges_lead_down_and_boxes_apart(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    count, pairs = drawn
    edges = sorted((a, b) for a, b in pairs if a < b)
    layout = layered_layout(count, edges)
    for (source, target), bends in zip(edges, layout.bends, strict=True):
        rows = [layout.nodes[source][1], *(y for _, y in bends), layout.nodes[target][1]]
        assert rows == sorted(set(rows))
    by_row: dict[float, list[float]] = {}
    for x, y in layout.nodes:
        assert x >= 0
        by_row.setdefault(y, []).append(x)
    for places in by_row.values():
        places.sort()
        assert all(right - left > 0.999 for left, right in pairwise(places))


def test_columns_stay_in_line_where_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [node("Relu", ["x"], ["a"], name="a\n\x1b[31m"), node("Neg", ["a"], ["y"], name="plain")]
    onnx.save(model(nodes), tmp_path / "m.onnx")
    assert main(["plan", str(tmp_path / "m.onnx")]) == 0
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert rows[0].startswith("a\\n\\x1b[31m  ")
    assert len({row.index("CPUExecutionProvider") for row in rows}) == 1
