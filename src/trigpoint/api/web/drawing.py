"""Drawings as plain numbers for a template: a timeline of revisions and a neighbourhood of entities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from trigpoint.graph.models import EntityGraph
from trigpoint.policies.models import Policy

_LEFT, _WIDTH, _ROW, _TOP, _BAR = 190, 1000, 46, 30, 26
_FLAT = 1.45  # rings are wider than high, as screens are
_LETTER = 7.6  # pixels that a letter of a label takes, about


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    label: str
    title: str
    in_force: bool


@dataclass(frozen=True)
class TimelineRow:
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
    rows: tuple[TimelineRow, ...]
    ticks: tuple[Tick, ...]
    day_x: float
    bar_height: int = _BAR


def draw_timeline(policies: Sequence[Policy], day: date, today: date) -> Timeline:
    """Draw which revision answers for which days, one row per policy; the chosen day is a line across."""
    spans = [span for policy in policies for span in policy.timeline]
    first = min([span.start for span in spans] + [day, today])
    last = _later(max([span.end or span.start for span in spans] + [day, today]), 200)
    begin = date(first.year, 1, 1)

    def x(when: date) -> float:
        share = (min(when, last) - begin).days / max((last - begin).days, 1)
        return round(_LEFT + share * (_WIDTH - _LEFT - 4), 1)

    rows = []
    for index, policy in enumerate(policies):
        y = _TOP + index * _ROW
        bars = []
        for span in policy.timeline:
            start, end = x(span.start), x(_later(span.end, 1)) if span.end else _WIDTH - 4
            width = max(round(end - start - 2, 1), 3)
            label = span.revision.version_label
            until = f"to {span.end}" if span.end else "with no end"
            title = f"{label}: from {span.start} {until}"
            bars.append(Bar(start, y, width, _fitting(label, width), title, span.covers(day)))
        rows.append(TimelineRow(y, policy.source.replace("_", " "), tuple(bars)))
    years = range(begin.year, last.year + 1)
    step = max(1, math.ceil(len(years) / 10))
    ticks = tuple(Tick(x(date(year, 1, 1)), str(year)) for year in years if (year - begin.year) % step == 0)
    return Timeline(_WIDTH, _TOP + len(rows) * _ROW + 22, tuple(rows), ticks, x(day))


def _later(when: date, days: int) -> date:
    """Return the date so many days later, or the last day that there is."""
    return when + timedelta(days=min(days, (date.max - when).days))


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
class RelationLine:
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Neighbourhood:
    width: int
    height: int
    dots: tuple[Dot, ...]
    lines: tuple[RelationLine, ...]


def draw_neighbourhood(graph: EntityGraph) -> Neighbourhood:
    """Draw the root in the middle, its neighbours on a ring around it, and theirs behind them; always the same way."""
    near = [node.id for node in graph.nodes if node.hop == 1]
    far = [node.id for node in graph.nodes if node.hop == 2]
    inner = max(130.0, len(near) * 20.0)
    outer = max(inner + 110.0, len(far) * 18.0) if far else inner
    width, height = max(int(2 * outer * _FLAT + 260), _WIDTH), int(2 * outer + 110)

    def place(radius: float, angle: float) -> tuple[float, float]:
        return round(width / 2 + radius * _FLAT * math.cos(angle), 1), round(
            height / 2 - 12 + radius * math.sin(angle), 1
        )

    angles = {ident: 2 * math.pi * index / len(near) - math.pi / 2 for index, ident in enumerate(near)}
    places = {graph.root_entity.id: place(0, 0)} | {ident: place(inner, angle) for ident, angle in angles.items()}
    sector = min(2 * math.pi / max(len(near), 1), math.pi) * 0.85
    for parent, children in _families(graph, near, far).items():
        for index, child in enumerate(children):
            share = (index + 0.5) / len(children) - 0.5
            places[child] = place(outer, angles[parent] + share * sector)
    dots = tuple(
        Dot(*places[node.id], 11 if node.hop else 16, _two_lines(node.title), node.title, node.id, node.hop == 0)
        for node in graph.nodes
        if node.id in places
    )
    ends = [(places.get(r.from_entity_id), places.get(r.to_entity_id)) for r in graph.relationships]
    lines = tuple(RelationLine(*a, *b) for a, b in ends if a is not None and b is not None)
    return Neighbourhood(width, height, dots, lines)


def _families(graph: EntityGraph, near: list[str], far: list[str]) -> dict[str, list[str]]:
    """Return the entities two steps away, each grouped under the first neighbour that it is related to."""
    families: dict[str, list[str]] = {}
    for child in far:
        ends = [(r.from_entity_id, r.to_entity_id) for r in graph.relationships]
        parents = [a if b == child else b for a, b in ends if child in (a, b)]
        parent = next((p for p in parents if p in near), near[0] if near else None)
        if parent is not None:
            families.setdefault(parent, []).append(child)
    return families


def _two_lines(title: str) -> tuple[str, ...]:
    """Return a title as a label of at most two short lines."""
    words, lines = title.split(), [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word) > 21:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    shown = [line if len(line) <= 24 else line[:23] + "…" for line in lines[:2]]
    if len(lines) > 2 and not shown[1].endswith("…"):
        shown[1] += "…"
    return tuple(shown)
