"""Every number of a statement that counts something, even if its noun is left out: "74 standard bays, 5 accessible"."""

from __future__ import annotations

from functools import lru_cache

from trigpoint.reading.numerals import take_number
from trigpoint.reading.quantities import LIMITS, NAMES_BEFORE_NUMBERS, read_quantities
from trigpoint.reading.quantity import Limit, Quantity
from trigpoint.reading.tokens import Cursor, Token, tokenise

_NAMED = NAMES_BEFORE_NUMBERS | frozenset(
    "units blocks plots phases buildings zones nos routes service services arm arms gate store stores note row year years "
    "view drawing drawings dwg ref spring summer autumn winter version class classes grade".split()
)
_JOINED = frozenset(("and", ",", "to", "-", "&", "or"))
_CLOCK = (":", ".")
EARLIEST_YEAR, LATEST_YEAR = 1500, 2100


@lru_cache(maxsize=4096)
def read_counts(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a statement and, with an empty unit, its other numbers, in order.

    Numbers in names ("Unit 1", "Units 2 and 3", "A511"), times of day and years are left out.
    """
    quantities = read_quantities(text)
    tokens = tokenise(text)
    covered = [(one.start, one.end) for one in quantities]
    counts = list(quantities)
    at = 0
    while at < len(tokens):
        cursor = Cursor(tokens, at)
        value = None if _inside(tokens[at], covered) else take_number(cursor)
        if (
            value is not None
            and not _is_compound(tokens, cursor.at)
            and not _is_name(tokens, at)
            and not _is_time(tokens, at)
            and not _is_year(tokens[at])
        ):
            limit = _limit_before(tokens, at)
            counts.append(
                Quantity(value=value, unit="", limit=limit, start=tokens[at].start, end=tokens[cursor.at - 1].end)
            )
        at = max(cursor.at, at + 1)
    return tuple(sorted(counts, key=lambda one: one.start))


def _limit_before(tokens: tuple[Token, ...], at: int) -> Limit:
    """Return the limit that is set right before a number: "around 720", "more than 120"."""
    for length in (3, 2, 1):
        words = " ".join(token.text for token in tokens[max(0, at - length) : at])
        if words in LIMITS.values:
            return LIMITS.values[words]
    return "exactly"


def _inside(token: Token, spans: list[tuple[int, int]]) -> bool:
    return any(start <= token.start < end for start, end in spans)


def _is_name(tokens: tuple[Token, ...], at: int) -> bool:
    """Return whether a number belongs to a name: after "Unit", joined to a word or a mark, or in such a list."""
    if at == 0:
        return False
    before, token = tokens[at - 1], tokens[at]
    if token.kind == "number" and not token.spaced and before.text not in ("(", "£", '"', "'"):
        return True
    return before.text in _NAMED or _is_listed_name(tokens, at)


def _is_listed_name(tokens: tuple[Token, ...], at: int) -> bool:
    """Return whether a number continues a list of names: "Units 2 and 3"; in "Unit 1 and 180" the second is a count."""
    while at >= 2 and tokens[at - 1].text in _JOINED and tokens[at - 2].kind == "number":
        at -= 2
        if tokens[at - 1].text in _NAMED and at >= 1:
            return tokens[at - 1].text.endswith("s")
    return False


def _is_compound(tokens: tuple[Token, ...], after: int) -> bool:
    """Return whether a number is the first part of a compound word: "two-way", "four-arm"."""
    return (
        after + 1 < len(tokens)
        and tokens[after].text == "-"
        and not tokens[after].spaced
        and not tokens[after + 1].spaced
    )


def _is_time(tokens: tuple[Token, ...], at: int) -> bool:
    after = tokens[at + 1 : at + 3]
    return len(after) == 2 and after[0].text in _CLOCK and not after[0].spaced and not after[1].spaced


def _is_year(token: Token) -> bool:
    plain = token.kind == "number" and token.text.isdecimal() and len(token.text) == 4
    return plain and EARLIEST_YEAR <= int(token.text) <= LATEST_YEAR
