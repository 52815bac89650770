"""Errors of requests that are refused, and of deliveries of webhooks."""

from __future__ import annotations

from trigpoint.errors.root import TrigpointError


class Unauthorized(TrigpointError):
    """The request has no key, or one that is not known; the message does not say which."""

    code = "unauthorized"
    status = 401


class Forbidden(TrigpointError):
    """The key is known, but lacks the scope that the request needs."""

    code = "forbidden"
    status = 403


class RateLimited(TrigpointError):
    """The key, or the address, has made too many requests in the last minute."""

    code = "rate_limited"
    status = 429


class PayloadTooLarge(TrigpointError):
    """The body exceeds its limit, and is refused while it is still arriving."""

    code = "payload_too_large"
    status = 413


class DeliveryNotFound(TrigpointError):
    """The review has no webhook delivery with this id."""

    code = "delivery_not_found"
    status = 404


class DeliveryPending(TrigpointError):
    """A webhook delivery that is still being tried cannot be sent once more."""

    code = "delivery_pending"
    status = 409
