"""Whether an application in a list is one that a watch looks for. Sizes come from the reading of its proposal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trigpoint.reading.profile import Application as Described
from trigpoint.reading.profile import Profile, read_profile
from trigpoint.registers.models import Application
from trigpoint.watch.models import Size, Watch


@dataclass(frozen=True)
class WatchFit:
    """The fit of an application to a watch: its size as the proposal states it, and whether that is known."""

    size: Size
    kind: str
    dwellings: float | None
    floorspace: float | None


def fit_of(watch: Watch, application: Application) -> WatchFit | None:
    """Return how an application fits the words and sizes of a watch, None if it does not."""
    if watch.words and not any(_has_words(application, words) for words in watch.words):
        return None
    described = Described(
        reference=application.reference,
        proposal=application.proposal or "",
        application_type=application.application_type or "",
    )
    profile = read_profile(described, ())
    dwellings, floorspace = profile.dwellings, _floorspace(profile)
    size = _size_if_large(watch, profile, dwellings, floorspace)
    return None if size is None else WatchFit(size, profile.kind, dwellings, floorspace)


def in_wards(watch: Watch, ward: str | None) -> bool:
    """Return whether a ward is one of those that a watch names; several may be named in one field."""
    named = {part.strip().casefold() for part in re.split(r"[;,/]", ward or "")} | {(ward or "").strip().casefold()}
    return any(one.casefold() in named for one in watch.wards)


def _has_words(application: Application, words: str) -> bool:
    """Return whether proposal or address has these words, as whole words, in upper or lower case."""
    text = f"{application.proposal or ''}\n{application.address or ''}"
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) is not None


def _floorspace(profile: Profile) -> float | None:
    return sum(one.size or 0 for one in profile.uses if one.unit == "m2") or None


def _size_if_large(watch: Watch, profile: Profile, dwellings: float | None, floorspace: float | None) -> Size | None:
    """Return whether the proposal is large enough, or names a use that counts without its size; None if it is not."""
    minima = ((watch.min_dwellings, dwellings), (watch.min_floorspace, floorspace))
    wanted = [(minimum, size) for minimum, size in minima if minimum is not None]
    if not wanted or any(size is not None and size >= minimum for minimum, size in wanted):
        return "fits"
    counted = {one.use == "dwellings" for one in profile.uses if one.size is None}
    homes = watch.min_dwellings is not None and dwellings is None and True in counted
    floors = watch.min_floorspace is not None and floorspace is None and False in counted
    return "not stated" if (homes or floors) and profile.kind != "householder" else None
