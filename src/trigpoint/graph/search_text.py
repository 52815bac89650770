"""Text as it is searched: case-folded, literal (no wildcards), the same on both databases.

Titles are looked up by grams, their pairs and triples of characters: words of an FTS5 table on SQLite, an array under a GIN
index on PostgreSQL. FTS5's own trigrams and `pg_trgm` cannot look up two letters: every title would be read, and the bar
"entities by two letters" falls several times over.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    and_,
    column,
    false,
    func,
    literal,
    select,
    table,
)
from sqlalchemy import literal_column as sql

from trigpoint.graph.fields import UNFIT
from trigpoint.graph.listing import FEW, count
from trigpoint.graph.tables import entity_text

_grams = table("entity_gram", column("rowid"))


def fold(text: str) -> str:
    return text.casefold()


def folded_entity(title: str, slug: str) -> str:
    """Return what `search` looks in: the title and the slug, never across the two."""
    return fold(title) + "\n" + fold(slug)


def gram_words(project_id: str, folded: str) -> str:
    """Return the function `graph_grams` of SQLite: every gram of the title and of the slug, as words for FTS5."""
    parts = folded.split("\n")
    grams = {part[i : i + size] for part in parts for size in (2, 3) for i in range(len(part) - size + 1)}
    return " ".join(_word(project_id, gram) for gram in grams)


def _word(project_id: str, gram: str) -> str:
    """Return a gram as a word of its project, so that other projects' texts are not searched.

    It starts with a letter, as FTS5 demands.
    """
    return "p" + project_id.replace("-", "") + gram.encode("utf-8", "surrogatepass").hex()


def contains(connection: Connection, text: ColumnElement[Any], term: str) -> ColumnElement[bool]:
    """Return the condition that the text contains the term, tested on the text itself."""
    if UNFIT.search(term):  # stored text has no such character, and it may not reach the database
        return false()
    position = func.strpos if connection.dialect.name == "postgresql" else func.instr
    return position(text, fold(term)) > 0


class Titles:
    """The titles and slugs of a project that contain a term, as conditions on `entity_text`."""

    def __init__(self, connection: Connection, project_id: str, term: str) -> None:
        self._connection, self._project_id = connection, project_id
        folded = fold(term)
        size = min(len(folded), 3)
        last = len(folded) - size
        self._grams = sorted({folded[i : i + size] for i in (*range(0, last, size), last)}) if size > 1 else []
        if UNFIT.search(term):
            self._grams = []
        self._exact = self._grams == [folded]  # what has the gram contains the term
        self._tested = contains(connection, entity_text.c.folded, term)

    def found(self) -> ColumnElement[bool]:
        """Look the grams up, then test the text if they do not decide."""
        return and_(self._with_grams(), *([] if self._exact else [self._tested]))

    def total(self, keys: Select[Any], *, alone: bool) -> int | None:
        """Return how many rows have these `keys`; None if they are few, or if to count them costs as much as to gather them.

        `alone` says that the term is the only filter: two or three letters are then counted in the index alone.
        """
        on_sqlite = self._connection.dialect.name == "sqlite"
        if self._grams and on_sqlite and (most := count(self._connection, _grams, [self._match()])) <= FEW:
            return None
        if self._exact and alone:
            return most if on_sqlite else count(self._connection, entity_text, [self._with_grams()])
        return count(self._connection, keys.subquery()) if on_sqlite or not self._grams else None

    def _with_grams(self) -> ColumnElement[bool]:
        if not self._grams:
            return entity_text.c.project_id == self._project_id
        if self._connection.dialect.name == "postgresql":
            grams = literal([self._project_id + gram for gram in self._grams], ARRAY(Text))
            return func.graph_grams(entity_text.c.project_id, entity_text.c.folded).op("@>")(grams)
        return entity_text.c.seq.in_(select(_grams.c.rowid).where(self._match()))

    def _match(self) -> ColumnElement[bool]:
        words = " AND ".join(_word(self._project_id, gram) for gram in self._grams)
        return sql(_grams.name).bool_op("MATCH")(words)


def texts_with(connection: Connection, texts: Table, project_id: str, term: str) -> dict[str, int]:
    """Return the distinct texts of the project that contain the term, and the number of rows of each."""
    where = (texts.c.project_id == project_id, contains(connection, texts.c.folded, term))
    return {row.text: row.n for row in connection.execute(select(texts.c.text, texts.c.n).where(*where))}


def among(connection: Connection, text: ColumnElement[Any], values: Collection[str]) -> ColumnElement[bool]:
    """Return the condition that the text is one of these, which are sent as one parameter, however many they are."""
    if connection.dialect.name == "postgresql":
        return text == func.any(literal(list(values), ARRAY(Text)))
    each = func.json_each(orjson.dumps(list(values)).decode()).table_valued("value")
    return text.in_(select(each.c.value))
