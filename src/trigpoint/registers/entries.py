"""The planning register of each authority: the rows of `registers.toml` and of the operator's own file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from trigpoint.config import Settings
from trigpoint.errors import ApplicationNotFound, ConfigurationError, InvalidReference, UnknownAuthority, shorten
from trigpoint.ids import parse_application_ref

_SHIPPED = Path(__file__).with_name("registers.toml")
WAY_OUT = (
    'save the documents and review them from a folder: `trigpoint review --documents FOLDER`, or "Review what I have" '
    "on the start page"
)
_ANY_REFERENCE = r"[A-Z0-9][A-Z0-9/._-]{2,39}"
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)

Software = Literal["atrium", "idox", "other"]


class RegisterEntry(BaseModel):
    """One authority's register. `tried` says who has fetched documents from it with a program, and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    authority: str
    name: str
    short_name: str = ""
    software: Software
    product: str = ""
    address: str
    setting: str | None = Field(None, description="The setting that holds the address, instead of `address`.")
    reference: str = _ANY_REFERENCE
    example: str = ""
    post: str = Field("", max_length=1_000, description="The postal address for letters, one line of it on each line.")
    tried: str = "not tried"
    note: str = ""

    @field_validator("authority")
    @classmethod
    def _is_slug(cls, value: str) -> str:
        if not _SLUG.fullmatch(value) or len(value) > 40:
            raise ValueError(f"'{shorten(value)}' is not a slug: lower-case letters, digits and hyphens, at most 40")
        return value

    @field_validator("address")
    @classmethod
    def _is_address(cls, value: str) -> str:
        if urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname:
            raise ValueError(f"'{shorten(value)}' is not an http:// or https:// address")
        return value.rstrip("/")

    @field_validator("reference")
    @classmethod
    def _is_pattern(cls, value: str) -> str:
        try:
            re.compile(value, re.ASCII)
        except re.error as error:
            raise ValueError(f"'{shorten(value)}' is not a regular expression: {error}") from None
        return value

    @property
    def readable(self) -> bool:
        """Whether Trigpoint can read this register's software."""
        return self.software != "other"

    def check_reference(self, value: object) -> str:
        """Return a reference of this authority in upper case. Raises InvalidReference."""
        if self.setting is not None:
            return parse_application_ref(value)
        text = value.strip().upper() if isinstance(value, str) else ""
        safe = re.fullmatch(_ANY_REFERENCE, text, re.ASCII) and ".." not in text and "//" not in text
        if not safe or re.fullmatch(self.reference, text, re.ASCII) is None:
            shape = f" Expected one such as {self.example}" if self.example else ""
            raise InvalidReference(f"{shorten(value)} is not a reference of {self.name}.{shape}")
        return text

    def not_found(self, application_ref: str) -> ApplicationNotFound:
        return ApplicationNotFound(
            f"Application not found on {self.short_name or self.name} planning portal", application_ref=application_ref
        )

    def require_readable(self) -> None:
        """Raise UnknownAuthority if Trigpoint cannot read this register, with the way out."""
        if not self.readable:
            why = self.note or f"it runs {self.product or 'software that Trigpoint does not know'}"
            raise UnknownAuthority(
                f"The register of {self.name} cannot be read by Trigpoint: {why}. "
                f"Open {self.address} in a browser, {WAY_OUT}",
                authority=self.authority,
            )


@dataclass(frozen=True)
class RegisterTable:
    """All registers that are known, and the one that is meant when no authority is named."""

    default: str
    entries: Mapping[str, RegisterEntry]

    def get(self, authority: str | None) -> RegisterEntry:
        """Return an authority's register, by slug or by name. Raises UnknownAuthority."""
        if authority is None:
            return self.entries[self.default]
        entry = self.by_name(authority)
        if entry is None:
            raise UnknownAuthority(
                f"No register is known for '{shorten(authority)}'. `trigpoint portal registers` lists those that are; "
                f"REGISTERS_FILE adds one. Or {WAY_OUT}",
                authority=shorten(authority),
            )
        return entry

    def find(self, authority: str | None) -> RegisterEntry | None:
        """Return the entry of an authority, None if there is none."""
        return self.entries.get(authority) if authority is not None else None

    def by_name(self, authority: str) -> RegisterEntry | None:
        """Return the entry of an authority by slug or by name, None if there is none."""
        return self.entries.get(authority.strip().lower()) or self._by_name.get(authority.strip().casefold())

    def is_default(self, authority: str | None) -> bool:
        return authority is None or authority == self.default

    @cached_property
    def _by_name(self) -> dict[str, RegisterEntry]:
        names = {}
        for entry in self.entries.values():
            names[entry.name.casefold()] = entry
            if entry.short_name:
                names[entry.short_name.casefold()] = entry
        return names


def load_registers(settings: Settings) -> RegisterTable:
    """Return the shipped registers and those of `REGISTERS_FILE`, which may replace them. Raises ConfigurationError."""
    default, shipped = _shipped()
    entries = dict(shipped)
    if settings.registers_file is not None:
        own = _read_table(settings.registers_file)
        entries |= {one.authority: one for one in _entries(own, settings.registers_file)}
        default = str(own.get("default", default))
    if default not in entries:
        raise ConfigurationError(
            f"{settings.registers_file}: default = '{shorten(default)}' is not among its registers"
        )
    return RegisterTable(default, {slug: _at_setting(entry, settings) for slug, entry in sorted(entries.items())})


@cache
def _shipped() -> tuple[str, Mapping[str, RegisterEntry]]:
    data = _read_table(_SHIPPED)
    return str(data["default"]), {one.authority: one for one in _entries(data, _SHIPPED)}


def _read_table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"REGISTERS_FILE={path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"REGISTERS_FILE={path} is not TOML: {error}") from None


def _entries(data: Mapping[str, Any], path: Path) -> Iterable[RegisterEntry]:
    if unknown := data.keys() - {"default", "register"}:
        raise ConfigurationError(f"{path}: unknown '{shorten(min(unknown))}', expected default and [[register]] tables")
    rows = data.get("register", [])
    if not isinstance(rows, list):
        raise ConfigurationError(f"{path}: expected [[register]] tables")
    for row in rows:
        try:
            yield RegisterEntry.model_validate(row)
        except ValidationError as error:
            problem = error.errors()[0]
            field = ".".join(str(part) for part in problem["loc"]) or "register"
            shown = row.get("authority", "?") if isinstance(row, dict) else "?"
            raise ConfigurationError(
                f"{path}: register '{shorten(shown)}', {field}: {problem['msg'].removeprefix('Value error, ')}"
            ) from None


def _at_setting(entry: RegisterEntry, settings: Settings) -> RegisterEntry:
    if entry.setting is None:
        return entry
    return entry.model_copy(update={"address": str(getattr(settings, entry.setting)).rstrip("/")})
