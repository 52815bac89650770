"""References as a person writes them in a letter: "NPPF, paragraph 117", "Transport Assessment, page 11"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from trigpoint.review.evidence import collapse, short_name
from trigpoint.review.findings import Citation, Place, PolicyCitation, listed_pages

_LONG_NAMES = {
    "LTCP": "Oxfordshire Local Transport and Connectivity Plan",
    "LCWIP": "Bicester Local Cycling and Walking Infrastructure Plan",
}
_ENDING = re.compile(
    r"\.(?:pdf|docx?|odt|rtf|txt|md|html?|xlsx?|csv|pptx?|png|jpe?g|tiff?)(?=$|[\s,;:).])", re.IGNORECASE
)
_REFERENCE_IN_FRONT = re.compile(
    r"^(?=[^-]*\d{2}[ _]\d{3,})[A-Z0-9]+(?:[ _][A-Z0-9]+)+-(?=[A-Za-z])"
)  # UTT_25_3011_OP-…
_NUMBER_OF_REGISTER = re.compile(r"^\d{6,}[ -]+|[ -]+\d{6,}$|^[0-3]\d[ .-]+(?=[A-Za-z])")
_GROUPS_LETTER = re.compile(r"^Public comment (?![0-9a-f]+$)(?=[A-Z])")
_WRITTEN_OUT = {
    "ta": "Transport Assessment", "ts": "Transport Statement", "das": "Design and Access Statement",
    "fra": "Flood Risk Assessment", "d&a": "Design and Access",
}  # fmt: skip
_SHORT_WORDS = frozenset(
    {"ACT", "AIR", "BAY", "BUS", "CAR", "KEY", "LOW", "MAP", "NEW", "NON", "OLD", "OUR", "TOP", "USE", "WAY"}
)
_QUOTATION = re.compile(r"(“[^”]*”|‘[^’]*’(?!\w))")
_UNIT = re.compile(r"(?<![£\w.,])(\d[\d,.]*)(mph|km/h|mm|cm|km|m|ha|sqm)\b")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
_SMALL = frozenset("and at by for from in le of on or the to under upon with".split())
_MOST_PAGES = 4
_NO_TITLES: Mapping[str, str] = MappingProxyType({})
Titles = Mapping[str, str]
"""Titles of documents that the names of their files do not say, by name."""
_MOST_PAGES_OF_GROUND = 10


def title_in(name: str, titles: Titles) -> str:
    """Return what people call a document: a title that was read from it, or else the one that its file's name gives."""
    return titles.get(name) or document_title(name)


def document_title(name: str) -> str:
    """Return a document's name as people say it: without file ending, underscores or the register's numbers, as a title.

    A letter of a group is named by the group.
    """
    words = collapse(_REFERENCE_IN_FRONT.sub("", _ENDING.sub("", name)).replace("_", " ").replace("%20", " "))
    words = _GROUPS_LETTER.sub("", words)
    title = _NUMBER_OF_REGISTER.sub("", words) or words
    if title.isupper() and len(title) > 5:
        return _capitalised(title)
    return _titled(title) or "Document"


def _titled(title: str) -> str:
    """Return a title with its small words in small letters, the others with a capital, and abbreviations written out."""
    words = [_WRITTEN_OUT.get(word.casefold(), word) for word in title.split()]
    if any(word.islower() and word not in _SMALL for word in words[1:]) and title[:1].isupper():
        return " ".join(words)  # "Response of the highway authority" is written as a sentence
    raised = [f"{word[0].upper()}{word[1:]}" for word in words]
    return " ".join(word.lower() if n and word.lower() in _SMALL else word for n, word in enumerate(raised))


def council_name(slug: str) -> str:
    """Return `Wenbridge and Marden Borough Council` for its slug; nothing if the slug does not say what it is."""
    words = slug.replace("-", " ")
    return _capitalised(words.upper()) if re.search(r"\b(?:council|corporation|authority)\b", words) else ""


def name_in_title_case(name: str) -> str:
    """Return `Vale of Ketterby District Council` for a name in capitals or in small letters."""
    return _capitalised(name.upper())


def policy_title(source: str) -> str:
    """Return the name of a policy: the short one that planners use, or a long one for local plans."""
    name = short_name(source)
    name = _LONG_NAMES.get(name, name)
    return _capitalised(name) if name.isupper() and " " in name else name


def policy_place(policy: PolicyCitation) -> str:
    """Return `NPPF, paragraph 117` for a passage of policy."""
    title = policy_title(policy.source)
    return f"{title}, {_section(policy.section_ref)}" if policy.section_ref else title


