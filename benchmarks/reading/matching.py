"""Which statement of the reading a labelled text belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchmarks.reading.applications import Label, LabelledApplication
from trigpoint.reading.statements import Statement

_LETTERS = re.compile(r"[^a-z0-9]+")
MOST_PAGES_APART = 1
LEAST_SHARED = 0.6


def letters(text: str) -> str:
    """Return a text reduced to lower-case letters and digits with single spaces."""
    return _LETTERS.sub(" ", text.lower()).strip()


def match_labels(application: LabelledApplication) -> list[tuple[Label, tuple[Statement, ...]]]:
    """Return each label with the statements that hold its words; none if it was not found whole enough."""
    plain = [(one, letters(one.text)) for one in application.statements]
    return [(label, _statements_of(label, plain)) for label in application.labels]


def _statements_of(label: Label, plain: Sequence[tuple[Statement, str]]) -> tuple[Statement, ...]:
    wanted = letters(label.text)
    near = [(one, text) for one, text in plain if _on_page(label, one) and text]
    whole = [one for one, text in near if wanted in text]
    if whole:
        exact = [one for one in whole if _same_page(label, one)] or whole
        return (min(exact, key=lambda one: len(one.text)),)
    parts = [one for one, text in near if len(text) > 8 and text in wanted]
    if parts and sum(len(letters(one.text)) for one in parts) >= LEAST_SHARED * len(wanted):
        return tuple(parts)
    words = set(wanted.split())
    best = max(near, key=lambda pair: _overlap(words, set(pair[1].split())), default=None)
    if best is not None and _overlap(words, set(best[1].split())) >= LEAST_SHARED:
        return (best[0],)
    return ()


def _overlap(words: set[str], others: set[str]) -> float:
    return len(words & others) / len(words) if words else 0.0


def _same_page(label: Label, one: Statement) -> bool:
    return label.page is None or one.page is None or one.page <= label.page <= (one.last_page or one.page)


def _on_page(label: Label, one: Statement) -> bool:
    if one.document_id != label.doc:
        return False
    if label.page is None or one.page is None:
        return True
    return one.page - MOST_PAGES_APART <= label.page <= (one.last_page or one.page) + MOST_PAGES_APART
