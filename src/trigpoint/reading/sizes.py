"""Sizes of the whole development that the documents state in sentences and tables: homes, pupils, jobs, floor areas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trigpoint.reading.documents import Document
from trigpoint.reading.measured import Measured, is_addendum
from trigpoint.reading.said import Said, read_said
from trigpoint.reading.scheme_measures import scheme_measures
from trigpoint.reading.sources import is_superseded
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.reading.table_measures import table_measures
from trigpoint.reading.tables import read_tables

_KINDS = ("homes", "people", "area")


def stated_sizes(documents: Sequence[Document]) -> Iterator[Measured]:
    """Yield one figure for each size that the applicant's documents state of the whole development.

    Of several figures an addendum's counts, then the one that most documents give, then the first.
    """
    own = [one for one in documents if one.source_kind in ("applicant", "council") and not is_superseded(one)]
    statements = [one for document in own for one in document_statements(document)]
    by_key: dict[tuple[str, ...], list[Measured]] = {}
    for one in _sizes(statements, own):
        by_key.setdefault(one.key, []).append(one)
    for group in by_key.values():
        yield _best_measure(group)


def _sizes(statements: Sequence[Statement], documents: Sequence[Document]) -> Iterator[Measured]:
    said = tuple(read_said(statements, documents, ()))
    rows: dict[tuple[str, int], Said] = {(one.document.id, one.statement.index): one for one in said}
    sizes = [one for each in said if each.statement.kind != "row" for one in scheme_measures(each)]
    sizes += [one for table in read_tables(statements) for one in table_measures(table, rows)]
    return (one for one in sizes if one.key[0] in _KINDS and "existing" not in one.quantity.of.split())


def _best_measure(group: Sequence[Measured]) -> Measured:
    revised = [one for one in group if is_addendum(one.said.document)] or list(group)
    documents = Counter({one.value: 0 for one in revised})
    documents.update(value for value, _ in {(one.value, one.document) for one in revised})
    most = max(documents.values())
    return next(one for one in revised if documents[one.value] == most)
