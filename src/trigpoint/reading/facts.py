"""Facts: what a statement says about a topic, with figure, place, status, speaker, polarity and certainty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from trigpoint.reading.context import Context
from trigpoint.reading.documents import Document, Frozen, Source
from trigpoint.reading.profile import Profile
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.readers import Readers, shipped_readers
from trigpoint.reading.sources import genre_of, is_superseded
from trigpoint.reading.statements import Statement
from trigpoint.reading.status import JudgedStatus, read_status
from trigpoint.reading.tokens import tokenise
from trigpoint.reading.topics import read_topics
from trigpoint.reading.vocabulary import PROVISION, Polarity, Speaker, Status, Topic
from trigpoint.text.plausible import is_plausible

CERTAIN = 0.9
"""The certainty from which on a fact may be judged. Below it, a fact is quoted and not judged."""

_SENTENCES_BEFORE = 3
FactReader = Literal["rules", "model", "person"]


_OFF_SITE: frozenset[Topic] = frozenset(
    (
        "cycle_route.off_site",
        "offsite.works",
        "offsite.contribution",
        "bus.stop_distance",
        "bus.frequency",
        "rail.access",
    )
)
_MEASURED_BY: dict[str, frozenset[str]] = {  # a topic that is neither here nor of a family here has any unit
    "cycle_parking": frozenset(
        ("cycle space", "cycle stand", "cycle rack", "space", "stand", "%", "shower", "locker", "", "m")
    ),
    "car_parking": frozenset(("car space", "space", "bay", "charging point", "%", "")),
    "cycle_route": frozenset(("m", "mm", "km", "mile", "foot", "gradient", "%")),
    "traffic.volume": frozenset(("vehicle", "trip", "%", "service")),
    "traffic.speed": frozenset(("mph", "km/h")),
    "place.speed": frozenset(("mph", "km/h")),
    "junction": frozenset(("m", "junction", "crossing", "mm")),
    "permeability": frozenset(("m", "km", "mile", "minute", "yard", "foot")),
    "trips": frozenset(("trip", "vehicle", "%", "cycle", "person")),
    "bus": frozenset(("m", "km", "mile", "minute", "yard", "service", "bus stop")),
    "rail": frozenset(("m", "km", "mile", "minute", "yard", "service")),
    "offsite": frozenset(("pound", "m", "display")),
    "travel_plan": frozenset(("%", "pound", "year", "month", "dwelling")),
    "place.trees": frozenset(("tree",)),
    "place": frozenset(),
    "audit": frozenset(),
    "compliance": frozenset(),
    "school": frozenset(("m", "km", "mile", "minute")),
    "development": frozenset(
        ("dwelling", "m2", "ha", "bed", "bedroom", "pupil", "storey", "job", "unit", "place", "room")
    ),
}


class Fact(Frozen):
    """The content of one statement on one topic. A statement on three topics gives three facts with one source.

    `quantities` are those that measure this topic. `place` is "on site", "off site", "other site" or a named place.
    `relevance` is the chance that the statement is on the topic's aspect. `because` lists the signals that decided the
    status, in words, for a reader who wants to check it.
    """

    topic: Topic
    status: Status = "mentioned"
    speaker: Speaker = "applicant"
    polarity: Polarity = "neutral"
    certainty: Annotated[float, Field(ge=0, le=1)] = 0.0
    relevance: Annotated[float, Field(ge=0, le=1)] = 1.0
    quantities: tuple[Quantity, ...] = ()
    place: str = ""
    source: Source
    because: tuple[str, ...] = ()
    reader: FactReader = "rules"

    @property
    def is_certain(self) -> bool:
        """Whether status and speaker are known well enough to be judged."""
        return self.certainty >= CERTAIN and self.status != "mentioned"

    @property
    def is_provision(self) -> bool:
        """Whether the statement certainly says that something will be provided."""
        return self.is_certain and self.status in PROVISION and self.polarity == "provides"


def read_facts(
    statements: Sequence[Statement], profile: Profile, documents: Sequence[Document], readers: Readers | None = None
) -> tuple[Fact, ...]:
    """Return what the statements say about the topics, in order: one fact for each statement and topic.

    `readers` are the package's own unless others are to be measured.
    """
    by_id = {document.id: document for document in documents}
    facts: list[Fact] = []
    for context in contexts_of(statements, profile, documents):
        if not is_plausible(context.statement.text):  # a font without a character map: not what is printed on the page
            continue
        facts.extend(_facts_of(context, by_id[context.statement.document_id], readers or shipped_readers()))
    return tuple(facts)


def contexts_of(statements: Sequence[Statement], profile: Profile, documents: Sequence[Document]) -> Iterator[Context]:
    """Yield each statement with what surrounds it."""
    by_id = {document.id: document for document in documents}
    genres = {document.id: genre_of(document) for document in documents}
    proposal = frozenset(token.text for token in tokenise(profile.proposal) if token.kind != "mark")
    paragraph = _Paragraph()
    for statement in statements:
        previous = paragraph.previous(statement)
        yield Context(
            statement,
            genres[statement.document_id],
            before=paragraph.before(statement),
            proposal=proposal,
            own_reference=profile.application,
            previous=previous,
            title=by_id[statement.document_id].name.replace("_", " "),
        )


_REPLACED = JudgedStatus("historic", 1.0, ("the document is superseded",))


class _Paragraph:
    """The sentences of the paragraph that is being read, for statements that refer back to them."""

    def __init__(self) -> None:
        self.last: Statement | None = None
        self.said: list[str] = []

    def previous(self, statement: Statement) -> str:
        """Return the statement before this one in its document."""
        return self.last.text if self.last is not None and self.last.document_id == statement.document_id else ""

    def before(self, statement: Statement) -> str:
        """Return the sentences before a statement in its paragraph, the last few of them."""
        if self.last is None or not _same_paragraph(self.last, statement):
            self.said = []
        before = " ".join(self.said[-_SENTENCES_BEFORE:])
        if statement.kind == "sentence":
            self.said.append(statement.text)
        self.last = statement
        return before


def _facts_of(context: Context, document: Document, readers: Readers) -> Iterator[Fact]:
    topics = read_topics(context, readers)
    if not topics:
        return
    judged = _REPLACED if is_superseded(document) else read_status(context, readers)
    quantities = read_quantities(context.statement.text)
    source = context.statement.source(document)
    for topic, relevance in topics.items():
        yield Fact(
            topic=topic,
            status=judged.status,
            speaker="policy_text" if judged.status == "policy" else context.speaker,
            polarity=_polarity(context, judged.status),
            certainty=judged.certainty,
            relevance=relevance,
            quantities=tuple(one for one in quantities if measures(topic, one)),
            place=_place_of_topic(topic),
            source=source,
            because=judged.because,
        )


def _same_paragraph(one: Statement, other: Statement) -> bool:
    return one.document_id == other.document_id and one.number == other.number and one.headings == other.headings


def _polarity(context: Context, status: Status) -> Polarity:
    """Return whether the statement says that something is there or will be, is lacking, or neither."""
    denied = context.has("denial")
    if status == "rejected" or (context.speaker == "objector" and status != "policy"):
        return "lacks"
    if status in (*PROVISION, "conditional", "existing"):
        return "lacks" if denied else "provides"
    if status == "deferred" and context.section == "conditions":
        return "provides"
    return "neutral"


def _place_of_topic(topic: Topic) -> str:
    return "off site" if topic in _OFF_SITE else ""


def measures(topic: Topic, quantity: Quantity) -> bool:
    """Return whether a quantity can measure a topic: metres do not measure a travel plan."""
    units = _MEASURED_BY.get(topic, _MEASURED_BY.get(topic.partition(".")[0]))
    return units is None or quantity.unit in units
