"""The limit on an answer's size: the official Python client ends the connection at an event of more than 1 MiB.

An answer is sent twice, as data and as text, if both fit; as data alone, with a text that says so, if only that fits;
with its list cut short if even that is too large; and as an error that says what to do as the last resort.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from trigpoint.errors import AnswerTooLarge

ANY_SIZE_HEADER = "x-trigpoint-any-size"  # sent by our own client, which has no limit
MOST_BYTES = 1_000_000  # of 1,048,576: the rest is for the envelope
_NOTE_BYTES = 1_000


@dataclass(frozen=True)
class Cut:
    """The list of an answer that may be cut short, the field with its length, if any, and how to get the rest."""

    items: str
    count: str | None
    way_out: str


def tool_result(body: dict[str, Any], *, failed: bool = False, any_size: bool = False) -> types.CallToolResult:
    """Return the answer as data and as text; as data alone if both together are too large. See `fitting`."""
    text = json.dumps(body, ensure_ascii=False)
    surely_fits = any_size or 12 * len(text) <= MOST_BYTES  # 4 bytes a character, and as text twice that for its quotes
    if not surely_fits and _bytes(text) + _bytes(json.dumps(text, ensure_ascii=False)) > MOST_BYTES:
        text = (
            f"The answer has {_size(_bytes(text))} and is in structuredContent only: as text as well it would exceed "
            "what MCP clients accept. If you see no data, ask for less, for instance for fewer results."
        )
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=body, is_error=failed)


def fitting(body: dict[str, Any], cut: Cut | None, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Return the body, with its list cut short if that is needed for it to fit. Raise AnswerTooLarge if nothing helps."""
    size = body_bytes(body)
    if size <= most_bytes - _NOTE_BYTES:
        return body
    items = body.get(cut.items) if cut else None
    if cut is None or not isinstance(items, list):
        raise AnswerTooLarge(f"The answer has {_size(size)}; MCP clients accept {_size(most_bytes)}. Ask for less")
    kept = _as_many_as_fit(body, cut.items, items, most_bytes)
    if not kept:
        raise AnswerTooLarge(
            f"The answer has {_size(size)}, and is too large even without most of it; MCP clients accept "
            f"{_size(most_bytes)}. {cut.way_out}"
        )
    note = {
        "count": len(items) - len(kept),
        "reason": f"The answer would have {_size(size)}; MCP clients accept {_size(most_bytes)}. {cut.way_out}",
    }
    counted = {cut.count: len(kept)} if cut.count else {}
    return {**body, cut.items: kept, **counted, "left_off": note}


def fitting_text(text: str, most_bytes: int = MOST_BYTES - 100_000) -> str:
    """Return the longest beginning of the text that fits into an answer as data, ending with a whole line if it can."""
    if 6 * len(text) <= most_bytes or _bytes(json.dumps(text, ensure_ascii=False)) <= most_bytes:
        return text
    least, most = 0, len(text)
    while least < most:
        middle = (least + most + 1) // 2
        if _bytes(json.dumps(text[:middle], ensure_ascii=False)) <= most_bytes:
            least = middle
        else:
            most = middle - 1
    line_end = text.rfind("\n", least // 2, least) + 1
    return text[: line_end or least]


def left_off_schema() -> dict[str, Any]:
    """Return the schema of the note on an answer that was cut short: how much is missing, why, and how to get it."""
    return {"type": "object", "description": "If cut short: count, reason"}


def _as_many_as_fit(body: Mapping[str, Any], field: str, items: list[Any], most_bytes: int) -> list[Any]:
    left = most_bytes - 2 * _NOTE_BYTES - body_bytes({**body, field: []})
    kept = []
    for item in items:
        left -= _bytes(json.dumps(item, ensure_ascii=False)) + 2
        if left < 0:
            break
        kept.append(item)
    return kept


def body_bytes(body: Mapping[str, Any]) -> int:
    """Return the size of an answer as JSON."""
    return _bytes(json.dumps(body, ensure_ascii=False))


def _bytes(text: str) -> int:
    return len(text.encode())


def _size(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB" if count >= 1_000_000 else f"{count // 1000} kB"
