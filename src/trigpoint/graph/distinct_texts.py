"""The distinct queries, pages and topics of a project, each with how many rows have it: small enough to look through.

The database looks through them, and from the second time in the same state, when reading them all has paid, we do.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

from sqlalchemy import Connection, Select, Table, bindparam, select

from trigpoint.graph.memory import Memory
from trigpoint.graph.search_text import contains, fold
from trigpoint.graph.state import State

_MOST = 100_000  # texts of one project to hold; more are always looked through by the database
Texts = list[tuple[str, str, int]]  # a text, folded, and the number of its rows
_held: Memory[Texts | Literal["asked for once", "too many"]] = Memory(most=2 * _MOST, weight=len)


def texts_with(connection: Connection, dictionary: Table, state: State, term: str) -> dict[str, int]:
    """The texts that hold the term, and the number of rows of each."""
    key, values = (dictionary.name, state), {"project_id": state.project_id, "term": fold(term)}
    held = _held.get(connection.engine, key)
    if held is None:
        _held.put(connection.engine, key, "asked for once")
    elif held == "asked for once":
        held = _read(connection, dictionary, state.project_id)
        _held.put(connection.engine, key, held)
    if isinstance(held, list):
        term = values["term"]
        return {text: n for text, folded, n in held if term in folded}
    return {text: n for text, _, n in connection.execute(_texts(dictionary, with_term=True), values)}


def _read(connection: Connection, dictionary: Table, project_id: str) -> Texts | Literal["too many"]:
    rows = connection.execute(_texts(dictionary).limit(_MOST + 1), {"project_id": project_id}).all()
    if len(rows) > _MOST:
        return "too many"
    return [(text, text if folded == text else folded, n) for text, folded, n in rows]


@cache
def _texts(dictionary: Table, *, with_term: bool = False) -> Select[Any]:
    texts = dictionary.c
    where = [texts.project_id == bindparam("project_id"), texts.n > 0]
    return select(texts.text, texts.folded, texts.n).where(
        *where, *([contains(texts.folded, "term")] if with_term else [])
    )
