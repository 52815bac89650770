"""The distinct queries, pages and topics of a project, each with how many rows have it: small enough to look through."""

from __future__ import annotations

from sqlalchemy import Connection, Table, select

from trigpoint.graph.search_text import can_match, contains, fold


def texts_with(connection: Connection, dictionary: Table, project_id: str, term: str) -> dict[str, int]:
    """The texts that hold the term, and the number of rows of each."""
    if not can_match(term):
        return {}
    texts = dictionary.c
    where = (texts.project_id == project_id, contains(texts.folded, fold(term)), texts.n > 0)
    return dict(connection.execute(select(texts.text, texts.n).where(*where)).all())
