"""Signing in with an API key: a signed cookie that holds no key, and the rule that forms come from our own pages.

A session is signed with the key it was opened with. When that key is taken away, its sessions end.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

COOKIE = "trigpoint_session"
LIFETIME_SECONDS = 12 * 3600
_FORM = re.compile(r"([0-9]{1,12}\.[0-9a-f]{16})\.([0-9a-f]{64})", re.ASCII)


class Sessions:
    """Opens and checks sessions for these keys. With no keys there is nothing to sign in to."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = [key.encode() for key in keys]

    @property
    def required(self) -> bool:
        return bool(self._keys)

    def open(self, key: str) -> str | None:
        """The cookie of a new session; None where the key is not ours. Every key is compared."""
        given = hashlib.sha256(key.encode()).digest()
        known = [k for k in self._keys if hmac.compare_digest(hashlib.sha256(k).digest(), given)]
        if not known:
            return None
        body = f"{int(time.time()) + LIFETIME_SECONDS}.{secrets.token_hex(8)}"
        return f"{body}.{_signature(known[0], body)}"

    def holds(self, cookie: str) -> bool:
        match = _FORM.fullmatch(cookie)
        if match is None or int(cookie.split(".")[0]) < time.time():
            return False
        body, signature = match.groups()
        return sum(hmac.compare_digest(_signature(key, body), signature) for key in self._keys) > 0


def set_cookie(response: Response, value: str, *, secure: bool) -> None:
    response.set_cookie(
        COOKIE, value, max_age=LIFETIME_SECONDS, path="/", httponly=True, samesite="strict", secure=secure
    )


def is_own_form(request: Request) -> bool:
    """Whether a browser says that this request comes from one of our pages. No word on it counts as no."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = urlsplit(request.headers.get("origin", ""))
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


def safe_next(path: str) -> str:
    """Where to go after signing in: a path of ours, never another site."""
    usable = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if usable else "/"


def _signature(key: bytes, body: str) -> str:
    derived = hmac.new(key, b"trigpoint pages session", hashlib.sha256).digest()
    return hmac.new(derived, body.encode(), hashlib.sha256).hexdigest()
