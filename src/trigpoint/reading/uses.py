"""Uses of land in a description of development, with their sizes: "up to 300 dwellings and 2,000 sqm of offices"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import get_args

from trigpoint.land_uses import Use
from trigpoint.reading.lexicon import Lexicon
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Quantity
from trigpoint.reading.tokens import Token, tokenise

_AFTER = 12  # tokens within which a floor area's use is named
_ANOTHER_ITEM = 6

_USES = Lexicon(
    {
        "dwellings": "dwelling dwellings dwellinghouse dwellinghouses homes houses flats apartments bungalow* maisonette* "
        "residential_units class_c_3 use_class_c_3 new_home annexe townhouse*",
        "office": "office offices workspace class_e_(_g_)_(_i class_b_1",
        "industrial": "industrial light_industrial manufactur* class_b_2 b_2 workshop workshops factory",
        "storage": "warehouse warehouses warehousing storage_and_distribution logistics distribution class_b_8 b_8",
        "retail": "retail shop shops supermarket foodstore store class_e_(_a convenience_store",
        "food": "cafe café restaurant* drinking_establishment public_house takeaway food_and_beverage class_e_(_b",
        "school": "school schools academy",
        "nursery": "nursery nurseries early_years creche class_e_(_f",
        "college": "college university higher_education",
        "hotel": "hotel guesthouse guest_house hostel class_c_1 apart_-_hotel aparthotel bed_and_breakfast",
        "holiday": "holiday_lodge* holiday_let* holiday_accommodation holiday_unit* holiday_park holiday_cottage* caravan* "
        "glamping camping_pod* campsite camp_site lodges touring_pitch* touring_park",
        "care_home": "care_home nursing_home extra_care class_c_2 retirement_living care_village assisted_living "
        "residential_care care_bed*",
        "student_housing": "student_accommodation purpose_built_student pbsa student_bed* student_room* student_residence* "
        "student_residences halls_of_residence student_studio* study_bedroom*",
        "health": "surgery medical_centre health_centre hospital clinic class_e_(_e dental",
        "leisure": "gym leisure_centre sports_hall swimming_pool cinema class_e_(_d sports_pavilion fitness",
        "community": "village_hall community_centre community_hall church place_of_worship class_f_2 library community_use",
        "commercial": "class_e commercial flexible_commercial employment_floorspace employment_space business_units",
    }
)
_BY_NAME: dict[str, Use] = {use: use for use in get_args(Use)}
_WITH_ROOMS = frozenset(("hotel", "care_home", "student_housing", "health", "nursery", "school"))
_GOING = frozenset((("of", "demolition"), ("from", "use"), ("of", "conversion"), ("existing", "of"), ("of", "removal")))
_COMING = frozenset(("to", "and", "into", "for", ",", ";", "with"))
_GENERIC = frozenset(("commercial", "other"))
_ITEMS = frozenset(("with", "and", ",", ";", "plus", "including", "together"))
_ANOTHER = frozenset((item, article) for item in _ITEMS for article in ("a", "an", "the"))
_FLOOR = frozenset(("floor", "floorspace", "area", "total", "gross"))
_COUNTED: dict[str, Use] = {"dwelling": "dwellings", "pupil": "school"}


def read_uses(text: str) -> Iterator[tuple[Use, Quantity | None]]:
    """Yield the uses that a description names, each with its size if it states one."""
    tokens = tokenise(text)
    gone = _gone(tokens)
    mentions = [(at, use) for use, positions in _USES.tag(tokens).items() for at in positions if at not in gone]
    seen: set[str] = set()
    ends = {token.end: index for index, token in enumerate(tokens)}
    for quantity in read_quantities(text):
        if ends.get(quantity.end) in gone:
            continue
        use = _use_of(quantity, tokens, mentions)
        if use is not None and f"{use} {quantity.unit} {quantity.of}" not in seen:
            seen.update((f"{use} {quantity.unit} {quantity.of}", use))
            yield use, quantity
    for name in dict.fromkeys(use for _, use in sorted(mentions)):
        if name not in seen:
            yield _BY_NAME[name], None


def _gone(tokens: tuple[Token, ...]) -> set[int]:
    """Return the positions of words that name what goes: "demolition of … and", "change of use from … to"."""
    gone: set[int] = set()
    for index, token in enumerate(tokens):
        if (token.text, tokens[index - 1].text) in _GOING and index:
            stop = next((at for at in range(index, len(tokens)) if tokens[at].text in _COMING), len(tokens))
            gone.update(range(index, stop))
    return gone


def _use_of(quantity: Quantity, tokens: tuple[Token, ...], mentions: list[tuple[int, str]]) -> Use | None:
    """Return the use that a quantity sizes: what it counts, or the use that is named nearest to a floor area."""
    if quantity.per is not None:
        return None
    if quantity.unit in _COUNTED:
        return _COUNTED[quantity.unit]
    if quantity.unit not in ("m2", "ft2", "bed", "bedroom", "place", "room"):
        return None
    rooms = quantity.unit in ("bed", "bedroom", "room", "place")
    start = next(index for index, token in enumerate(tokens) if token.start >= quantity.start)
    end = max(index for index, token in enumerate(tokens) if token.end <= quantity.end)
    near = [
        (_distance(tokens, start, end, at) + 3 * (use in _GENERIC), use)
        for at, use in mentions
        if (not rooms or use in _WITH_ROOMS) and not (use == "dwellings" and _names_another(tokens[at + 1 : start]))
    ]
    distance, name = min(near, default=(_AFTER + 1, ""))
    if distance <= _AFTER:
        return _BY_NAME[name]
    return "other" if quantity.unit == "m2" else None


def _names_another(between: tuple[Token, ...]) -> bool:
    """Return whether the words from the homes to a floor area name another thing: "homes, a local centre of 650 sqm"."""
    words = [token.text for token in between]
    another = any(pair in _ANOTHER for pair in pairwise(words))
    return another and "of" in words[-3:] and not _FLOOR & set(words)


def _distance(tokens: tuple[Token, ...], start: int, end: int, at: int) -> int:
    """Return how far a use is from a quantity; a word that begins another item counts as several."""
    between = tokens[end + 1 : at] if at > end else tokens[at + 1 : start]
    return len(between) + _ANOTHER_ITEM * sum(token.text in _ITEMS for token in between)
