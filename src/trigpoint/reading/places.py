"""Named places in a statement: roads, stations, routes and paths by which two statements can be told to be on one thing."""

from __future__ import annotations

import re
from functools import lru_cache

_KIND = "Road|Lane|Street|Avenue|Way|Drive|Close|Hill|Grove|Park|Square|Bridge|Crescent|Gardens|Row|Rise|Terrace"
_NAME = r"(?:[A-Z][\w’'-]+ ){1,3}"
_NAMED = re.compile(rf"\b({_NAME}(?:{_KIND}))\b")
_NUMBERED = re.compile(r"\b([ABM]\d{1,4}(?:\(M\))?)\b")
_STATION = re.compile(rf"\b({_NAME})(?:[Rr]ailway |[Tt]rain |[Uu]nderground )?[Ss]tation\b")
_WHICH = ("primary", "main", "spine", "principal", "central", "estate", "access", "loop", "secondary")
_WITHIN = (
    *(f"{which} {what}" for which in _WHICH for what in ("street", "road", "avenue")),
    *(f"{side}ern boundary" for side in ("north", "south", "east", "west")),
    "site frontage",
    "towpath",
)
_LEADING = (
    "The ",
    "On ",
    "Along ",
    "At ",
    "From ",
    "In ",
    "Via ",
    "A ",
    "To ",
    "Of ",
    "And ",
    "Existing ",
    "Proposed ",
)


@lru_cache(maxsize=4096)
def named_places(text: str) -> frozenset[str]:
    """Return the roads, stations and parts of the site that a text names, in lower case."""
    names = [*_NAMED.findall(text), *_NUMBERED.findall(text)]
    stations = [f"{name.strip()} station" for name in _STATION.findall(text)]
    within = [name for name in _WITHIN if name in text.lower()]
    return frozenset((*(_without_opening(name).lower() for name in (*names, *stations)), *within))


def _without_opening(name: str) -> str:
    """Drop a word that only begins the sentence: "On Mill Lane" names Mill Lane."""
    while name.startswith(_LEADING):
        name = name.partition(" ")[2]
    return name
