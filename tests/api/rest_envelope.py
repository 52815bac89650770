"""What every error of the REST API looks like."""

from __future__ import annotations

from typing import Any

import httpx


def error(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    assert set(body["error"]) <= {"code", "message", "details"}
    found: dict[str, Any] = body["error"]
    return found
