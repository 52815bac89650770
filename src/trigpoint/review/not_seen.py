"""Documents, parts and pages that the application's own pages name and that are not among those read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from trigpoint.reading.documents import Document
from trigpoint.reading.statements import document_statements
from trigpoint.review.citing import document_title
from trigpoint.review.evidence import Evidence, collapse
from trigpoint.review.titles import head_title, title_of
from trigpoint.review.wording import any_of
from trigpoint.text.account import name_pages

MOST_NAMED = 6
_KIND = (
    r"Transport Assessment|Transport Statement|Travel Plan|Road Safety Audit|Design (?:and|&) Access Statement|Planning Statement|"
    r"Environmental Statement|Parking (?:Management Plan|Survey|Strategy)|Delivery (?:and|&) Servicing (?:Management )?Plan|"
    r"Construction (?:Traffic|Logistics) (?:Management )?Plan|Active Travel (?:Zone )?Assessment|Cycle (?:Parking )?Strategy|"
    r"Cycling Promotion Plan|Walking,? Cycling (?:and|&) Horse[ -]Riding Assessment|Technical Note (?:TN)?\d+"
)
_NAMED = re.compile(rf"\b(?P<kind>{_KIND})(?P<more> Addendum)?\b")
_THERE = any_of(
    *(
        r"submitted accompan\w+ support(?:s|ed) prepared appended enclosed attached refer see contained included".split()
    ),
    *("provided details addresse[sd] answers assesses found concludes".split()),
    "set out",
    "has been",
    "have been",
)
_TO_COME = any_of(
    "will be",
    "shall",
    "to be",
    "would be",
    "should be",
    "prior to",
    *"before condition obligation require[sd]? secured?".split(),
)
_PART = re.compile(r"\b(?:part|volume|vol)[ _]*(\d{1,2})(?:[ _]*of[ _]*(\d{1,2}))?\b", re.IGNORECASE)
_ENTRY = re.compile(r"^\s*(?P<title>[A-Za-z0-9][^\n]{3,70}?)[\s.·…|]+(?P<page>\d{1,3})\s*\|?\s*$", re.MULTILINE)
_FIRST_PAGES = 8  # of a document, on which its list of contents is
_FEWEST_ENTRIES = 4


def not_seen(evidence: Evidence) -> tuple[str, ...]:
    """Return what the documents name and nobody here has read, each in a few words with the place that names it."""
    return _of(evidence.documents)


@lru_cache(maxsize=2)  # asked before every call to a model
def _of(documents: tuple[Document, ...]) -> tuple[str, ...]:
    own = [one for one in documents if one.source_kind in ("applicant", "council")]
    return (*_named_documents(documents, own), *_missing_parts(own), *_missing_pages(own))


def _named_documents(documents: Iterable[Document], own: Sequence[Document]) -> Iterator[str]:
    """Yield documents that a statement calls submitted, or refers to, and that are not among those read."""
    times: Counter[str] = Counter()
    first: dict[str, str] = {}
    for document in documents:
        for statement in document_statements(document):
            text = collapse(statement.text)
            if _TO_COME.search(text) or not _THERE.search(text):
                continue
            for found in _NAMED.finditer(text):
                name = found[0].replace("&", "and")
                times[name] += 1
                page = f", page {statement.page}" if statement.page else ""
                first.setdefault(name, f"{title_of(document)}{page}")
    missing = [name for name, _ in times.most_common() if not any(_is(name, one) for one in own)]
    for name in missing[:MOST_NAMED]:
        yield f"the {name} (named in {first[name]})"


def _is(name: str, document: Document) -> bool:
    """Whether a document is the one of a name: by its own name or title, an addendum only if it is called one."""
    said = f"{document_title(document.name)} {head_title(document)}".casefold().replace("&", "and")
    kind = name.removesuffix(" Addendum").casefold()
    is_addendum = "addendum" in said
    if name.endswith(" Addendum"):
        return is_addendum and (kind in said or kind.split()[0] in said)
    return all(word in said for word in kind.split() if word != "and") and not is_addendum


def _missing_parts(own: Sequence[Document]) -> Iterator[str]:
    """Yield the parts that a document's name counts and that no other document is."""
    parts: dict[str, set[int]] = {}
    totals: dict[str, int] = {}
    for document in own:
        title = document_title(document.name)
        if (found := _PART.search(title)) is not None:
            work = collapse(_PART.sub("", title)).strip(" -,")
            parts.setdefault(work, set()).add(int(found[1]))
            totals[work] = max(totals.get(work, 0), int(found[2] or found[1]))
    for work, there in parts.items():
        lacking = [str(number) for number in range(1, totals[work] + 1) if number not in there]
        if lacking:
            yield f"part{'s' if len(lacking) > 1 else ''} {', '.join(lacking)} of {work or 'a document'}"


def _missing_pages(own: Sequence[Document]) -> Iterator[str]:
    """Yield the headings that a list of contents has on pages after the document's last one."""
    for document in own:
        last = max((page.number for page in document.pages), default=0)
        beyond = [(page, title) for page, title in _contents(document) if page > last]
        if not last or not beyond:
            continue
        pages = name_pages(sorted({page for page, _ in beyond})).lower()
        titles = "; ".join(dict.fromkeys(title for _, title in beyond[:4]))
        yield f"{pages} of {title_of(document)}, which ends at page {last} (its list of contents has: {titles})"


def _contents(document: Document) -> list[tuple[int, str]]:
    """Return the entries of a list of contents, if a document has one: page and heading, in the order of the pages."""
    for page in document.pages[:_FIRST_PAGES]:
        text = document.text[page.start : page.end]
        if "contents" not in text[:400].casefold():
            continue
        entries = [(int(found["page"]), collapse(found["title"]).strip(" .|")) for found in _ENTRY.finditer(text)]
        rising = sum(one[0] <= after[0] for one, after in pairwise(entries))
        if len(entries) >= _FEWEST_ENTRIES and rising >= len(entries) - 2:
            return entries
    return []
