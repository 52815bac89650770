"""Errors of planning registers, and of the watches over them."""

from __future__ import annotations

from trigpoint.errors.root import InvalidInput, TrigpointError


class PortalError(TrigpointError):
    """The register did not give what was asked of it."""

    code = "request_failed"
    status = 502


class RequestFailed(PortalError):
    """No usable answer after all tries; says which address and why."""


class PageNotUnderstood(PortalError):
    """A page of the register has another structure than expected; says what was expected and found."""


class ApplicationNotFound(PortalError):
    code = "application_not_found"
    status = 404


class PortalBusy(PortalError):
    """The register asks for a longer pause than we wait."""

    code = "rate_limited"
    status = 429


class BotChallenge(PortalError):
    """The register wants proof of a person. Says where a person can go instead."""


class RobotsRefuse(PortalError):
    """The register asks programs not to fetch what was wanted."""


class WatchNotFound(TrigpointError):
    code = "watch_not_found"
    status = 404


class WatchBusy(TrigpointError):
    """Somebody is looking at the register for this watch at this moment."""

    code = "watch_busy"
    status = 409


class UnknownAuthority(InvalidInput):
    """No register is known for an authority, or none that Trigpoint can read."""

    code = "unknown_authority"


class DetailsMissing(InvalidInput):
    """Files were given without what a review needs to know about them; `details["missing"]` names it."""

    code = "details_missing"


class DownloadFailed(PortalError):
    """A document could not be fetched whole, or is not a document."""

    code = "download_failed"
