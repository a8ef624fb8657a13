"""The page that ``onnx-light-ort plan --html`` writes: one file, which opens without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from onnx_light_ort.cli.layered_layout import Point, layered_layout
from onnx_light_ort.cli.plan import kind_of, reasons, summarise
from onnx_light_ort.engine.assignment import ENGINE

if TYPE_CHECKING:
    from onnx_light_ort.engine.assignment import NodeAssignment

_TEMPLATE = Path(__file__).with_suffix(".html")

# M. Okabe and K. Ito's colours, which people who see colours differently tell apart; the engine has none of them.
_PROVIDER_COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#f0e442", "#0072b2", "#d55e00")
_ENGINE_COLOUR = "#d9dee3"
_NOT_RUN_COLOUR = "#ffffff"

#: Pixels.
_COLUMN, _ROW, _BOX_WIDTH, _BOX_HEIGHT, _MARGIN = 164, 72, 148, 38, 12
_LONGEST_TEXT = 22


def plan_page(title: str, rows: Sequence[NodeAssignment]) -> str:
    """The page for a model of that title."""
    summary = summarise(rows)
    plugins = [provider["name"] for provider in summary["providers"] if provider["name"] != ENGINE]
    colours = {name: _PROVIDER_COLOURS[i % len(_PROVIDER_COLOURS)] for i, name in enumerate(sorted(plugins))}
    colours[ENGINE] = _ENGINE_COLOUR
    legend = [_legend(colours[p["name"]], f"{p['name']}: {_plural(p['nodes'], 'node')}") for p in summary["providers"]]
    if any(not _is_run(row) for row in rows):
        legend.append(_legend(_NOT_RUN_COLOUR, "nobody at run time: folded, dead or a no-op"))
    scopes: dict[str, list[int]] = {}
    for index, row in enumerate(rows):
        scopes.setdefault(row.scope, []).append(index)
    drawings = []
    for scope, members in sorted(scopes.items()):
        drawings.append(f"<h2>{escape('Graph of the model' if not scope else 'Subgraph ' + scope)}</h2>")
        drawings.append(_drawing(rows, members, colours))
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{title}: who runs what"),
        legend="".join(legend),
        drawings="\n".join(drawings),
        nodes=json.dumps([_details(row) for row in rows]).replace("<", "\\u003c"),
    )


def _is_run(row: NodeAssignment) -> bool:
    return kind_of(row) not in ("folded", "no-op", "dead", "dropped")


def _legend(colour: str, text: str) -> str:
    return f'<li><span class="swatch" style="background:{colour}"></span>{escape(text)}</li>'


def _plural(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _details(row: NodeAssignment) -> dict[str, list[str]]:
    """What the page shows of a chosen node: texts by term."""
    terms: dict[str, Any] = {
        "Node": row.name,
        "Operator": f"{row.domain or 'ai.onnx'} {row.op_type}, version {row.since_version}",
        "Runs on": row.provider if _is_run(row) else "",
        "By": row.kernel,
        "Partition": row.partition,
        "Expanded from": row.expanded_from,
    }
    return {
        **{term: [text] for term, text in terms.items() if text},
        "Declined by": reasons(row),
        "Reads": list(row.inputs),
        "Makes": list(row.outputs),
    }


def _drawing(rows: Sequence[NodeAssignment], members: Sequence[int], colours: Mapping[str, str]) -> str:
    makers = {name: place for place, index in enumerate(members) for name in rows[index].outputs}
    edges = sorted(
        {
            (makers[name], place)
            for place, index in enumerate(members)
            for name in rows[index].inputs
            if makers.get(name, place) < place
        }
    )
    layout = layered_layout(len(members), edges)
    width = layout.width * _COLUMN + _BOX_WIDTH + 2 * _MARGIN
    height = layout.height * _ROW + _BOX_HEIGHT + 2 * _MARGIN
    parts = [f'<svg width="{width:.0f}" height="{height:.0f}" role="img" aria-label="graph">']
    for (source, target), bends in zip(edges, layout.bends, strict=True):
        parts.append(f'<path class="edge" d="{_curve([layout.nodes[source], *bends, layout.nodes[target]])}"/>')
    for place, index in enumerate(members):
        parts.append(_box(rows[index], index, layout.nodes[place], colours))
    parts.append("</svg>")
    return "".join(parts)


def _curve(points: Sequence[Point]) -> str:
    """From the bottom of the first box to the top of the last one, upright at each bend."""
    last = len(points) - 1
    pixels = [_pixels(point) for point in points]
    half = _BOX_HEIGHT / 2
    path = f"M{pixels[0][0]:.1f} {pixels[0][1] + half:.1f}"
    for i in range(last):
        (x0, y0), (x1, y1) = pixels[i], pixels[i + 1]
        y0 += half if i == 0 else 0
        y1 -= half if i + 1 == last else 0
        middle = (y0 + y1) / 2
        path += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    return path


def _pixels(point: Point) -> Point:
    return _MARGIN + _BOX_WIDTH / 2 + point[0] * _COLUMN, _MARGIN + _BOX_HEIGHT / 2 + point[1] * _ROW


def _box(row: NodeAssignment, index: int, point: Point, colours: Mapping[str, str]) -> str:
    x, y = _pixels(point)
    colour = colours[row.provider] if _is_run(row) else _NOT_RUN_COLOUR
    name = row.name or ", ".join(row.outputs)
    return (
        f'<g class="node" tabindex="0" data-index="{index}"><title>{escape(f"{row.op_type} {name}")}</title>'
        f'<rect x="{x - _BOX_WIDTH / 2:.1f}" y="{y - _BOX_HEIGHT / 2:.1f}" width="{_BOX_WIDTH}" '
        f'height="{_BOX_HEIGHT}" rx="5" fill="{colour}" stroke="#57606a"/>'
        f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle">{escape(_short(row.op_type))}</text>'
        f'<text class="name" x="{x:.1f}" y="{y + 12:.1f}" text-anchor="middle">{escape(_short(name))}</text></g>'
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 8]}…{text[-7:]}"
