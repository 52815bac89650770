"""Differences that the documents themselves report: "the Transport Assessment says 302 spaces, the Planning Statement 312".

The report may be wrong: it counts only if both figures are found in the documents that are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy, Input, figures
from trigpoint.reading.documents import Document
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.said import Said
from trigpoint.reading.units import DISTANCES, METRES
from trigpoint.reading.vocabulary import Topic

_KIND_OF_PLAN = "(?:[Ff]ramework |[Ii]nterim |[Ww]orkplace |[Ss]chool )"
_KINDS: dict[str, str] = {
    "planning statement": r"[Pp]lanning [Ss]tatement|\bPS\b",
    "transport assessment": r"[Tt]ransport (?:[Aa]ssessment|[Ss]tatement)|\bT[AS]\b(?!\d)",
    "design statement": r"[Dd]esign (?:and [Aa]ccess )?[Ss]tatement|\bDAS\b",
    "travel plan": rf"{_KIND_OF_PLAN}?[Tt]ravel [Pp]lan|\b[FIW]TP\b",
    "addendum": r"\b[Aa]ddendum\b|[Tt]echnical [Nn]ote|\bTN\d+",
    "form": r"[Aa]pplication [Ff]orm|\bthe form\b",
    "statement": r"\b[Tt]he [Ss]tatement\b",
}
_MENTION = re.compile("|".join(f"(?P<{kind.replace(' ', '_')}>{pattern})" for kind, pattern in _KINDS.items()))
_FAMILIES = Lexicon(
    {
        "cycles": "cycle cycles bicycle bicycles bike bikes cyclists sheffield",
        "cars": "car cars parking bays vehicle",
        "path": "path paths track route greenway footway cycleway",
        "stop": "bus stop stops",
        "station": "station",
        "homes": "dwelling dwellings homes houses units",
        "floor": "floorspace office gia area",
        "trips": "trips movements vehicles",
        "shower": "shower showers",
        "staff": "staff employees employed people jobs fte",
        "money": "contribution £ pounds",
        "target": "target targets share",
        "stores": "store stores shed sheds",
    }
)
_CUES = Lexicon(
    {
        "measured": "made_it measured measure found_it counted walked calculate calculated in_fact in_reality actually paced",
        "varied": "variously inconsistent inconsistently conflicting differ differs different discrepancy contradict* cannot_both "
        "reconcile in_one_document in_another consistently depending_on_which elsewhere",
        "same": "both agree consistent",
        "contrast": "not but whereas although however only rather yet instead",
    }
)
_TOPICS: dict[str, Topic] = {
    "cycles": "cycle_parking.total",
    "cars": "car_parking",
    "path": "cycle_route.width",
    "stop": "bus.stop_distance",
    "station": "rail.access",
    "homes": "development.size",
    "floor": "development.size",
    "trips": "trips.forecast",
    "shower": "cycle_parking.facilities",
    "staff": "development.size",
    "money": "offsite.contribution",
    "target": "travel_plan.target",
    "stores": "cycle_parking.quality",
}
_ANY = "any document of the applicant"
_MOST_BETWEEN = 90  # characters between the name of a document and the figure that it is said to give


@dataclass(frozen=True)
class _Attributed:
    """A figure that a sentence attributes to a kind of document."""

    kind: str
    figure: Quantity


def find_reported(said: Sequence[Said]) -> Iterator[Discrepancy]:
    """Yield the differences between documents that a sentence names and the documents bear out."""
    by_kind = _by_kind(said)
    for one in said:
        if one.statement.kind != "row" and one.counts:
            yield from _told_apart(one, by_kind)
            yield from _in_two_sentences(one, by_kind)
            yield from _measured_again(one, by_kind)


def _told_apart(said: Said, by_kind: dict[str, list[Said]]) -> Iterator[Discrepancy]:
    """Yield a difference that one sentence reports: two figures for one thing that two documents bear out."""
    unit, given = _figures_of_one_thing(said)
    attributed = {one.figure: one.kind for one in _attributed(said) if one.kind in by_kind}
    cues = _CUES.tag_text(said.text)
    told = len(set(attributed.values())) >= 2 or "varied" in cues or (attributed and "contrast" in cues)
    if (
        len(given) < 2
        or not told
        or "same" in cues
        or (said.document.source_kind == "applicant" and "varied" not in cues)
    ):
        return
    proofs: list[tuple[Quantity, Said]] = []
    for figure in given:
        statements = by_kind[attributed[figure]] if figure in attributed else by_kind[_ANY]
        unused = [one for one in statements if all(one.document.id != known.document.id for _, known in proofs)]
        proof = _proof(said, figure, unit, unused)
        if proof is not None and all(figure.value != known.value for known, _ in proofs):
            proofs.append((figure, proof))
    if len(proofs) >= 2 and not _knows_both(said, proofs[:2], unit, by_kind[_ANY]):
        yield _misreported(said, proofs[:2])


def _knows_both(said: Said, proofs: Sequence[tuple[Quantity, Said]], unit: str, statements: Sequence[Said]) -> bool:
    """Return whether one of two documents gives both figures, which are then of two things."""
    (one, first), (other, second) = proofs
    pairs = ((other, first), (one, second))
    return any(
        _proof(said, figure, unit, [each for each in statements if each.document.id == proof.document.id]) is not None
        for figure, proof in pairs
    )


def _figures_of_one_thing(said: Said) -> tuple[str, list[Quantity]]:
    """Return the figures of a sentence that may be for one thing, and what they count; a bare figure counts the same."""
    counts = [each for one in said.counts for each in _both_ends(said, one)]
    plain = [one for one in counts if one.per is None and one.high is None and (one.unit or one.value != 1)]
    units = dict.fromkeys(one.unit for one in plain if one.unit and one.unit != "space")
    for unit in units or {_unit_before(said): None}:
        same = [one for one in plain if one.unit in (unit, "", "space") or {one.unit, unit} <= set(DISTANCES)]
        if len({one.value for one in same}) >= 2:
            return unit, same
    return "", []


def _both_ends(said: Said, one: Quantity) -> tuple[Quantity, ...]:
    """Return "between 302 and 312" as two figures: a sentence on a discrepancy has no ranges."""
    if one.high is None or not said.text[one.start : one.end].lower().startswith("between"):
        return (one,)
    return one.model_copy(update={"high": None}), one.model_copy(update={"value": one.high, "high": None})


def _by_kind(said: Sequence[Said]) -> dict[str, list[Said]]:
    """Return the statements of each kind of document; "the statement" is one only if nothing else can be meant."""
    by_kind: dict[str, list[Said]] = {}
    kinds = {one.document.id: one.document for one in said}
    by_document = {key: kinds_of(document) for key, document in kinds.items()}
    for one in said:
        for kind in by_document[one.document.id]:
            by_kind.setdefault(kind, []).append(one)
    statements = {
        one.document.id for kind in ("planning statement", "design statement") for one in by_kind.get(kind, ())
    }
    by_kind[_ANY] = [one for one in said if one.document.source_kind == "applicant"]
    if len(statements) == 1:
        by_kind["statement"] = [one for one in said if one.document.id in statements]
    return by_kind


def kinds_of(document: Document) -> tuple[str, ...]:
    """Return what sort of application document this is, by its name."""
    name = document.name.replace("_", " ").replace("-", " ")
    kinds = [kind for kind, pattern in _KINDS.items() if kind != "statement" and re.search(pattern, name)]
    if "Planning Design and Access Statement" in name.replace(",", ""):
        kinds.append("planning statement")
    if document.source_kind != "applicant" or ("addendum" in kinds and len(kinds) > 1):
        kinds = ["addendum"] if "addendum" in kinds and document.source_kind == "applicant" else []
    return tuple(kinds) + (("form",) if "application form" in name.lower() and "form" not in kinds else ())


def _attributed(said: Said) -> list[_Attributed]:
    """Return the figures of a sentence with the documents that they are attributed to, in either order."""
    mentions = [
        (match.start(), match.end(), (match.lastgroup or "").replace("_", " "))
        for match in _MENTION.finditer(said.text)
    ]
    counts = [one for one in said.counts if one.per is None and one.high is None and (one.unit or one.value != 1)]
    if not mentions or not counts:
        return []
    if len(mentions) == len(counts) and mentions[-1][1] <= counts[0].start:  # "the TA and FTP … (643 and 720)"
        return [_Attributed(kind, one) for (_, _, kind), one in zip(mentions, counts, strict=True)]
    names_first = mentions[0][0] < counts[0].start
    attributed: list[_Attributed] = []
    for index, (start, end, kind) in enumerate(mentions):
        if names_first:
            limit = mentions[index + 1][0] if index + 1 < len(mentions) else len(said.text)
            near = [one for one in counts if end <= one.start < min(limit, end + _MOST_BETWEEN)]
            attributed.extend(_Attributed(kind, one) for one in near[:1])
        else:
            limit = mentions[index - 1][1] if index else 0
            near = [
                one for one in counts if limit <= one.start and one.end <= start and start - one.end < _MOST_BETWEEN
            ]
            attributed.extend(_Attributed(kind, one) for one in near[-1:])
    return attributed


def _in_two_sentences(said: Said, by_kind: dict[str, list[Said]]) -> Iterator[Discrepancy]:
    """Yield a difference of measures between the documents that this sentence and one of the two before it name."""
    own = [one for one in _attributed(said) if one.kind in by_kind and one.figure.unit in DISTANCES]
    if len(own) != 1 or said.document.source_kind == "applicant":
        return
    for one in _sentences_before(said):
        kinds = {(match.lastgroup or "").replace("_", " ") for match in _MENTION.finditer(one.text)} & by_kind.keys()
        same = [count for count in one.counts if count.unit in DISTANCES and count.high is None]
        if len(kinds) != 1 or own[0].kind in kinds:
            continue
        for count in same:
            proofs = [
                _proof(said, own[0].figure, own[0].figure.unit, by_kind[own[0].kind]),
                _proof(said, count, count.unit, by_kind[next(iter(kinds))]),
            ]
            if _metres(count) != _metres(own[0].figure) and proofs[0] is not None and proofs[1] is not None:
                yield _misreported(said, [(own[0].figure, proofs[0]), (count, proofs[1])])
                return


def _sentences_before(said: Said) -> list[Said]:
    """Return the two sentences before this one in its paragraph, the nearer first."""
    return [one for one in (said.previous, said.previous.previous if said.previous else None) if one is not None]


def _unit_before(said: Said) -> str:
    """Return what figures without a noun count: what was counted last before them."""
    for one in (said, said.previous):
        counted = [count.unit for count in one.counts if count.unit] if one is not None else []
        if counted:
            return counted[-1]
    return ""


def _proof(said: Said, figure: Quantity, unit: str, statements: Sequence[Said]) -> Said | None:
    """Return the statement of a document that gives the figure attributed to it, for the same sort of thing."""
    wanted = _families(said)
    best: tuple[int, Said] | None = None
    for statement in statements:
        if statement.document.id == said.document.id or statement.is_requirement:
            continue
        weight = max(
            (_likeness_of_figures(statement, count, figure, unit, wanted) for count in statement.counts), default=0
        )
        if weight and (best is None or weight > best[0]):
            best = weight, statement
    return best[1] if best else None


def _likeness_of_figures(statement: Said, count: Quantity, figure: Quantity, unit: str, wanted: frozenset[str]) -> int:
    same_length = count.unit in DISTANCES and figure.unit in DISTANCES and _metres(count) == _metres(figure)
    if not same_length and count.value != figure.value:
        return 0
    shared = bool(wanted & _families_of(statement.text))
    if same_length or (count.unit == unit and unit):
        return 3 if shared or unit not in DISTANCES else 0
    if unit == "space" and count.unit.endswith("space"):
        return 2
    plain = count.unit in ("", "space") or unit == "" or statement.statement.kind == "row"
    return 1 if plain and shared and count.per is None and count.unit not in DISTANCES else 0


def _metres(one: Quantity) -> float:
    return round(one.value * METRES[one.unit], 2)


def _families(said: Said) -> frozenset[str]:
    """Return what sort of thing a sentence is about; a bare figure's thing may be in the sentence before."""
    own = _families_of(said.text)
    return own or (_families_of(said.previous.text) if said.previous else frozenset())


