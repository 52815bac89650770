"""Finds the register and the reference that the address of an application's page means."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, unquote, urlsplit

from trigpoint.errors import InvalidReference, shorten
from trigpoint.registers.entries import WAY_OUT, RegisterEntry, RegisterTable

_NAMES_OF_REFERENCE = ("reference", "ref", "refno", "casenumber", "applicationnumber", "application_ref")


def is_address(text: str) -> bool:
    """Return whether a text is the address of a page rather than a reference."""
    return bool(re.match(r"(?:https?://|www\.)", text.strip(), re.IGNORECASE))


def application_at(address: str, table: RegisterTable) -> tuple[RegisterEntry, str]:
    """Return the register and the reference that an address names. Raises InvalidReference, with the way out."""
    text = address.strip()
    parts = urlsplit(text if "://" in text else f"https://{text}")
    entry = _register_at(parts.netloc.lower(), table)
    if entry is None:
        raise InvalidReference(f"No register is known at {shorten(parts.netloc or text)}. Instead, {WAY_OUT}")
    entry.require_readable()
    for candidate in _candidates(unquote(parts.path), parts.query):
        try:
            return entry, entry.check_reference(candidate.upper())
        except InvalidReference:
            continue
    example = f", such as {entry.example}" if entry.example else ""
    raise InvalidReference(
        f"This address of {entry.name} does not contain the application's reference. Open it, copy the reference that "
        f"the page shows{example}, and choose {entry.name} as the planning authority"
    )


def _register_at(host: str, table: RegisterTable) -> RegisterEntry | None:
    by_host = {urlsplit(entry.address).netloc.lower(): entry for entry in reversed(list(table.entries.values()))}
    return by_host.get(host) or by_host.get(host.removeprefix("www."))


def _candidates(path: str, query: str) -> list[str]:
    """Return what may be the reference: named in the query, or the last steps of the path, longest first."""
    named = [value for name, value in parse_qsl(query) if name.lower() in _NAMES_OF_REFERENCE]
    steps = [step for step in path.split("/") if step]
    return [*named, *("/".join(steps[-count:]) for count in (4, 3, 2, 1) if len(steps) >= count)]
