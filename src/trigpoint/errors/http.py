"""Errors of requests that are refused, and of deliveries of webhooks."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class Unauthorized(TrigpointError):
    """No key, or one that is not known. The message is the same for both."""

    code = "unauthorized"
    status = 401


class Forbidden(TrigpointError):
    """The key is known, but lacks the scope that the request needs."""

    code = "forbidden"
    status = 403


class RateLimited(TrigpointError):
    code = "rate_limited"
    status = 429


class PayloadTooLarge(TrigpointError):
    """A body over its limit, refused while it is still coming in."""

    code = "payload_too_large"
    status = 413


class DeliveryNotFound(TrigpointError):
    code = "delivery_not_found"
    status = 404


class DeliveryPending(TrigpointError):
    """A webhook delivery that is still being tried cannot be sent once more."""

    code = "delivery_pending"
    status = 409
