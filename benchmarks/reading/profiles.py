"""What is measured of the profile on labelled applications: kind, scale, uses and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from benchmarks.reading.applications import LabelledApplication
from trigpoint.reading.profile import Application, Profile, UseSize, read_profile
from trigpoint.reading.uses import read_uses

SAME_SIZE = 0.01  # of the size: documents round
_WORDS = {"dwelling": "dwellings", "student accommodation": "student_housing", "commercial": "commercial"}
_UNITS = {"bedspace": "bed", "bedroom": "bed", "m2 GIA": "m2"}
_NOT_COUNTED = frozenset(("commercial", "other", "community", "food"))
"""Uses that documents name loosely: they are neither asked for nor held against the profile."""


@dataclass(frozen=True)
class ProfileScore:
    """How much of an application's profile is right."""

    kind: bool
    scale: bool
    uses: tuple[int, int]
    sizes: tuple[int, int]
    false_uses: tuple[str, ...]

    def __str__(self) -> str:
        wrong = f", not there: {', '.join(self.false_uses)}" if self.false_uses else ""
        kind, scale = ("right" if one else "wrong" for one in (self.kind, self.scale))
        return f"kind {kind}, scale {scale}, uses {_of(self.uses)}, sizes {_of(self.sizes)}{wrong}"


def _of(counts: tuple[int, int]) -> str:
    return f"{counts[0]} of {counts[1]}"


def score_profile(application: LabelledApplication) -> ProfileScore:
    """Compare the profile, read from the register's entry and the documents, with the labelled one."""
    profile = read_profile(register_entry(application), application.documents)
    about = application.about
    wanted = [(use, one) for one in about["uses"] for use in _uses_of(one["use"])]
    uses = {use for use, _ in wanted if use not in _NOT_COUNTED}
    found = {one.use for one in profile.uses}
    sized = [
        (use, one)
        for use, one in wanted
        if use not in _NOT_COUNTED and one["unit"] in (*_UNITS, "m2", "dwelling", "pupil")
    ]
    right = [pair for pair in sized if any(_same_size(pair[1], one) for one in profile.uses if one.use == pair[0])]
    allowed = {use for use, _ in wanted} | _NOT_COUNTED
    return ProfileScore(
        kind=_same_kind(about["kind"], profile),
        scale=about["scale"] == profile.scale,
        uses=(len(uses & found), len(uses)),
        sizes=(len(right), len(sized)),
        false_uses=tuple(sorted(found - allowed)),
    )


def register_entry(application: LabelledApplication) -> Application:
    """Return the register's entry of an application, as far as it is given."""
    entry = application.about.get("register") or {}
    return Application(
        reference=application.about.get("application", ""),
        proposal=entry.get("proposal", ""),
        address=entry.get("address", ""),
        application_type=entry.get("application_type", ""),
        authority=application.about.get("authority", ""),
    )


def _uses_of(words: str) -> Iterable[str]:
    named = next((use for word, use in _WORDS.items() if word in words), None)
    return (named,) if named else tuple(dict.fromkeys(use for use, _ in read_uses(words)))


def _same_kind(wanted: str, profile: Profile) -> bool:
    plain = wanted.removeprefix("EIA ").partition(" (")[0]
    return plain.startswith(profile.kind)


def _same_size(wanted: dict[str, Any], one: UseSize) -> bool:
    unit = _UNITS.get(wanted["unit"], wanted["unit"])
    return unit == one.unit and one.size is not None and abs(one.size - wanted["size"]) <= SAME_SIZE * wanted["size"]
