"""Discrepancies of an application: sums that do not add up, one thing with two figures, words that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trigpoint.reading.arithmetic import check_sums
from trigpoint.reading.claims import find_false_claims
from trigpoint.reading.conditions import find_condition_gaps
from trigpoint.reading.contributions import money_measures
from trigpoint.reading.discrepancies import Discrepancy, Input, distinct, figures
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact
from trigpoint.reading.measured import Measured, find_differences, numbers_of
from trigpoint.reading.names import Gazetteer
from trigpoint.reading.place_measures import distances_in, place_measures, station_names
from trigpoint.reading.profile import Profile
from trigpoint.reading.prose_rates import check_rates, numbers_known
from trigpoint.reading.reported import find_reported, kinds_of
from trigpoint.reading.said import Said, read_said
from trigpoint.reading.scheme_measures import scheme_measures
from trigpoint.reading.sources import is_superseded
from trigpoint.reading.space_measures import form_measures, space_measures
from trigpoint.reading.statements import Statement
from trigpoint.reading.table_measures import table_measures
from trigpoint.reading.tables import Table, read_tables
from trigpoint.reading.unsaid_totals import check_unsaid_totals
from trigpoint.reading.vocabulary import Topic
from trigpoint.reading.worded import find_worded

_TITLE = 300  # characters in which a document names the scheme


def find_discrepancies(
    facts: Sequence[Fact], profile: Profile, statements: Sequence[Statement], documents: Sequence[Document]
) -> tuple[Discrepancy, ...]:
    """Return the sums that do not add up and the statements that contradict each other, each once."""
    said = tuple(read_said(statements, documents, facts))
    tables = tuple(read_tables(statements))
    titles = [document.text[:_TITLE] for document in documents]
    gazetteer = Gazetteer((one.text for one in said if one.statement.kind in ("sentence", "bullet")), titles)
    discrepancies = [
        *check_sums(facts, statements, documents),
        *check_rates(said, numbers_known(said)),
        *check_unsaid_totals([one for one in said if _is_ours(one.document)], tables),
        *_profile_disagreements(profile),
        *find_differences(_measured(said, tables, gazetteer), numbers_of(said)),
        *find_reported(said),
        *find_worded(said, gazetteer),
        *find_false_claims(said, tables),
        *find_condition_gaps(facts),
    ]
    return _without_repeats(distinct(discrepancies))


def _measured(said: Sequence[Said], tables: Sequence[Table], gazetteer: Gazetteer) -> list[Measured]:
    """Return the figures that the applicant's documents and the authority's report give for known things."""
    ours = [one for one in said if _is_ours(one.document)]
    stations = frozenset(name for one in ours for name in station_names(one.text))
    rows = {(one.statement.document_id, one.statement.index): one for one in ours if one.statement.kind == "row"}
    measured: list[Measured] = []
    for one in ours:
        if one.statement.kind in ("sentence", "bullet", "label"):
            measured.extend(place_measures(one, gazetteer, stations))
            measured.extend(space_measures(one, gazetteer))
            measured.extend(scheme_measures(one))
    for table in tables:
        if (table.rows[0].document_id, table.rows[0].index) in rows:
            measured.extend(table_measures(table, rows))
            measured.extend(distances_in(table, rows, stations))
    documents = {one.document.id: one.document for one in said}
    if not any("form" in kinds_of(document) for document in documents.values()):
        measured.extend(measure for one in said if not _is_ours(one.document) for measure in form_measures(one))
    return [*measured, *money_measures(ours)]


def _is_ours(document: Document) -> bool:
    return document.source_kind in ("applicant", "council") and not is_superseded(document)


def _without_repeats(discrepancies: Sequence[Discrepancy]) -> tuple[Discrepancy, ...]:
    """Return each difference once: of two on one subject the one with more figures, or else the first."""
    kept: list[Discrepancy] = []
    for one in sorted(discrepancies, key=lambda each: -len(_values_of(each))):
        if not any(_repeats(one, other) for other in kept):
            kept.append(one)
    return tuple(one for one in discrepancies if one in kept)


def _repeats(one: Discrepancy, other: Discrepancy) -> bool:
    return (
        one.kind == other.kind == "figures_differ"
        and one.topic.partition(".")[0] == other.topic.partition(".")[0]
        and len(_values_of(one) & _values_of(other)) >= 2
    )


def _values_of(one: Discrepancy) -> set[float]:
    return {each.value for each in one.inputs if each.value is not None}


def _profile_disagreements(profile: Profile) -> Iterator[Discrepancy]:
    for one in profile.disagreements:
        inputs = tuple(
            Input(value=size.size, unit=size.unit, words=size.source.quote, source=size.source)
            for size in one.sizes
            if size.source is not None
        )
        if len(inputs) > 1:
            yield _differ("development.size", inputs, f"the number of {one.sizes[0].use}")


def _differ(topic: Topic, inputs: tuple[Input, ...], what: str) -> Discrepancy:
    said = " and ".join(f"{figures(one.value or 0)} ({one.source.document}, page {one.source.page})" for one in inputs)
    return Discrepancy(
        kind="figures_differ",
        topic=topic,
        summary=f"The documents give different figures for {what}: {said}.",
        inputs=inputs,
    )
