"""The fields of what comes from outside: each a type that says in words what its value must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from trigpoint.errors import GraphBadRequest, InvalidInput, shorten
from trigpoint.graph.moments import parse_moment
from trigpoint.graph.vocabulary import LONGEST
from trigpoint.ids import parse_uuid

UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_UNFIT_IN_LINES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,16}", re.ASCII)


def one_of(values: Collection[str]) -> BeforeValidator:
    return BeforeValidator(lambda value: check_member(value, values))


def check_member(value: object, values: Collection[str]) -> str:
    if not isinstance(value, str) or value not in values:
        raise ValueError(f"Valid values: {', '.join(values)}")
    return value


def text(name: str, *, lines: bool = False) -> BeforeValidator:
    """Accept text that every store can hold, of the length allowed for `name`; with `lines`, of several lines."""
    return BeforeValidator(lambda value: check_text(value, LONGEST[name], _UNFIT_IN_LINES if lines else UNFIT))


def check_text(value: object, longest: int, unfit: re.Pattern[str] = UNFIT) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("Must be a text that is not empty")
    if unfit.search(value):
        raise ValueError("Must not contain control characters or half of a surrogate pair")
    if len(value.encode()) > longest:
        raise ValueError(f"Must be at most {longest} bytes of UTF-8; it has {len(value.encode())}")
    return value


def uuid_of(value: object) -> str:
    try:
        return parse_uuid(value)
    except InvalidInput:
        raise ValueError("Must be a UUID") from None


def _slug(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST["slug"] or _SLUG.fullmatch(value) is None:
        raise ValueError(f"Must be lower-case letters, digits and single hyphens, at most {LONGEST['slug']}")
    return value


def _checked_http_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("Must start with http:// or https://")
    return value


def _digits(value: object) -> int:
    if _DIGITS.fullmatch(str(value)) is None:
        raise ValueError("Must be a whole number")
    return int(str(value))


Uuid = Annotated[str, BeforeValidator(uuid_of)]
Slug = Annotated[str, BeforeValidator(_slug)]
Moment = Annotated[int, BeforeValidator(parse_moment)]
Url = Annotated[str, AfterValidator(_checked_http_url), text("url")]
Digits = Annotated[int, BeforeValidator(_digits)]
Whole = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Real = Annotated[float, Field(strict=True, lt=1e9, allow_inf_nan=False)]


class Input(BaseModel):
    """Something from outside. Fields have their camelCase names there; unknown ones are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, validate_by_name=True)

    @classmethod
    def json_fields(cls) -> tuple[str, ...]:
        return tuple(field.alias or name for name, field in cls.model_fields.items())

    @classmethod
    def parse(cls, given: object) -> Self:
        """Return the value. Raise GraphBadRequest that says which field is wrong, its value, and what it must be."""
        try:
            return cls.model_validate(given, by_alias=True, by_name=False)
        except ValidationError as error:
            raise GraphBadRequest(explained(error.errors()[0], cls)) from None


class Filter(Input):
    """Parameters of a read: an empty value counts as absent, unknown names are ignored."""

    model_config = ConfigDict(extra="ignore")

    @classmethod
    def parse(cls, given: object) -> Self:
        params = given if isinstance(given, Mapping) else {}
        return super().parse({name: value for name, value in params.items() if value not in (None, "")})


def explained(error: ErrorDetails, of: type[Input], *, skipped: int = 0) -> str:
    """Return what is wrong in one sentence or two; the first `skipped` parts of the place are left out."""
    name, rule = ".".join(map(str, error["loc"][skipped:])), error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        return f"{name} is required"
    if error["type"] == "extra_forbidden":
        return f"Unknown field: '{shorten(name)}'. Known fields: {', '.join(of.json_fields())}"
    if error["type"] in ("model_type", "model_attributes_type"):
        return "The body must be a JSON object"
    return f"Invalid {name}: '{shorten(error['input'])}'. {rule}" if name else rule


def checked(check: Callable[..., str], value: object, name: str, *allowed: Any) -> str:
    """Return one value that has passed a check. Raise GraphBadRequest that calls it `name`."""
    try:
        return check(value, *allowed)
    except ValueError as error:
        raise GraphBadRequest(f"Invalid {name}: '{shorten(value)}'. {error}") from None


def check_uuid(value: object, name: str) -> str:
    return checked(uuid_of, value, name)


def check_slug(value: object, name: str) -> str:
    return checked(_slug, value, name)
