"""Text as it is searched: case-folded, literal, the same on both databases.

`contains` is a plain substring test (no wildcards to escape). Grams are the pairs and triples of characters of a text;
an index of them narrows a search to candidates (FTS5 on SQLite, GIN on PostgreSQL), `contains` decides.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, FromClause, Text, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from trigpoint.graph.lists import Condition, values_named

SEPARATOR = "\n"  # stands between title and slug; neither can hold it


def fold(text: str) -> str:
    return text.casefold()


def can_match(term: str) -> bool:
    """Stored text holds no control characters, so a term with one finds nothing (and may not reach the database)."""
    return all(c >= " " and c != "\x7f" for c in term)


def entity_text(title: str, slug: str) -> str:
    """What `search` looks in: the title and the slug, never across the two."""
    return fold(title) + SEPARATOR + fold(slug)


def gram_words(project_id: str, folded: str) -> str:
    """Every gram of an entity's text, within its two parts, as words for FTS5: the function `graph_grams` on SQLite."""
    grams = {
        part[i : i + size] for part in folded.split(SEPARATOR) for size in (2, 3) for i in range(len(part) - size + 1)
    }
    return " ".join(_word(project_id, gram) for gram in grams)


def term_grams(folded: str) -> list[str]:
    """Grams that together are the term, which a text must have to contain it; none for a single character."""
    size = min(len(folded), 3)
    if size < 2:
        return []
    last = len(folded) - size
    return sorted({folded[i : i + size] for i in (*range(0, last, size), last)})


def gram_match(project_id: str, grams: list[str]) -> str:
    """FTS5's way to ask for the texts of a project with all of these grams."""
    return " AND ".join(_word(project_id, gram) for gram in grams)


def _word(project_id: str, gram: str) -> str:
    """A project has words of its own, so that its texts are found without a look at others'. FTS5 wants a letter first."""
    return "p" + project_id.replace("-", "") + gram.encode("utf-8", "surrogatepass").hex()


class _Contains(Condition):
    inherit_cache = True


def contains(text: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The term of this name stands in the text, character by character; both are folded."""
    return _Contains(text, bindparam(name, type_=Text()))


@compiles(_Contains, "sqlite")
def _instr(element: Any, compiler: Any, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)}) > 0"


@compiles(_Contains, "postgresql")
def _strpos(element: Any, compiler: Any, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)}) > 0"


class _HasGrams(Condition):
    inherit_cache = True


def has_grams(texts: FromClause, name: str) -> ColumnElement[bool]:
    """On PostgreSQL: texts that have all grams given by this name, looked up in the GIN index on `graph_grams`."""
    return _HasGrams(texts.c.project_id, texts.c.folded, values_named(name, Text()))


@compiles(_HasGrams, "postgresql")
def _contained(element: Any, compiler: Any, **kw: Any) -> str:
    project, folded, grams = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"graph_grams({project}, {folded}) @> {grams}"


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
