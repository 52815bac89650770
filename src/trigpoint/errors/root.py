"""The root of all our errors, and those that every domain raises.

Each class carries the code and the HTTP status that surfaces show; its docstring is its meaning in the reference. A domain
raises, and a surface turns the error into its own envelope. Messages say what was wrong, quote the value, and say what to do.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

_BREAKS = re.compile(r"[\t\r\n][ \t\r\n]*")


class TrigpointError(Exception):
    """The root of all errors. `details` is data for programs; the message can be understood without it."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


def shorten(value: object, limit: int = 80) -> str:
    """Return the offending value as a message may quote it: on one line, printable, and never long."""
    text = _BREAKS.sub(" ", str(value))
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: limit + 1])
    return text if len(text) <= limit else text[:limit] + "…"


def first_error(group: BaseException) -> BaseException:
    """Return what went wrong, out of the groups in which tasks wrap it."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


class ConfigurationError(TrigpointError):
    """A setting is wrong; raised at start, names the variable, its value and what is valid."""

    code = "configuration_error"


class InvalidInput(TrigpointError):
    """A value from outside does not have the required form."""

    code = "validation_error"
    status = 422


class InvalidDate(InvalidInput):
    """A date is malformed, or there is no such day."""

    code = "invalid_date"


class InvalidReference(InvalidInput):
    """A planning reference does not have the form that the register uses."""

    code = "invalid_reference"
