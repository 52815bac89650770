"""Pages of other sites that may call the REST API (`CORS_ORIGINS`): what they may send and read."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from trigpoint.api.errors import error_response
from trigpoint.config import Settings

_OF_THE_TEXT = ("content-type", "content-length")


class CrossOrigin(CORSMiddleware):
    """Starlette's middleware, but a refusal has the envelope of all our errors instead of plain text."""

    def preflight_response(self, request_headers: Headers) -> Response:
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        message = bytes(answer.body).decode()
        if not self.is_allowed_origin(request_headers["origin"]):
            message += ". CORS_ORIGINS on this server names the sites whose pages may call it"
        kept = {name: value for name, value in answer.headers.items() if name not in _OF_THE_TEXT}
        return error_response(answer.status_code, "bad_request", message, headers=kept)


def cross_origin(settings: Settings) -> dict[str, Any]:
    """Return what pages of other sites may send and read."""
    return {
        "allow_origins": settings.cors_origins,
        "allow_methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
        "allow_headers": ["Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "X-Request-ID"],
        "expose_headers": [
            *("X-Request-ID", "X-API-Version", "Idempotent-Replayed", "Retry-After", "Content-Disposition"),
            *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
        ],
    }