def place_of_ref(ref: str) -> str:
    """Return `NPPF, paragraph 117` for the reference `NPPF:para.117`."""
    name, colon, section = ref.partition(":")
    return f"{policy_title(name)}, {_section(section)}" if colon else ref


def document_place(citation: Citation, titles: Titles = _NO_TITLES) -> str:
    """Return `Transport Assessment, page 11` for a quotation."""
    title = title_in(citation.document, titles)
    return f"{title}, {listed_pages(citation.pages[:_MOST_PAGES])}" if citation.pages else title


def document_places(citations: Iterable[Citation], most: int, told: str = "", titles: Titles = _NO_TITLES) -> str:
    """Return `Transport Assessment, pages 5 and 9; Travel Plan, page 4` for quotations, each document once.

    Pages that the text `told` names together with their document are left out.
    """
    pages: dict[str, dict[int, None]] = {}
    for citation in citations:
        title = title_in(citation.document, titles)
        named = {number for number in citation.pages if title in told and re.search(rf"\bpages? {number}\b", told)}
        pages.setdefault(title, {}).update(dict.fromkeys(number for number in citation.pages if number not in named))
    places = [f"{title}, {_chosen_pages(list(found))}" for title, found in pages.items() if found]
    return "; ".join(places[:most])


def _chosen_pages(numbers: Sequence[int]) -> str:
    """Return the pages in their order; of very many those that come first, which prove most."""
    return listed_pages(tuple(sorted(numbers[:_MOST_PAGES_OF_GROUND])))


def place_text(place: Place, titles: Titles = _NO_TITLES) -> str:
    """Return `Travel Plan, pages 3 and 4` for pages of a document, at most the first four."""
    title = title_in(place.document, titles)
    return f"{title}, {listed_pages(place.pages[:_MOST_PAGES])}" if place.pages else title


def places_text(places: Iterable[Place], most: int, titles: Titles = _NO_TITLES) -> str:
    """Return pages of documents, each document once: `Travel Plan, pages 3 and 4; Design Statement, page 2`."""
    pages: dict[str, dict[int, None]] = {}
    for place in places:
        pages.setdefault(title_in(place.document, titles), {}).update(dict.fromkeys(place.pages))
    named = [
        f"{title}, {listed_pages(tuple(sorted(found))[:_MOST_PAGES])}" if found else title
        for title, found in pages.items()
    ]
    return "; ".join(named[:most])


def quoted(quote: str) -> str:
    """Return a quotation as it is set within quotation marks: on one line, without marks of emphasis."""
    return collapse(quote).replace("**", "").lstrip("*> ").replace("“", "‘").replace("”", "’")


def tidied(text: str) -> str:
    """Return a text as it is printed: `2.5 m` for `2.5m`, and curved apostrophes. Quotations stay as they are."""
    parts = _QUOTATION.split(text)
    return "".join(
        part if place % 2 else _APOSTROPHE.sub("’", _UNIT.sub(r"\1 \2", part)) for place, part in enumerate(parts)
    )


def in_plain_words(text: str, documents: Iterable[str], refs: Iterable[str], titles: Titles = _NO_TITLES) -> str:
    """Return a text of a finding in which these documents and references of policy are named as a person names them."""
    named = {name: title_in(name, titles) for name in documents} | {ref: place_of_ref(ref) for ref in refs}
    for written in sorted(named, key=len, reverse=True):
        text = text.replace(written, named[written])
    return collapse(_ENDING.sub("", text))


def _section(ref: str) -> str:
    """Return `paragraph 117`, `table 11-1`, `policy SLE 4`, `section 11.2` or the reference as it is."""
    if match := re.fullmatch(r"para(?:graph)?s?[. ]*(\d.*)", ref, re.IGNORECASE):
        return f"paragraph {match[1]}"
    if match := re.fullmatch(
        r"(table|figure|policy|chapter|appendix|annex|section|objective|footnote)\s+(.+)", ref, re.I
    ):
        return f"{match[1].lower()} {match[2]}"
    if re.fullmatch(r"\d+(\.\d+){2,}", ref):
        return f"paragraph {ref}"
    return f"section {ref}" if re.fullmatch(r"\d+(\.\d+)*", ref) else ref


def _capitalised(text: str) -> str:
    """Return words in capitals as a title. Abbreviations stay: words without a vowel, and most of three letters."""
    words = [word if _is_abbreviation(word) else word.capitalize() for word in text.split()]
    return " ".join(word.lower() if n and word.lower() in _SMALL else word for n, word in enumerate(words))


def _is_abbreviation(word: str) -> bool:
    short = len(word) <= 3 and word not in _SHORT_WORDS and word.lower() not in _SMALL
    return short or not re.search("[AEIOUY]", word)
