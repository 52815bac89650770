"""Which group a letter is from: a parish council, a campaign, a forum. Groups are named; people are not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trigpoint.review.citing import name_in_title_case
from trigpoint.review.wording import any_of

_HEAD_LINES = 4  # of a letter, on which its letterhead is
_TAIL = 500  # characters at the end, in which it is signed
_LONGEST = 80
_KIND = (
    r"(?:Parish|Town|Community|Parish Town) Council|Parish Meeting|Campaign|Society|Association|Forum|Ramblers|Cycling UK|"
    r"Neighbourhood Forum|Action Group|Users['’]? Group|Residents['’]? Group|Civic Trust|Friends of [A-Z][\w'’-]+(?: [A-Z][\w'’-]+){0,3}"
)
_WORD = r"(?:[A-Z][\w'’.-]*|&|and|of|for|the|on|with|in|by|upon)"
_GROUP = re.compile(rf"(?:(?:the )?(?P<group>(?:{_WORD} ){{0,7}}(?:{_KIND})))(?![\w'’])")
_BEFORE = re.compile(
    r"^(?:from|on behalf of|for(?: and on behalf of)?"
    r"|comments? (?:of|from|by)|(?:response|objection) (?:of|from|by))\s*:?\s+",
    re.I,
)
_TO_OTHERS = re.compile(r"^(?:to|dear|cc|fao|re|subject|for the attention of)\b", re.I)
_SIGNED = any_of(
    "Yours",
    "Kind regards",
    "Regards",
    "Signed",
    "On behalf of",
    "For and on behalf",
    *"Chair Secretary Clerk".split(),
)
_PERSON = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Cllr)\b")


def group_of(text: str) -> str:
    """Return the group whose letterhead or signature a letter has; nothing if it has none."""
    return next(_groups(text), "")


def _groups(text: str) -> Iterator[str]:
    lines = [line.strip(" #*_|\t") for line in text.splitlines()]
    written = [line for line in lines if line]
    yield from _named(written[:_HEAD_LINES])
    tail = text[-_TAIL:]
    if signed := _SIGNED.search(tail):
        yield from _named([part.strip(" #*_|\t") for part in re.split(r"[\n,]", tail[signed.start() :])])


def _named(lines: list[str]) -> Iterator[str]:
    """Yield the groups that lines begin with; a line that is addressed to somebody or names a person does not count."""
    for line in lines:
        if _TO_OTHERS.match(line) or _PERSON.search(line):
            continue
        plain = _BEFORE.sub("", line)
        if plain[:_LONGEST].isupper():
            plain = name_in_title_case(plain[:_LONGEST])
        if (found := _GROUP.match(plain)) and len(found["group"]) <= _LONGEST and " " in found["group"]:
            yield found["group"].removeprefix("The ")
