"""The bearer token of a request, and where the request came from."""

from __future__ import annotations

from starlette.types import Scope


def authorization(scope: Scope) -> bytes | None:
    """Return the only Authorization header of a request; None if there is none, or more than one."""
    sent = [value for name, value in scope["headers"] if name == b"authorization"]
    return sent[0] if len(sent) == 1 else None


def token_of(header: bytes | None) -> bytes:
    """Return the token of `Bearer <token>`, in any case and spacing; empty if the header says anything else."""
    scheme, _, token = (header or b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else b""


def bearer(scope: Scope) -> bytes:
    """Return the bearer token of a request; empty if it has none."""
    return token_of(authorization(scope))


def client_address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"
