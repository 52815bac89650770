"""Reads of quotable blocks. A topic is looked for in the distinct topics; see `queries.py` for how pages are read."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam

from trigpoint.graph.distinct_texts import texts_with
from trigpoint.graph.filters import BlockFilter
from trigpoint.graph.listing import (
    Asked,
    Key,
    Listing,
    Position,
    Where,
    ask_for,
    counted,
    is_selective,
    rows_from,
    summed,
)
from trigpoint.graph.lists import among_named
from trigpoint.graph.models import QuotableBlock
from trigpoint.graph.paging import Page, PageRequest, pagination, position, scope_of
from trigpoint.graph.search_text import can_match, contains, fold, unindexed
from trigpoint.graph.state import state_of, total_of
from trigpoint.graph.tables import block_count, block_topic, quotable_block

_block = quotable_block.c
BLOCKS = Listing(
    quotable_block,
    list(_block),
    ["id"],
    (Key(_block.created_at, int, descending=True), Key(_block.id, descending=True, is_id=True)),
)


def list_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, request: PageRequest
) -> Page[QuotableBlock]:
    scope = scope_of("blocks", project_id, chosen)
    at = position(request, scope, BLOCKS)
    if chosen == BlockFilter(claim_type=chosen.claim_type):
        columns = {"project_id": project_id, "claim_type": chosen.claim_type}
        total = summed(connection, block_count, ask_for(block_count, columns))
        rows, follows = rows_from(connection, BLOCKS, at, ask_for(quotable_block, columns))
    elif chosen.topic_tag is None or can_match(chosen.topic_tag):
        total, rows, follows = _chosen_blocks(connection, project_id, chosen, at)
    else:
        total, rows, follows = 0, [], False
    shapes = [QuotableBlock.of(row) for row in rows]
    return Page(shapes, pagination(at, total, rows, follows, scope, BLOCKS))


def _chosen_blocks(
    connection: Connection, project_id: str, chosen: BlockFilter, at: Position
) -> tuple[int, list[RowMapping], bool]:
    state = state_of(connection, project_id, block_count)
    values: dict[str, Any] = {name: value for name, value in asdict(chosen).items() if value is not None}
    values["project_id"] = project_id
    topics: dict[str, int] = {}
    if chosen.topic_tag is not None:
        topics = texts_with(connection, block_topic, state, chosen.topic_tag)
        values |= {"topic_tag": fold(chosen.topic_tag), "topics": list(topics)}
    gathered = Asked(_conditions(frozenset(values)), values)
    if chosen == BlockFilter(topic_tag=chosen.topic_tag):
        total = sum(topics.values())
    else:
        total = total_of(connection, state, chosen, lambda: counted(connection, quotable_block, gathered))
    if chosen.entity_id is None and is_selective(total, state.rows, at):
        return total, *rows_from(connection, BLOCKS, at, gathered, gathered=quotable_block)
    return total, *rows_from(connection, BLOCKS, at, Asked(_conditions(frozenset(values), walking=True), values))


@lru_cache(maxsize=64)
def _conditions(names: frozenset[str], *, walking: bool = False) -> Where:
    """Of a walk along the ordering, which tests the topic on the row itself, or to gather what matches."""
    until = unindexed(_block.verified_until) if walking else _block.verified_until
    topic = contains(_block.topic_folded, "topic_tag") if walking else among_named(_block.topic_tag, "topics")
    conditions = {
        "project_id": _block.project_id == bindparam("project_id"),
        "entity_id": _block.entity_id == bindparam("entity_id"),
        "claim_type": _block.claim_type == bindparam("claim_type"),
        "topic_tag": topic,
        "verified_from": until >= bindparam("verified_from"),
        "verified_to": until <= bindparam("verified_to"),
    }
    return tuple(condition for name, condition in conditions.items() if name in names)
