"""The hash of a form's content, made while it comes in. Clients choose a new boundary each time they send the same form."""

from __future__ import annotations

import hashlib
from email.message import Message as Header

from starlette.types import Message, Receive


def form_boundary(content_type: bytes) -> bytes | None:
    """Return the boundary of `multipart/form-data`, empty if it names none; None for any other type."""
    if not content_type.lower().startswith(b"multipart/form-data"):
        return None
    header = Header()
    header["Content-Type"] = content_type.decode("latin-1")
    return str(header.get_param("boundary", "")).encode("latin-1", "replace")


class FormHash:
    """Hashes a body without its boundaries, however it is cut into parts.

    `declared` is the length that the request states. It counts the boundaries, whose length some clients change each time.
    """

    def __init__(self, boundary: bytes, declared: str) -> None:
        self._length = f"length {declared}"
        self._boundary = boundary
        self._hash = hashlib.sha256()
        self._tail = b""  # may be the beginning of a boundary
        self._is_whole = False

    def reading(self, receive: Receive) -> Receive:
        """Return `receive` with its messages hashed as they pass."""

        async def receive_and_hash() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self.take(message.get("body", b""))
                self._is_whole = not message.get("more_body", False)
            return message

        return receive_and_hash

    def take(self, part: bytes) -> None:
        """Hash the next part of the body."""
        content = self._tail + part
        if self._boundary:
            content = content.replace(self._boundary, b"")
        kept = max(0, len(content) - max(0, len(self._boundary) - 1))
        self._hash.update(content[:kept])
        self._tail = content[kept:]

    def digest(self) -> str:
        """Return the hash of the whole content, or the declared length if it has not all been read."""
        if not self._is_whole:
            return self._length
        whole = self._hash.copy()
        whole.update(self._tail)
        return whole.hexdigest()

    def is_that_of(self, digest: str) -> bool:
        """Return whether another form had this content, or this length if it was answered before it had been read."""
        return digest in (self.digest(), self._length)
