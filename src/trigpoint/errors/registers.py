"""Errors of planning registers, and of the watches over them."""

from __future__ import annotations

from trigpoint.errors.root import InvalidInput, TrigpointError


class PortalError(TrigpointError):
    """The register did not deliver what was requested."""

    code = "request_failed"
    status = 502


class RequestFailed(PortalError):
    """No usable answer after all tries; says which address and why."""


class PageNotUnderstood(PortalError):
    """A page of the register has an unexpected structure; says what was expected and what was found."""


class ApplicationNotFound(PortalError):
    """The register has no application with this reference."""

    code = "application_not_found"
    status = 404


class PortalBusy(PortalError):
    """The register asks for a pause that is longer than we wait."""

    code = "rate_limited"
    status = 429


class BotChallenge(PortalError):
    """The register asks for proof that a person is there. Says which page to open in a browser instead."""


class RobotsRefuse(PortalError):
    """The register asks programs not to fetch what was wanted."""


class WatchNotFound(TrigpointError):
    """There is no watch with this id."""

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
    """Files were submitted without details that a review needs; `details["missing"]` names it."""

    code = "details_missing"


class DownloadFailed(PortalError):
    """A document could not be fetched completely, or what came is not a document."""

    code = "download_failed"
