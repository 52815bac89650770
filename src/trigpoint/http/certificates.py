"""The certificates by which our clients know our own servers: those that this machine trusts."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2


@cache
def certificates() -> ssl.SSLContext:
    """Return the context for `verify=`. Each client would load its own, which halts every other request for 25 ms."""
    return httpx2.create_ssl_context(trust_env=False)
