"""Whether an application is in London, where the London Plan is part of every development plan."""

from __future__ import annotations

import re

LONDON_PLAN = "LONDON_PLAN"
NOT_COMPARED = (
    "The London Plan is part of the development plan here and is not among the policies that were compared: its standards, "
    "such as those for cycle parking in Policy T5, may ask for more than the national guidance that is cited."
)

_AUTHORITIES = (
    "barking-and-dagenham barnet bexley brent bromley camden croydon ealing enfield greenwich hackney hammersmith-and-fulham "
    "haringey harrow havering hillingdon hounslow islington kensington-and-chelsea kingston-upon-thames lambeth lewisham "
    "merton newham redbridge richmond-upon-thames southwark sutton tower-hamlets waltham-forest wandsworth westminster "
    "city-of-london london-legacy old-oak-and-park-royal london-borough"
).split()
_LONDON = re.compile(rf"(?:^|-)(?:{'|'.join(_AUTHORITIES)})(?:-|$)")


def is_in_london(authority: str) -> bool:
    """Return whether a planning authority, by its slug, is a London borough, the City or a development corporation there."""
    return _LONDON.search(authority.lower().replace(" ", "-")) is not None
