"""Signing in with an API key: an opaque cookie, a session kept on the server, and the rule that forms come from our own pages.

A session lasts until it is signed out, it expires, or the key it was opened with is removed.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from urllib.parse import urlsplit

from redis.asyncio import Redis
from starlette.requests import Request
from starlette.responses import Response

from trigpoint.jobs.scripts import answered
from trigpoint.keys import ApiKey, KeyRing, digest

COOKIE = "trigpoint_session"
_LIFETIME_SECONDS = 12 * 3600
_FORM = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Sessions:
    """Opens, checks and ends sessions for these keys. Without keys there is nothing to sign in to.

    Redis holds a hash of the cookie and a hash of the key, never either of them.
    """

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    @property
    def required(self) -> bool:
        return self._keys.required

    def key(self, given: str) -> ApiKey | None:
        """Return the key that was entered, if it is a valid one of ours."""
        return self._keys.find(given.encode())

    async def open(self, redis: Redis, key: ApiKey) -> str:
        """Start a session and return its cookie. Raises StoreUnavailable."""
        cookie = secrets.token_hex(32)
        async with answered(redis):
            await redis.set(_session_key(cookie), digest(key.secret).hex(), ex=_LIFETIME_SECONDS)
        return cookie

    async def holder(self, redis: Redis, cookie: str) -> ApiKey | None:
        """Return the key to whose session this cookie belongs; None if it belongs to none, or has expired. Raises StoreUnavailable."""
        if not _FORM.fullmatch(cookie):
            return None
        async with answered(redis):
            opened_with = await redis.get(_session_key(cookie))
        return next((k for k in self._keys.all() if k.is_valid and digest(k.secret).hex() == opened_with), None)

    async def end(self, redis: Redis, cookie: str) -> None:
        """End a session for good, wherever else its cookie may have been copied to. Raises StoreUnavailable."""
        async with answered(redis):
            await redis.delete(_session_key(cookie))


def _session_key(cookie: str) -> str:
    return f"session:{hashlib.sha256(cookie.encode()).hexdigest()}"


def set_cookie(response: Response, value: str, *, secure: bool) -> None:
    response.set_cookie(
        COOKIE, value, max_age=_LIFETIME_SECONDS, path="/", httponly=True, samesite="strict", secure=secure
    )


def is_own_form(request: Request) -> bool:
    """Return whether a browser says that this request comes from one of our pages. Saying nothing counts as no."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    try:
        origin = urlsplit(request.headers.get("origin", ""))
    except ValueError:
        return False
    return bool(origin.netloc) and origin.netloc == request.headers.get("host")


def safe_next(path: str) -> str:
    """Return the path to go to after signing in: one of ours, never another site."""
    usable = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if usable else "/"
