"""Text as it is searched: case-folded, literal (no wildcards), the same on both databases.

Titles are looked up by their pairs of characters. On SQLite, FTS5's trigram tokenizer reads them with a mark between any
two characters, so that its tokens are pairs: trigrams of the text itself could not serve a search for two letters. On
PostgreSQL they are an array under a GIN index; `pg_trgm` needs three letters, too, and was no faster for longer terms.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Table,
    Text,
    column,
    false,
    func,
    literal,
    literal_column,
    select,
    table,
)

from trigpoint.graph.fields import UNFIT
from trigpoint.graph.tables import entity

_MARK = "\x1f"  # no stored text and no term that can match holds it
_titles = table("entity_pairs", column("rowid"))


def fold(text: str) -> str:
    return text.casefold()


def entity_text(title: str, slug: str) -> str:
    """Return what `search` looks in: the title and the slug, never across the two."""
    return fold(title) + "\n" + fold(slug)


def spread(folded: str) -> str:
    """The function `graph_pairs` of SQLite: the text with a mark before, after and between its characters."""
    return _MARK + _MARK.join(folded) + _MARK


def contains(connection: Connection, text: ColumnElement[Any], term: str) -> ColumnElement[bool]:
    """Test the text itself."""
    if UNFIT.search(term):  # stored text has no such character, and it may not reach the database
        return false()
    position = func.strpos if connection.dialect.name == "postgresql" else func.instr
    return position(text, fold(term)) > 0


def title_contains(connection: Connection, term: str) -> ColumnElement[bool]:
    """Look titles and slugs up in the index of pairs, then test them."""
    tested, folded = contains(connection, entity.c.folded, term), fold(term)
    if UNFIT.search(term):
        return tested
    pairs = sorted({folded[i : i + 2] for i in (*range(0, len(folded) - 2, 2), max(len(folded) - 2, 0))})
    if connection.dialect.name == "postgresql":
        has_pairs = func.graph_pairs(entity.c.folded).op("@>")(literal(pairs, ARRAY(Text)))
        return tested & has_pairs if len(folded) > 1 else tested
    words = (_MARK.join(pair) if len(pair) > 1 else _MARK + pair + _MARK for pair in pairs)
    match = " AND ".join('"' + word.replace('"', '""') + '"' for word in words)
    return tested & entity.c.seq.in_(select(_titles.c.rowid).where(literal_column(_titles.name).op("MATCH")(match)))


def one_of_texts(
    connection: Connection, text: ColumnElement[Any], texts: Table, project_id: str, term: str
) -> ColumnElement[bool]:
    """Look the term up among the distinct texts of the project, which are few next to the rows that have them."""
    holding = select(texts.c.text).where(texts.c.project_id == project_id, contains(connection, texts.c.folded, term))
    if connection.dialect.name == "postgresql":  # as an array, it is not planned as a join with every row
        return text == func.any(func.array(holding.scalar_subquery()))
    return text.in_(holding)
