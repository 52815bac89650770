"""Faults of the demo portal, to order: what goes wrong, for which requests, how many times."""

from __future__ import annotations

import re
import threading
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trigpoint.errors import InvalidInput, shorten

FaultKind = Literal[
    "error",
    "too_many",
    "slow",
    "cut",
    "html",
    "moved",
    "away",
    "disclaimer",
    "empty",
    "challenge",
    "passing",
    "strange",
]

KINDS = {
    "error": "HTTP 500",
    "too_many": "HTTP 429 with Retry-After of `value` seconds",
    "slow": "an answer after `value` seconds",
    "cut": "the connection is cut half-way through the body",
    "html": "a web page instead of the document",
    "moved": "a redirect to another address of this portal",
    "away": "a redirect to the address in `value`",
    "disclaimer": "the disclaimer, until it is accepted",
    "empty": "a body of no bytes",
    "challenge": "a page that wants proof of a person (HTTP 403)",
    "passing": "the product's page for a passing fault, with status 200",
    "strange": "a page of unknown structure",
}


class Fault(BaseModel):
    """`match` is a pattern searched in path and query; `times` counts down, None means always."""

    model_config = ConfigDict(extra="forbid")

    kind: FaultKind
    match: str = "."
    times: int | None = Field(1, ge=1)
    value: str = "1"


class Faults:
    """The faults that are on. The first that matches a request is applied."""

    def __init__(self, faults: list[Fault] | None = None) -> None:
        self._lock = threading.Lock()
        self._faults = [fault.model_copy() for fault in faults or []]

    def replace(self, faults: list[Fault]) -> None:
        with self._lock:
            self._faults = [fault.model_copy() for fault in faults]

    def current(self) -> list[Fault]:
        with self._lock:
            return [fault.model_copy() for fault in self._faults]

    def take(self, target: str, *, accepted: bool) -> Fault | None:
        """Return the fault for this request, counted down. An accepted disclaimer is no longer a fault."""
        with self._lock:
            for fault in self._faults:
                if re.search(fault.match, target) and not (fault.kind == "disclaimer" and accepted):
                    if fault.times is not None:
                        fault.times -= 1
                        if fault.times == 0:
                            self._faults.remove(fault)
                    return fault
        return None


def parse_fault(text: str) -> Fault:
    """Return the fault of `kind[:times[:value]]` as on the command line; times `*` means always. Raises InvalidInput."""
    kind, _, rest = text.partition(":")
    times, _, value = rest.partition(":")
    data: dict[str, object] = {"kind": kind}
    if value:
        data["value"] = value
    if times:
        data["times"] = None if times == "*" else times
    if kind == "disclaimer" and not times:
        data["times"] = None
    try:
        return Fault.model_validate(data)
    except ValidationError:
        raise InvalidInput(
            f"'{shorten(text)}' is not a fault. Expected kind[:times[:value]] with kind one of {', '.join(KINDS)}"
        ) from None