def _families_of(text: str) -> frozenset[str]:
    return frozenset(_FAMILIES.tag_text(text))


def _measured_again(said: Said, by_kind: dict[str, list[Said]]) -> Iterator[Discrepancy]:
    """Yield "the statement says 600 metres … we made it 1.1 kilometres": somebody's own measure against a document's."""
    own = [count for count in said.counts if count.unit in DISTANCES and count.high is None]
    if len(own) != 1 or "measured" not in _CUES.tag_text(said.text) or said.document.source_kind == "applicant":
        return
    for one in _sentences_before(said):
        for each in _attributed(one):
            if each.kind not in by_kind or each.figure.unit not in DISTANCES or _metres(each.figure) == _metres(own[0]):
                continue
            proof = _proof(one, each.figure, each.figure.unit, by_kind[each.kind])
            if proof is not None:
                yield _misreported(one, [(each.figure, proof), (own[0], said)])
                return


def _page_of_statement(said: Said) -> str:
    return f", page {said.statement.page}" if said.statement.page is not None else ""


def _misreported(said: Said, elsewhere: Sequence[tuple[Quantity, Said]]) -> Discrepancy:
    family = next((one for one in _TOPICS if one in _families(said)), None)
    topic = _TOPICS[family] if family else (said.topic or elsewhere[0][1].topic or "development.size")
    shown = " and ".join(
        f"{figures(figure.value) if figure.value >= 10 else format(figure.value, 'g')}"
        f"{' ' + figure.unit if figure.unit in DISTANCES else ''} ({one.document.name}{_page_of_statement(one)})"
        for figure, one in elsewhere
    )
    inputs = [
        Input(value=figure.value, unit=figure.unit, words=one.text, source=one.source) for figure, one in elsewhere
    ]
    if all(one.source != said.source for _, one in elsewhere):
        inputs.append(Input(words=said.text, source=said.source))
    return Discrepancy(
        kind="figures_differ",
        topic=topic,
        summary=f"{said.document.name} points out that the documents differ: {shown}.",
        inputs=tuple(inputs),
    )
