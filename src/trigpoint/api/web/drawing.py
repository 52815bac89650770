"""Where things are drawn: a timeline of revisions and a neighbourhood of entities, as plain numbers for a template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from trigpoint.graph.models import EntityGraph
from trigpoint.policies.models import Policy

_LEFT, _WIDTH, _ROW, _TOP, _BAR = 190, 1000, 46, 30, 26
_LETTER = 7.2  # pixels that a letter of a label takes, about


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    label: str
    title: str
    in_force: bool


@dataclass(frozen=True)
class Row:
    y: float
    label: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    x: float
    label: str


@dataclass(frozen=True)
class Timeline:
    width: int
    height: int
    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    day_x: float
    bar_height: int = _BAR


def draw_timeline(policies: Sequence[Policy], day: date, today: date) -> Timeline:
    """Which revision answers for which days, one row a policy; the chosen day is a line across."""
    spans = [span for policy in policies for span in policy.timeline]
    first = min([span.start for span in spans] + [day, today])
    last = max([span.end or span.start for span in spans] + [day, today]) + timedelta(days=200)
    begin = date(first.year, 1, 1)

    def x(when: date) -> float:
        share = (min(when, last) - begin).days / max((last - begin).days, 1)
        return round(_LEFT + share * (_WIDTH - _LEFT - 4), 1)

    rows = []
    for index, policy in enumerate(policies):
        y = _TOP + index * _ROW
        bars = []
        for span in policy.timeline:
            start, end = x(span.start), x(span.end + timedelta(days=1)) if span.end else _WIDTH - 4
            width = max(round(end - start - 2, 1), 3)
            label = span.revision.version_label
            until = f"to {span.end}" if span.end else "with no end"
            title = f"{label}: from {span.start} {until}"
            bars.append(Bar(start, y, width, _fitting(label, width), title, span.covers(day)))
        rows.append(Row(y, policy.source.replace("_", " "), tuple(bars)))
    years = range(begin.year, last.year + 1)
    step = max(1, math.ceil(len(years) / 10))
    ticks = tuple(Tick(x(date(year, 1, 1)), str(year)) for year in years if (year - begin.year) % step == 0)
    return Timeline(_WIDTH, _TOP + len(rows) * _ROW + 22, tuple(rows), ticks, x(day))


def _fitting(label: str, width: float) -> str:
    room = int((width - 14) / _LETTER)
    if len(label) <= room:
        return label
    return label[: room - 1].rstrip() + "…" if room >= 6 else ""


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    radius: float
    lines: tuple[str, ...]
    title: str
    entity_id: str
    is_root: bool


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Neighbourhood:
    width: int
    height: int
    dots: tuple[Dot, ...]
    lines: tuple[Line, ...]


def draw_neighbourhood(graph: EntityGraph) -> Neighbourhood:
    """The root in the middle, its neighbours on a ring around it, theirs on an outer one; always the same picture."""
    near = [node for node in graph.nodes if node.hop == 1]
    far = [node for node in graph.nodes if node.hop == 2]
    inner = max(170.0, len(near) * 22.0)
    outer = inner + (150.0 if far else 0.0) + max(0.0, (len(far) * 20.0 - inner - 150.0) * (1 if far else 0))
    width, height = int(2 * outer * 1.45 + 260), int(2 * outer + 140)
    places: dict[str, tuple[float, float]] = {graph.root_entity.id: (width / 2, height / 2)}
    for ring, radius, turn in ((near, inner, 0.0), (far, outer, 0.35)):
        for index, node in enumerate(ring):
            angle = turn + 2 * math.pi * index / len(ring) - math.pi / 2
            x, y = width / 2 + radius * 1.45 * math.cos(angle), height / 2 + radius * math.sin(angle)
            places[node.id] = (round(x, 1), round(y, 1))
    dots = tuple(
        Dot(*places[node.id], 11 if node.hop else 16, _two_lines(node.title), node.title, node.id, node.hop == 0)
        for node in graph.nodes
        if node.id in places
    )
    ends = [(places.get(r.from_entity_id), places.get(r.to_entity_id)) for r in graph.relationships]
    lines = tuple(Line(*a, *b) for a, b in ends if a is not None and b is not None)
    return Neighbourhood(width, height, dots, lines)


def _two_lines(title: str) -> tuple[str, ...]:
    """A title as a label of at most two short lines."""
    words, lines = title.split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > 21:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    shown = [line if len(line) <= 24 else line[:23] + "…" for line in lines[:2]]
    if len(lines) > 2 and not shown[1].endswith("…"):
        shown[1] += "…"
    return tuple(shown)
