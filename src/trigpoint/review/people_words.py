"""The words by which a person, an address, an office and a label are told in comments, letters and forms."""

from __future__ import annotations

import re

from trigpoint.review.wording import any_of

TITLES = frozenset("mr mrs ms miss mx dr prof professor rev revd reverend sir dame lady lord".split())
JOINS = frozenset("and & de da van von der den la le du al el bin".split())
STREETS = frozenset(
    "road street lane avenue drive close way court gardens place terrace crescent square hill row mews grove park rise view "
    "walk green mead meadow meadows croft fields path parade wharf quay causeway broadway end bank rd st ave".split()
)
HOUSES = frozenset(
    "house cottage farm farmhouse villa lodge barn manor forge mill rectory vicarage grange granary".split()
)
OFFICES = frozenset(
    "councillor cllr officer planner clerk inspector manager director engineer mp mayor leader ecologist surveyor architect "
    "consultant solicitor".split()
)
ROLES = OFFICES | frozenset(
    "chair chairman chairwoman secretary treasurer retired resident residents member parent owner applicant agent neighbour "
    "occupier driver teacher team customer trustee trustees".split()
)
ORGANISATIONS = frozenset(
    "council association ltd limited llp plc society group trust department services service authority england agency homes "
    "committee campaign school university college company partnership planning development management properties church "
    "campaigners forum party consulting architects inspectorate utilities land estates highways water".split()
)
COUNCILS = re.compile(
    r"\b(?:council|borough|corporation|inspectorate|planning (?:department|services?|authority|office|team|support)"
    r"|development management)\b|@[\w.-]+\.gov\.uk",
    re.IGNORECASE,
)
SITE = any_of(
    *"site location proposal proposed development description works pre-application parking".split(),
    "application (?:summary|details|number|form)",
    "land (?:at|adjacent|adjoining|between|north|south|east|west|off|to|rear)",
)
_CLOSING_PHRASES = (
    r"yours\b",
    "kind(?:est)? regards",
    "(?:best |warm(?:est)? )?regards",
    r"(?:with )?(?:kind|best|warm|good|many|all)\b[\w ]{0,20}\b(?:wishes|regards|thanks|best)",
    "best$",
    "best,",
    r"thank(?:s| you)\b",
    *"sincerely faithfully respectfully cheers".split(),
    "on behalf of",
)
CLOSINGS = re.compile("|".join(_CLOSING_PHRASES), re.IGNORECASE)
KIN = (
    "wife|husband|partner|spouse|son|sons|daughter|daughters|child|children|mother|father|mum|dad|parents|brother|sister"
    "|grandson|granddaughter|grandmother|grandfather|aunt|uncle|neighbours?|friends?|flatmates?|housemates?|landlord"
    "|landlady|carer|childminder|nanny|tenant|colleague"
)

_PERSON = frozenset(
    "name names surname forename signature signed signatory chair chairman chairwoman secretary treasurer caller neighbour "
    "objector supporter commenter resident householder occupier owner tenant from cc by title".split()
)
_ADDRESS = frozenset("address house property street town city county postcode flat building village of".split())
_CONTACT = frozenset("tel telephone phone mobile mob fax email mail number call".split())
_FILLING = frozenset(
    "your first last full middle family given home the and or a line no primary secondary applicant agent applicant's agent's "
    "contact customer person for correspondence details code post back on submitted posted comment comments made received "
    "agricultural company e written sent 1 2 3 4 5".split()
)
_MONTHS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep "
    "sept oct nov dec".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|&")


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def label_kind(text: str) -> str | None:
    """Return `person`, `address` or `contact` if a text is the label of such a field, else None."""
    said = {word.casefold() for word in words(text)}
    if not said or len(said) > 6 or said - _PERSON - _ADDRESS - _CONTACT - _FILLING:
        return None
    if said & {"house", "property", "building", "street"}:
        return "address"
    if said & _CONTACT:
        return "contact"
    if said & (_PERSON - {"title"}):
        return "person"
    if said & (_ADDRESS - {"of"}) or said in ({"of"}, {"post", "code"}):
        return "address"
    return "person" if said == {"title"} else None


def is_name(text: str, *, fewest: int = 2) -> bool:
    """Return whether a text is nothing but the name of a person, as it is written on a line of its own."""
    said = [word for word in words(re.sub(r"\([^)]*\)", " ", text)) if word.casefold() not in TITLES]
    plain = [word for word in said if word.casefold() not in JOINS]
    if not fewest <= len(plain) <= 6 or any(character.isdigit() for character in text):
        return False
    known = STREETS | HOUSES | ROLES | ORGANISATIONS | _PERSON | _ADDRESS | _CONTACT | _COMMON
    if any(word.casefold() in known for word in plain) or re.search(r"[?!]|[a-z]{3}\.$|:$", text):
        return False
    return all(word[0].isupper() for word in plain) and any(len(word) > 2 for word in plain)


def is_address(text: str) -> bool:
    """Return whether a text is the line of a postal address: a number or a house's name with a street, or one of them."""
    said = [word.casefold() for word in words(text)]
    if not 1 <= len(said) <= 9 or set(said) & _MONTHS or COUNCILS.search(text) or SITE.search(text):
        return False
    capital = [word for word in words(text) if word[0].isupper() or word[0].isdigit()]
    if len(capital) < len(said) - 1:
        return False
    street, house = bool(set(said) & STREETS), bool(set(said) & HOUSES)
    number = re.match(r"\s*(?:flat|unit|apartment|no\.?|number)?\s*\d{1,4}[A-Za-z]?(?=[\s,]|$)", text, re.IGNORECASE)
    return bool((number and len(said) > 1) or (house and len(said) > 1) or (street and len(said) > 1))


_COMMON = frozenset(
    "dear sir madam re ref reference subject date application applications comment comments objection objections support "
    "letter summary representation representations petition notice your our the this that these those highway highways safety "
    "traffic cycle cycling parking transport travel plan statement report policy plans drawing drawings objects supports object "
    "hello hi good morning afternoon evening monday tuesday wednesday thursday friday saturday sunday yes no none not page annex appendix section figure table "
    "north south east west new old lower upper great little phase stage post code details form file note sent received".split()
)
