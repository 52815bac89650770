"""Values of requests: parsed strictly, with one parser for each form."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from trigpoint.dates import parse_day
from trigpoint.errors import InvalidInput, shorten
from trigpoint.ids import parse_policy_source

T = TypeVar("T")

_DIGITS = re.compile(r"-?[0-9]{1,15}", re.ASCII)


def _strictly(parse: Callable[[object], T]) -> Callable[[object], T]:
    """Return a validator for pydantic, which wants a ValueError instead of our parsers' own errors."""

    def validate(value: object) -> T:
        if not isinstance(value, str | date):  # our parsers would quote it as Python writes it
            raise PydanticCustomError("string_type", "Input should be a valid string")
        try:
            return parse(value)
        except InvalidInput as error:
            raise ValueError(error.message) from None

    return validate


def _parse_whole_number(value: object) -> int:
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    raise InvalidInput(f"'{shorten(value)}' is not a whole number")


def _without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("contains a NUL character, which not every store can hold")
    return text


def _day(value: object) -> date:
    return value if isinstance(value, date) else parse_day(value)


def _string(pattern: str, example: str, **more: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example], **more})


def one_of(values: Iterable[str]) -> WithJsonSchema:
    """Return the schema of a string whose values are checked elsewhere, with its own message or code."""
    return WithJsonSchema({"type": "string", "enum": list(values)})


NO_NUL = AfterValidator(_without_nul)
PolicySource = Annotated[
    str,
    BeforeValidator(_strictly(parse_policy_source)),
    _string(r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$", "LTN_1_20", maxLength=64),
]
Day = Annotated[
    date,
    BeforeValidator(_strictly(_day)),
    WithJsonSchema({"type": "string", "format": "date", "examples": ["2024-12-12"]}),
]
DIGITS = BeforeValidator(_strictly(_parse_whole_number))
PageLimit = Annotated[int, Field(ge=1, le=100), DIGITS]
Offset = Annotated[int, Field(ge=0, le=10**12), DIGITS]
