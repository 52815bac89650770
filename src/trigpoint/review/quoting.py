"""The statements of the documents on an aspect: whole statements with their page, grouped by what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from trigpoint.reading.documents import Source
from trigpoint.reading.facts import Fact
from trigpoint.reading.uses import read_uses
from trigpoint.reading.vocabulary import PROVISION, Status, aspects_of
from trigpoint.review.aspects import Aspect, Check
from trigpoint.review.evidence import Evidence, PlacedProvision, RatesAsked, fold, policy_citation, readable_ref
from trigpoint.review.findings import GROUPS, Citation, Group, Outcome, Place, PolicyAsk, Quotation
from trigpoint.review.parking import standard_of

_GROUP_OF: dict[Status, Group] = {
    **dict.fromkeys(PROVISION, "proposed"),
    "conditional": "open",
    "deferred": "open",
    "indicative": "open",
    "rejected": "ruled_out",
    "existing": "existing",
    "policy": "asked",
    "requested": "asked",
    "other_scheme": "context",
    "assumption": "context",
    "historic": "context",
}
_ORDER = list(GROUPS)
FEWEST_WORDS = 4
LIKELY = 0.5
MOST_QUOTED = 60  # statements on one aspect
MOST_ROWS = 8  # of one table, before it is told by its first row
ROW_MARK = " | "
ROWS_APART = 2  # statements: one row in between may be on another subject
_WORD = re.compile(r"[^\W\d_]{3,}")
_OF_CYCLES = re.compile(r"\b(?:bi|tri)?cycl|\bbikes?\b|\bshared\b|\btracks?\b", re.IGNORECASE)
_WITH_STANDARD: tuple[Group, ...] = ("proposed", "open", "existing", "mentioned")


def group_of(fact: Fact) -> Group:
    """Return under which title a statement is shown. Unless its status is certain, it is only mentioned."""
    if not fact.is_certain or (fact.status in PROVISION and fact.polarity == "lacks"):
        return "mentioned"
    return _GROUP_OF.get(fact.status, "mentioned")


def quotations(evidence: Evidence, aspect: Aspect) -> tuple[Quotation, ...]:
    """Return the statements on the aspect, each once, in the order of the groups, documents and pages.

    Of a long table the first row on the aspect is quoted and the others are counted; of very many statements those that
    are certain or likeliest to be on the aspect are kept. On an aspect of which nothing is asked of such a development,
    only statements are quoted that are more likely on it than not.
    """
    is_asked = bool(aspect.asked(evidence.profile))
    least = 0.0 if is_asked else LIKELY
    facts = [
        fact
        for fact in evidence.facts
        if aspect.id in aspects_of(fact.topic) and fact.relevance >= least and _says_something(fact)
    ]
    facts.sort(key=lambda fact: (fact.source.document, fact.source.document_id, fact.source.start, fact.source.end))
    statements = [list(group) for _, group in groupby(facts, key=lambda fact: place_key(fact.source))]
    made = [_quotation_of(run, evidence, aspect) for run in _likeliest(list(_tables(_once(statements))))]
    return tuple(sorted(made, key=lambda one: (_ORDER.index(one.group), one.group == "mentioned" and not one.figures)))


def _once(statements: Iterable[list[Fact]]) -> list[list[Fact]]:
    """Return statements without those that repeat the words of an earlier one in their document."""
    first: dict[tuple[str, str], list[Fact]] = {}
    for facts in statements:
        first.setdefault((facts[0].source.document_id, fold(facts[0].source.quote)), facts)
    return list(first.values())


def _likeliest(runs: Sequence[list[list[Fact]]]) -> list[list[list[Fact]]]:
    """Return at most as many as can be read, in their order: the certain ones and the likeliest."""

    def weight(index: int) -> tuple[bool, float]:
        facts = runs[index][0]
        return any(fact.is_certain for fact in facts), max(fact.relevance for fact in facts)

    kept = sorted(range(len(runs)), key=weight, reverse=True)[:MOST_QUOTED]
    return [runs[index] for index in sorted(kept)]


def _tables(statements: Iterable[list[Fact]]) -> Iterator[list[list[Fact]]]:
    """Yield long runs of rows of one table together, and every other statement by itself."""
    run: list[list[Fact]] = []
    for facts in statements:
        if run and not _follows_in_table(run[-1][0].source, facts[0].source):
            yield from _folded(run)
            run = []
        run.append(facts)
    yield from _folded(run)


def _folded(run: list[list[Fact]]) -> Iterator[list[list[Fact]]]:
    if len(run) > MOST_ROWS:
        yield run
    else:
        yield from ([facts] for facts in run)


def _follows_in_table(one: Source, other: Source) -> bool:
    rows = ROW_MARK in one.quote and ROW_MARK in other.quote
    return rows and one.document_id == other.document_id and other.statement - one.statement <= ROWS_APART


def _says_something(fact: Fact) -> bool:
    """Return whether a statement is more than a label such as "Cycle parking" or a row of bare figures."""
    words = _WORD.findall(fact.source.quote)
    return len(words) >= FEWEST_WORDS or (bool(words) and bool(fact.quantities))


def place_key(source: Source) -> tuple[str, int, int]:
    return source.document_id, source.start, source.end


def _quotation_of(run: Sequence[Sequence[Fact]], evidence: Evidence, aspect: Aspect) -> Quotation:
    """Return the quotation of a statement, or of a table by its first row with the pages of all its rows."""
    quoted = _quotation(run[0], evidence, aspect)
    if len(run) == 1:
        return quoted
    pages = sorted({facts[0].source.page for facts in run if facts[0].source.page is not None})
    citation = quoted.citation.model_copy(update={"pages": tuple(pages)})
    return quoted.model_copy(update={"citation": citation, "more_rows": len(run) - 1})


def _quotation(facts: Sequence[Fact], evidence: Evidence, aspect: Aspect) -> Quotation:
    group = min((group_of(fact) for fact in facts), key=_ORDER.index)
    return Quotation(
        group=group,
        topics=tuple(dict.fromkeys(fact.topic for fact in facts)),
        citation=cite(facts[0]),
        figures=any(fact.quantities for fact in facts),
        standard=_standard(facts, evidence, aspect) if group in _WITH_STANDARD else None,
    )


def cite(fact: Fact, speaks: Outcome = "met") -> Citation:
    """Return the citation of the statement that a fact comes from."""
    return cite_source(fact.source, speaks).model_copy(update={"status": fact.status, "speaker": fact.speaker})


def cite_source(source: Source, speaks: Outcome) -> Citation:
    return Citation(
        passage_id=f"{source.document_id}:{source.start}-{source.end}",
        document_id=source.document_id,
        document=source.document,
        pages=() if source.page is None else (source.page,),
        quote=source.quote,
        speaks=speaks,
    )


def places(facts: Iterable[Fact]) -> tuple[Place, ...]:
    """Return the pages on which facts are stated, document by document."""
    by_document: dict[tuple[str, str], set[int]] = {}
    for fact in facts:
        pages = by_document.setdefault((fact.source.document, fact.source.document_id), set())
        pages |= {fact.source.page} if fact.source.page is not None else set()
    return tuple(
        Place(document=name, document_id=document_id, pages=tuple(sorted(pages)))
        for (name, document_id), pages in sorted(by_document.items())
    )


def asks(evidence: Evidence, aspect: Aspect) -> tuple[PolicyAsk, ...]:
    """Return what the policies in force ask on the aspect, in the order of the check file."""
    return tuple(
        PolicyAsk(
            provision=placed.provision_id,
            says=says,
            source=placed.passage.source,
            citation=policy_citation(placed.passage, says) if placed.certain else None,
            confirmed=placed.confirmed,
        )
        for placed, says in asked_provisions(evidence, aspect, aspect.asks)
    )


def asked_provisions(evidence: Evidence, aspect: Aspect, names: Iterable[str]) -> Iterator[tuple[PlacedProvision, str]]:
    """Yield those of the provisions that are asked of this development, each with what it asks in words."""
    rates: dict[tuple[str, str], list[str]] = {}
    for check in aspect.checks:
        if asked := rates_asked(check, evidence):  # long stay and short stay may rest on one table
            rates.setdefault((check.provisions[0], asked.source), []).append(asked.words)
    for name in names:
        if aspect.asks_for(name, evidence.profile):
            for placed in evidence.provisions.get(name, ()):
                yield placed, " ".join(rates.get((name, placed.passage.source), [placed.requires]))


def rates_asked(check: Check, evidence: Evidence) -> RatesAsked | None:
    """Return the rate for the uses that are built, instead of a provision that also speaks of others."""
    chosen = standard_of(check, evidence)
    if chosen is None:
        return None
    rates = "; ".join(f"{rate.use.replace('_', ' ')}, {rate.words}" for rate in chosen[1])
    return RatesAsked(chosen[0].source, f"{check.requirement}: {rates}.")


def _standard(facts: Sequence[Fact], evidence: Evidence, aspect: Aspect) -> str | None:
    """Return the standard that applies to a figure of the statement, in words with its reference."""
    for check in aspect.checks:
        if aspect.fits(check, evidence.profile) == "yes" and any(_has_figure(check, fact) for fact in facts):
            words = standard_words(check, evidence, facts[0].source.quote)
            if words:
                return words
    return None


def _has_figure(check: Check, fact: Fact) -> bool:
    if fact.topic not in check.topics:
        return False
    units = {quantity.unit for quantity in fact.quantities}
    if check.standard is not None:
        speaks_of_cycles = bool(_OF_CYCLES.search(fact.source.quote))
        return bool(units & {"cycle space", "cycle stand"}) or (bool(units & {"space", "stand"}) and speaks_of_cycles)
    if check.figure is None or not check.figure.bounds(fact.source.quote):
        return False
    return any(quantity.unit == check.figure.unit for quantity in fact.quantities)


def standard_words(check: Check, evidence: Evidence, said: str) -> str | None:
    """Return the standard by which a statement is measured, for example `1 per bedroom (LTN 1/20:Table 11-1)`.

    If standards of several uses apply to the development, only those of the uses that the statement names.
    """
    refs = evidence.cite(check.provisions[:1])
    if not refs:
        return None
    if check.figure is not None:
        bound = check.figure.shown(check.figure.desirable)
        origin = check.figure.origin or refs[0].ref
        return f"{'at least' if check.figure.compare == 'minimum' else 'at most'} {bound} ({origin})"
    chosen = standard_of(check, evidence)
    if chosen is None:
        return None
    standard, rates = chosen
    several = len({rate.use for rate in rates}) > 1
    named = {use for use, _ in read_uses(said)}
    words = [
        f"{rate.words} of {rate.use}" if several else rate.words for rate in rates if not several or rate.use in named
    ]
    return f"{'; '.join(words)} ({readable_ref(standard.source, standard.section)})" if words else None
