"""Text as it is searched: case-folded, literal, the same on both databases.

`contains` is a plain substring test (no wildcards to escape). Grams are hashed pairs and triples of characters;
they narrow a search to candidates, `contains` decides.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from sqlalchemy import ARRAY, Boolean, ColumnElement, Integer, Text, TypeDecorator
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

SEPARATOR = "\n"  # stands between title and slug; neither can hold it


def fold(text: str) -> str:
    return text.casefold()


def entity_text(title: str, slug: str) -> str:
    """What `search` looks in: the title and the slug, never across the two."""
    return fold(title) + SEPARATOR + fold(slug)


def text_grams(folded: str) -> list[int]:
    """Every pair and triple of characters of an entity's text, hashed, within its two parts."""
    grams: set[str] = set()
    for part in folded.split(SEPARATOR):
        grams.update(part[i : i + 2] for i in range(len(part) - 1))
        grams.update(part[i : i + 3] for i in range(len(part) - 2))
    return sorted(_hash(gram) for gram in grams)


def term_grams(folded: str) -> list[int]:
    """The grams that a text must have to contain the term; none for a single character."""
    size = min(len(folded), 3)
    if size < 2:
        return []
    return sorted({_hash(folded[i : i + size]) for i in range(len(folded) - size + 1)})


def _hash(gram: str) -> int:
    return zlib.crc32(gram.encode("utf-8", "surrogatepass")) - 2**31


class Grams(TypeDecorator[list[int]]):
    """An integer array on PostgreSQL (GIN); words for FTS5 on SQLite."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> Any:
        return dialect.type_descriptor(ARRAY(Integer) if dialect.name == "postgresql" else Text())

    def process_bind_param(self, value: Sequence[int] | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return " ".join(gram_word(gram) for gram in value)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        return self


def gram_word(gram: int) -> str:
    return f"{gram + 2**31:08x}"


class contains(FunctionElement[bool]):  # noqa: N801  reads as SQL
    """`contains(column, term)`: the term stands in the text, character by character."""

    type = Boolean()
    inherit_cache = True


@compiles(contains, "sqlite")
def _instr(element: Any, compiler: Any, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)}) > 0"


@compiles(contains, "postgresql")
def _strpos(element: Any, compiler: Any, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)}) > 0"


class has_grams(FunctionElement[bool]):  # noqa: N801  reads as SQL
    """`has_grams(entity.c.grams, [...])` on PostgreSQL: array containment, served by GIN."""

    type = Boolean()
    inherit_cache = True


@compiles(has_grams, "postgresql")
def _contained(element: Any, compiler: Any, **kw: Any) -> str:
    left, right = element.clauses
    return f"{compiler.process(left, **kw)} @> {compiler.process(right, **kw)}"


class unindexed(FunctionElement[Any]):  # noqa: N801  reads as SQL
    """A column that SQLite shall not look up by an index here: it has no statistics to choose well by."""

    inherit_cache = True

    def __init__(self, column: ColumnElement[Any]) -> None:
        super().__init__(column)
        self.type = column.type


@compiles(unindexed, "sqlite")
def _plus(element: Any, compiler: Any, **kw: Any) -> str:
    return f"+{compiler.process(element.clauses, **kw)}"


@compiles(unindexed, "postgresql")
def _bare(element: Any, compiler: Any, **kw: Any) -> str:
    return str(compiler.process(element.clauses, **kw))
