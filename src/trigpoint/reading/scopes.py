"""Whose spaces a figure counts: groups of users, long or short stay, and named units; and words that make it a part."""

from __future__ import annotations

import re

from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.tokens import tokenise

_GROUPS = Lexicon(
    {
        "long": "long_stay long_-_stay",
        "short": "short_stay short_-_stay visitor visitors customer customers",
        "residents": "resident residents resident's residents' residential household* every_home each_home every_dwelling "
        "each_dwelling per_home",
        "pupils": "pupil pupils pupils'",
        "staff": "staff employee employees teacher* worker*",
        "flats": "flat flats apartment apartments",
        "houses": "houses",
        "students": "student students students'",
        "offices": "office offices",
        "shops": "retail shop shops café cafe",
        "hotel guests": "guest guests",
    }
)
_PARTS = Lexicon(
    {
        "part": "block phase plot zone each additional extra further remaining balance level floor accessible disabled blue_badge "
        "of_which including larger adapted cargo folding two_-_tier two_tier sheffield ev electric charging motorcycle* motorbike* "
        "drop_-_off drop_off setting_down car_club car_share* minibus* coach* on_-_street on_street station halls hall hire "
        "missing scooter* store_a store_b store_c pod lockers_only half garage garages allocated unallocated tandem "
        "docking e_-_bike* north south east west wing first second third park_and_ride multi_-_storey_at spare "
        "public standard_bays drop set_down replaced lost temporary adaptable wheelchair van lorry hgv trailer cycles_a"
    }
)
_UNIT = re.compile(r"\b(units? \d+(?:(?:, | and | to | & )\d+)*)\b", re.IGNORECASE)
_WORDS_OF = {
    "cycle space": "cycle spaces",
    "car space": "car spaces",
    "shower": "showers",
    "locker": "lockers",
    "share": "share",
}


def groups_of(words: str, unit: str) -> tuple[str, ...]:
    """Return the groups whose spaces these are, in a fixed order; none means everybody's."""
    groups = set(_GROUPS.tag_text(words))
    if unit in ("shower", "locker"):
        groups &= {"pupils", "staff", "students"}
    if unit == "share":
        groups = {"staff"} if groups & {"staff", "offices"} else groups & {"pupils", "students", "residents"}
    return tuple(sorted(groups))


def words_of_groups(words: str) -> dict[str, str]:
    """Return the groups that words name, each by the first word that names it."""
    tokens = tokenise(words)
    return {tokens[places[0]].text: group for group, places in _GROUPS.tag_text(words).items()}


def is_part(words: str) -> bool:
    """Return whether the words around a figure say that it counts a part: "accessible", "Block B", "a further"."""
    return bool(_PARTS.tag_text(words))


def named_unit(words: str) -> str:
    """Return the unit that a figure is for ("unit 1"), or nothing."""
    match = _UNIT.search(words)
    return match[1].lower() if match else ""


def what_of(unit: str, groups: tuple[str, ...]) -> str:
    """Return a figure's thing for a reader: "long-stay cycle spaces", "cycle spaces for pupils"."""
    stays = [f"{one}-stay " for one in groups if one in ("long", "short")]
    users = [one for one in groups if one not in ("long", "short")]
    return f"{''.join(stays)}{_WORDS_OF[unit]}" + (f" for {' and '.join(users)}" if users else "")
