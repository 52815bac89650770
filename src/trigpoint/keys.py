"""The keys of the REST API: plain ones, and ones with a name, scopes and an expiry date. A changed keys file is read again."""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from trigpoint.dates import parse_day, today
from trigpoint.errors import ConfigurationError, TrigpointError

log = logging.getLogger(__name__)

KeyScope = Literal["read", "submit", "manage"]
_ALL_SCOPES: frozenset[KeyScope] = frozenset(get_args(KeyScope))
_LOOK_AGAIN_SECONDS = 1.0
_FIELDS = frozenset({"name", "key", "scopes", "expires"})


@dataclass(frozen=True)
class ApiKey:
    """A key as we keep it. `secret` signs the sessions that it opened; it is never shown."""

    name: str
    secret: str
    scopes: frozenset[KeyScope] = _ALL_SCOPES
    expires: date | None = None

    def __repr__(self) -> str:
        return f"ApiKey(name={self.name!r}, scopes={sorted(self.scopes)}, expires={self.expires})"

    @property
    def is_valid(self) -> bool:
        """Whether the key can be used today, which includes the day it expires."""
        return self.expires is None or today() <= self.expires


class KeyRing:
    """The keys of `API_KEYS` and `API_KEYS_FILE`. The file can be changed while a server runs.

    A changed file that cannot be read is logged, and the keys before it stay in use: a slip never opens the door.
    """

    def __init__(self, plain: Iterable[str] = (), file: Path | None = None) -> None:
        self._plain = [ApiKey(f"key {number}", secret) for number, secret in enumerate(plain, start=1)]
        self._file = file
        self._seen = _file_state(file)
        self._from_file = _read_keys_file(file) if file else []
        self._next_look = time.monotonic() + _LOOK_AGAIN_SECONDS
        self.problem: str | None = None

    @property
    def required(self) -> bool:
        """Whether a caller needs a key at all."""
        return bool(self._plain) or self._file is not None

    def all(self) -> list[ApiKey]:
        """Return all keys, also expired ones. Each secret is listed once; what the file says about it counts."""
        self._look_at_file()
        listed = {key.secret for key in self._from_file}
        return [*(key for key in self._plain if key.secret not in listed), *self._from_file]

    def own(self, scope: KeyScope) -> str | None:
        """Return a key that our own clients on this machine may use; None if there is no such key."""
        return next((key.secret for key in self.all() if key.is_valid and scope in key.scopes), None)

    def find(self, token: bytes) -> ApiKey | None:
        """Return the valid key that this token is. Every key is compared, so that the time taken reveals nothing."""
        given, match = digest(token), None
        for key in self.all():
            if hmac.compare_digest(digest(key.secret), given) and key.is_valid:
                match = key
        return match

    def _look_at_file(self) -> None:
        if self._file is None or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _LOOK_AGAIN_SECONDS
        state = _file_state(self._file)
        if state == self._seen:
            return
        self._seen = state
        try:
            self._from_file, self.problem = _read_keys_file(self._file), None
            log.info("read %s again: %d keys", self._file, len(self._from_file))
        except ConfigurationError as error:
            self.problem = f"{error.message}. The keys read before it stay in use"
            log.error("%s", self.problem)


def digest(token: str | bytes) -> bytes:
    """Return the hash under which keys are compared: of equal length whatever the token is."""
    return hashlib.sha256(token.encode() if isinstance(token, str) else token).digest()


def is_among(token: bytes, digests: Iterable[bytes]) -> bool:
    """Compare a token with every known key, so that the time taken reveals nothing."""
    given = digest(token)
    return sum(hmac.compare_digest(given, known) for known in digests) > 0


def _read_keys_file(path: Path) -> list[ApiKey]:
    """Return the keys of a JSON file: `["k1"]`, or `{"keys": [...]}` with texts and objects. Raises ConfigurationError."""
    try:
        loaded = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"API_KEYS_FILE={path}: cannot be read as JSON ({error})") from None
    entries = loaded.get("keys") if isinstance(loaded, dict) else loaded
    if not isinstance(entries, list) or not entries:
        raise ConfigurationError(
            f'API_KEYS_FILE={path}: expected ["key1", …] or {{"keys": ["key1", …]}} with at least one key'
        )
    keys = [_parse(entry, number, path) for number, entry in enumerate(entries, start=1)]
    _refuse_repeated(path, "name", [key.name for key in keys])
    _refuse_repeated(path, "key", [key.secret for key in keys])
    return keys


def _parse(entry: Any, number: int, path: Path) -> ApiKey:
    """Return one entry of the file as a key. An error names the entry's place, never its value."""

    def problem(text: str) -> ConfigurationError:
        return ConfigurationError(f"API_KEYS_FILE={path}: entry {number} {text}")

    if isinstance(entry, str):
        if not entry.strip():
            raise problem("is an empty key; expected a text with at least one character")
        return ApiKey(f"file key {number}", entry.strip())
    if not isinstance(entry, dict) or not entry.keys() <= _FIELDS:
        raise problem(f"must be a text, or an object with these fields only: {', '.join(sorted(_FIELDS))}")
    name, secret = entry.get("name"), entry.get("key")
    if not isinstance(name, str) or not name.strip() or not isinstance(secret, str) or not secret.strip():
        raise problem("needs a `name` and a `key`")
    return ApiKey(
        name.strip(), secret.strip(), _scopes(entry.get("scopes"), problem), _expiry(entry.get("expires"), problem)
    )


def _scopes(value: Any, problem: Callable[[str], ConfigurationError]) -> frozenset[KeyScope]:
    if value is None:
        return _ALL_SCOPES
    if not isinstance(value, list) or not value or not all(scope in get_args(KeyScope) for scope in value):
        raise problem(f"has wrong `scopes`; expected a list out of {', '.join(get_args(KeyScope))}")
    return frozenset(value)


def _expiry(value: Any, problem: Callable[[str], ConfigurationError]) -> date | None:
    if value is None:
        return None
    try:
        return parse_day(value)
    except (TrigpointError, TypeError):
        raise problem("has a wrong `expires`; expected a date such as 2027-12-31") from None


def _refuse_repeated(path: Path, field: str, values: list[str]) -> None:
    if len(set(values)) < len(values):
        raise ConfigurationError(f"API_KEYS_FILE={path}: two entries have the same {field}")


def _file_state(path: Path | None) -> tuple[int, int, int] | None:
    """Return what changes when a file is rewritten or replaced; None if it is not there."""
    if path is None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
