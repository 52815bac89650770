"""Logging: to stderr only, with the id of the request that a line belongs to; as text or as JSON (`LOG_FORMAT`).

A surface sets `request_id` for the length of a call; threads started by `asyncio.to_thread` inherit it.
"""

from __future__ import annotations

import json
import logging
import secrets
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from trigpoint.config import Settings

request_id: ContextVar[str] = ContextVar("request_id", default="-")

_TALKATIVE = (
    "httpx",
    "httpx2",
    "httpcore",
    "mcp",
    "sse_starlette",
    "chromadb",
    "asyncio",
    "saq",
    "multipart",
    "alembic",
)


def new_request_id() -> str:
    return f"req_{secrets.token_hex(6)}"


class _WithRequestId(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id.get()
        return True


class _TextLine(logging.Formatter):
    """Writes one line per event and escapes what a caller sent: a line break would forge a second event, a control code act on the terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging calls it so
        record.message = _escaped(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return "\n".join(_escaped(line) for line in super().formatException(ei).split("\n"))


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in line)


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": getattr(record, "request_id", "-"),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        text = json.dumps(line, ensure_ascii=False)
        return text if text.isprintable() else "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def configure_logging(settings: Settings) -> None:
    """Send all logs to stderr: on the stdio transport, stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_WithRequestId())
    text = _TextLine("%(asctime)s %(levelname)-7s %(name)s [%(request_id)s] %(message)s")
    handler.setFormatter(_JsonLine() if settings.log_format == "json" else text)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level)
    for name in _TALKATIVE:  # at DEBUG some of these print request bodies and headers
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn.error").setLevel(max(logging.WARNING, root.level))  # "Started server process", six times
