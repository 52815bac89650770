"""Contradictions in words about one named thing: which crossing, open when and for whom, lit or not, promised or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trigpoint.reading.discrepancies import Discrepancy, Input
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.measured import is_addendum
from trigpoint.reading.names import Gazetteer
from trigpoint.reading.said import Said
from trigpoint.reading.vocabulary import NOT_OFFERED, Topic

_WORDS = Lexicon(
    {
        "zebra": "zebra zebra_crossing",
        "signals": "signal_-_controlled signal_controlled signalled signalised toucan puffin pelican traffic_signals",
        "uncontrolled": "uncontrolled",
        "crossing": "crossing crossings crossing_points",
        "always": "at_all_hours at_all_times 24_hours 24_-_hour twenty_-_four_hour never_close* day_and_night round_the_clock",
        "at_times": "gates_will_be_closed closed_between gates_close* locked closed_at_night closed_overnight gates_closed be_closed "
        "locked_at_night close_at",
        "riding": "walking_and_cycling cycling_and_walking walkers_and_cyclists pedestrians_and_cyclists cyclists_and_pedestrians "
        "walking_and_cycling_route",
        "no_riding": "dismount pedestrian_route pedestrians_only pedestrian_only no_cycling cycling_prohibited",
        "lit": "well_-_lit well_lit will_be_lit fully_lit street_lit is_lit lit_throughout",
        "unlit": "unlit no_artificial_lighting no_lighting not_be_lit will_not_be_lit remain_dark stays_dark no_lights",
        "link": "link connection connects connect route path access",
        "promised": "will_be_provided will_connect will_provide is_provided will_be_built will_be_delivered will_be_created "
        "will_be_formed will_be_constructed provides_a will_link",
        "withheld": "does_not_form_part not_form_part not_part_of not_proposed third_-_party_land third_party_land "
        "cannot_be_delivered not_included not_be_provided depend_upon depends_on potential_for reasonable_endeavours best_endeavours "
        "has_not_been_included not_taken_forward",
        "continuous": "continuous",
        "gap": "gap stops_short short_of remains_a_length does_not_reach",
        "unsaid": "considered was_considered looked_at rejected discounted ruled_out not_pursued should request* require* asked ask "
        "would_like policy supports allocat* existing nearest currently recommended guidance formerly superseded option options",
        "arm": "roundabout arm arms",
    }
)


@dataclass(frozen=True)
class _Pair:
    """Two things that cannot both be true of one thing, with words for a reader."""

    topic: Topic
    one: str
    other: str
    about: str
    both: str = ""  # a word that either statement must have


_PAIRS = (
    _Pair("junction.crossing", "zebra", "signals", "the crossing", both="crossing"),
    _Pair("junction.crossing", "uncontrolled", "signals", "the crossings", both="crossing"),
    _Pair("junction.crossing", "uncontrolled", "zebra", "the crossings", both="crossing"),
    _Pair("permeability.link", "always", "at_times", "when it is open"),
    _Pair("permeability.link", "riding", "no_riding", "whether it may be cycled"),
    _Pair("cycle_route.surface_lighting", "lit", "unlit", "whether it is lit"),
    _Pair("permeability.link", "promised", "withheld", "whether the link will be made", both="link"),
)


@dataclass(frozen=True)
class _ToldOfThing:
    said: Said
    anchors: frozenset[str]


def find_worded(said: Sequence[Said], gazetteer: Gazetteer) -> Iterator[Discrepancy]:
    """Yield contradictions in words between two of the applicant's documents, or one of them and the officer's report."""
    ours = [one for one in said if one.document.source_kind in ("applicant", "council") and one.statement.kind != "row"]
    by_thing: dict[tuple[Topic, str], list[tuple[_Pair, _ToldOfThing, _ToldOfThing]]] = {}
    for pair in _PAIRS:
        ones = [_told_of_things(one, gazetteer, pair) for one in ours if _says_cue(one, pair.one, pair)]
        others = [_told_of_things(one, gazetteer, pair) for one in ours if _says_cue(one, pair.other, pair)]
        found = next(((one, other) for one in ones for other in others if _contradict(one, other)), None)
        if found is not None:
            anchor = min(found[0].anchors & found[1].anchors)
            by_thing.setdefault((pair.topic, anchor), []).append((pair, *found))
    for (topic, anchor), contradictions in by_thing.items():
        yield _discrepancy(topic, anchor, contradictions)


def _says_cue(said: Said, cue: str, pair: _Pair) -> bool:
    """Return whether a statement says this of the scheme, and not as a request, a quotation, existing or ruled out."""
    cues = _WORDS.tag_text(said.text)
    if cue not in cues or (pair.both and pair.both not in cues) or said.statement.kind == "heading":
        return False
    opposite = pair.other if cue == pair.one else pair.one
    if opposite in cues or ("unsaid" in cues and cue != "withheld"):
        return False
    return cue == "withheld" or not any(fact.is_certain and fact.status in NOT_OFFERED for fact in said.facts)


def _told_of_things(said: Said, gazetteer: Gazetteer, pair: _Pair) -> _ToldOfThing:
    """Return a statement with the names of what it is about: its own, or those of the sentences that it continues."""
    anchors = {name.known for name in gazetteer.names(said.text) if gazetteer.is_usual(name.known)}
    if pair.topic == "junction.crossing" and "arm" in _WORDS.tag_text(said.text):
        anchors.add("the roundabout")
    earlier = said.previous
    while not anchors and earlier is not None:
        anchors = {name.known for name in gazetteer.names(earlier.text) if gazetteer.is_usual(name.known)}
        earlier = earlier.previous
    return _ToldOfThing(said, frozenset(anchors))


def _contradict(one: _ToldOfThing, other: _ToldOfThing) -> bool:
    documents = one.said.document, other.said.document
    revised = is_addendum(documents[0]) != is_addendum(documents[1])
    return documents[0].id != documents[1].id and not revised and bool(one.anchors & other.anchors)


def _discrepancy(topic: Topic, anchor: str, pairs: Sequence[tuple[_Pair, _ToldOfThing, _ToldOfThing]]) -> Discrepancy:
    """Return one finding for one thing, however many contradictions there are about it."""
    name = anchor if anchor.startswith("the ") else anchor.title()
    about = " and ".join(pair.about for pair, _, _ in pairs)
    told = list(
        {(each.said.document.id, each.said.source.start): each.said for _, *both in pairs for each in both}.values()
    )
    places = " and ".join(dict.fromkeys(f"{said.document.name}{_page_suffix(said)}" for said in told))
    return Discrepancy(
        kind="words_differ",
        topic=topic,
        summary=f"The documents contradict each other on {name} ({about}): {places}.",
        inputs=tuple(Input(words=said.text, source=said.source) for said in told),
    )


def _page_suffix(said: Said) -> str:
    return f", page {said.statement.page}" if said.statement.page is not None else ""
