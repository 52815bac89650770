"""The recommendation of the council's officers in their own words, and for which committee: read from their report.

Only what is certainly theirs counts. A report also tells what consultees recommend, how earlier applications ended and
what policy says, and an approval often names the refusal that follows if no agreement is signed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from pydantic import Field

from trigpoint.reading.context import REFERENCE, section_under
from trigpoint.reading.documents import Document
from trigpoint.reading.sources import genre_of, is_superseded
from trigpoint.reading.statements import Statement, document_statements
from trigpoint.review.advised import Advice, Advised, Agreement, advised, depends_on
from trigpoint.review.citing import Titles, document_place
from trigpoint.review.committee_day import committee_day, report_day
from trigpoint.review.evidence import Evidence, collapse
from trigpoint.review.findings import Citation, Stored
from trigpoint.review.wording import any_of, listed

_HEAD = 1_500  # characters of a report in which it names its application
_LONGEST = 1_200  # characters of a recommendation
_BELOW = 3  # statements below a heading "Recommendation" among which the recommendation is
_MOST_ITEMS = 6  # statements below an approval "subject to:" among which its items are

_OTHERS_SAY = ("consultees", "objectors", "history", "others", "policy", "engagement")
_NUMBER = r"(?:\d+(?:\.\d+)*\.?\s+)?"
_WHOSE = r"(?:(?:summary|final|formal|the)\s+(?:of\s+)?)?(?:(?:case|planning)\s+)?(?:officers?['’]?s?['’]?\s+)?"
_WHAT = r"(?:recommendation(?:\(s\)|s)?|recommended decision)(?:\s+to\s+(?:the\s+)?committee)?(?:\s+[A-D1-9])?"
_LABEL = re.compile(rf"{_NUMBER}{_WHOSE}{_WHAT}(?![\w'’])\s*[:.–—-]*\s*", re.IGNORECASE)
_OF_SOMEBODY = re.compile(r"(?:of|from|by|made|in|on)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s+", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]")
_RECOMMENDED = any_of(
    r"it is (?:\w+,? ){0,3}recommended",
    r"(?:application|proposal|scheme|development) is (?:\w+,? ){0,3}recommended for",
    r"(?:permission|consent|approval|refusal) is (?:\w+,? ){0,2}recommended",
    r"(?:the|my|our|officers['’]) recommendation (?:is|remains)",
    r"i (?:\w+ )?recommend",
)
_OFFICERS = re.compile(r"(?:^|[,;:] |\b(\w+)(?:['’]s)? )officers? (?:\w+ )?recommends?\b", re.IGNORECASE)
_PLANNING_OFFICERS = frozenset("planning case the your council and therefore that so accordingly which overall".split())
_PLACE_LABEL = re.compile(r"(?:parish|ward|site|location)\s*:", re.IGNORECASE)
_CONSULTED = any_of(
    "highways? authority",
    "county council",
    "parish council",
    "town council",
    "consultees?",
    "active travel england",
    "national highways",
    r"(?:natural|historic|sport) england",
    "agency",
    "highways",
    "environmental health",
    r"(?:conservation|tree|heritage|housing|ecology|landscape) officers?",
    "ecologist",
    "police",
    "panel",
)
_OTHERS = any_of("inspector", "applicant", "agent", "objectors?")
_NAMES_ITS_APPLICATION = any_of(r"application(?: no| number| ref(?:erence)?)?", "reference", "ref", "item", "case")
_IS_CONDITION = any_of("shall")
_GOES_ON = re.compile(r"(?:[:;,–—]|\band|\bto|\(?[a-z0-9]\))$", re.IGNORECASE)  # "subject to:", "subject to A)"
_MARK_ALONE = re.compile(r"\(?[a-z0-9]{1,2}[.)]", re.IGNORECASE)


class OfficersRecommendation(Stored):
    """What the officers' report recommends, and the day of the committee that it is for."""

    advice: Advice
    conditions: bool = Field(False, description="Whether the words quoted make the approval subject to conditions.")
    agreement: Agreement | None = Field(
        None, description="The agreement that the words quoted make the approval subject to: section 106, or other."
    )
    citation: Citation
    committee: str = Field("", description="The day of the committee, YYYY-MM-DD, if the report states it.")

    @property
    def words(self) -> str:
        """Return `approval subject to conditions and a Section 106 agreement`."""
        wanted = ["conditions"] if self.conditions else []
        wanted += [_AGREEMENTS[self.agreement]] if self.agreement else []
        return f"{self.advice} subject to {listed(wanted)}" if wanted else self.advice

    def sentence(self, titles: Titles, today: date | None = None) -> str:
        """Return the recommendation as a sentence with its place.

        Only with `today`, and if the day of the committee is yet to come, does it say that the committee meets: a file is
        read for longer.
        """
        told = f"Officers recommend {self.words} ({document_place(self.citation, titles)})"
        if not self.committee:
            return f"{told}."
        day = date.fromisoformat(self.committee)
        written = f"{day.day} {day:%B %Y}"
        if today is not None and day >= today:
            return f"{told}; the committee meets on {written}."
        return f"{told}, in a report to the committee of {written}."


_AGREEMENTS: dict[Agreement, str] = {"section 106": "a Section 106 agreement", "other": "a legal agreement"}


class _Found(NamedTuple):
    """A recommendation in a report: what it advises, the statement, and the words to quote."""

    advised: Advised
    statement: Statement
    end: int
    quote: str


def officers_recommendation(evidence: Evidence) -> OfficersRecommendation | None:
    """Return the recommendation of the latest officers' report; None if none is plain, or reports differ undated."""
    reports = [one for one in evidence.documents if _is_report(one, evidence.application_ref)]
    read = [(one, found) for one in reports if (found := _recommendation(one, evidence.application_ref))]
    latest = _latest(read)
    return _told(*latest) if latest else None


def _is_report(document: Document, reference: str) -> bool:
    """Whether a document is a report of the council's on this application, and not one that was replaced."""
    if genre_of(document) != "committee report" or is_superseded(document):
        return False
    return _is_on(document.text[:_HEAD], reference) is not False


def _is_on(text: str, reference: str) -> bool | None:
    """Return whether a text names this application, or only others; None if it names none."""
    named = [_digits(one) for one in REFERENCE.findall(text) if _shape(one) == _shape(reference)]
    return _digits(reference) in named if named else None


def _digits(reference: str) -> str:
    return re.sub(r"\D", "", reference)


def _shape(reference: str) -> str:
    """Return how the figures of a reference are grouped: another council's, or a file number, is built differently."""
    return re.sub(r"\d", "9", re.sub(r"[^\d/]", "", reference)).strip("/")


def _latest(read: Sequence[tuple[Document, _Found]]) -> tuple[Document, _Found] | None:
    """Return the report that counts: any if all advise the same, the latest dated first; else the latest, if all have a date."""
    if not read:
        return None
    dated = [(report_day(document) or date.min, document, found) for document, found in read]
    last = max(day for day, _, _ in dated)
    latest = [(document, found) for day, document, found in dated if day == last]
    differ = len({found.advised.advice for _, found in read}) > 1
    if differ and any(day == date.min for day, _, _ in dated):
        return None
    if len({found.advised.advice for _, found in latest}) > 1:
        return None
    return max(latest, key=lambda one: _weight(one[1]))


def _recommendation(document: Document, reference: str) -> _Found | None:
    """Return the fullest of a report's recommendations; None if it has none, or they contradict each other."""
    found = list(_found(document, reference))
    if len({one.advised.advice for one in found}) != 1:
        return None
    return max(found, key=_weight)  # the first of those that say as much


def _weight(found: _Found) -> int:
    return bool(found.advised.conditions) + bool(found.advised.agreement)


def _found(document: Document, reference: str) -> Iterator[_Found]:
    """Yield every plain recommendation of a report. What follows the heading of another application is said of that."""
    statements = document_statements(document)
    title = statements[0].text if statements else ""
    on_this, below = True, 0
    for index, statement in enumerate(statements):
        on_this = _still_on_this(statement, reference, on_this)
        if not on_this or _belongs_to_others(statement, title) or _is_on(statement.text, reference) is False:
            below = 0
            continue
        quote = _labelled(statement)
        if quote is not None and not _after_label(quote):
            below = _BELOW
            continue
        quote = quote or (collapse(statement.text) if below or _is_said_by_officers(statement) else "")
        found = _read(statements, index, quote, document) if quote else None
        if found:
            yield found
        ends = found is not None or statement.kind == "heading"  # another heading begins another part
        below = 0 if ends else max(0, below - 1)


def _still_on_this(statement: Statement, reference: str, on_this: bool) -> bool:
    """Return whether what follows is said of this application: a heading or a labelled line may begin another one."""
    begins = statement.kind == "heading" or _NAMES_ITS_APPLICATION.match(statement.text.lstrip("* "))
    named = _is_on(statement.text, reference) if begins else None
    return on_this if named is None else named


def _belongs_to_others(statement: Statement, title: str) -> bool:
    """Whether a statement is in a part on consultees, the public, earlier applications or policy."""
    headings = [one for one in statement.headings if not _PLACE_LABEL.match(one)]  # "PARISH: Stow" is no such part
    if section_under(headings) in _OTHERS_SAY:
        return True
    return any(_speaks_of_others(one) for one in headings if one != title)  # a county council decides on its own


def _speaks_of_others(text: str) -> bool:
    return bool(_CONSULTED.search(text) or _OTHERS.search(text))


def _labelled(statement: Statement) -> str | None:
    """Return the words from a label "Recommendation" on, which may be alone; None if there is no such label."""
    for part in re.finditer(r"[^|*\s][^|*]*", statement.text):
        before, text = statement.text[: part.start()], statement.text[part.start() :]
        label = _LABEL.match(text)
        if label and not _OF_SOMEBODY.match(text[label.end() :]) and not _CONSULTED.search(before):
            return collapse(text).strip("* ")
    return None


def _after_label(quote: str) -> str:
    """Return a recommendation without its label, the marks of a table and of emphasis, and a number in front."""
    label = _LABEL.match(quote)
    text = quote[label.end() :] if label else quote
    return _ITEM.sub("", collapse(text.replace("*", "").replace("|", " ")).lstrip(":.–—- "))


def _is_said_by_officers(statement: Statement) -> bool:
    """Whether a sentence recommends something now, in the officers' voice, and speaks of nobody else."""
    text = _QUOTED.sub("", collapse(statement.text))
    if _speaks_of_others(text):
        return False
    officers = _OFFICERS.search(text)
    by_officers = officers is not None and (officers[1] or "the").lower() in _PLANNING_OFFICERS
    return by_officers or _RECOMMENDED.search(text) is not None


def _read(statements: Sequence[Statement], index: int, quote: str, document: Document) -> _Found | None:
    statement = statements[index]
    text = _QUOTED.sub("", _after_label(quote))
    if len(quote) > _LONGEST or _IS_CONDITION.search(text):
        return None
    told = advised(text)
    if told is None:
        return None
    if told.advice != "approval" or not _GOES_ON.search(text):
        return _Found(told, statement, statement.end, quote)
    return _with_items(_Found(told, statement, statement.end, quote), statements[index + 1 :][:_MOST_ITEMS], document)


def _with_items(found: _Found, following: Sequence[Statement], document: Document) -> _Found:
    """Return an approval "subject to:" with the items below it, on the same page, that ask for conditions or an agreement."""
    told, end = found.advised, found.end
    for one in following:
        text = collapse(one.text)
        if _MARK_ALONE.fullmatch(text):
            continue
        conditions, agreement = depends_on(text)
        is_item = (conditions or agreement) and one.page == found.statement.page and not _IS_CONDITION.search(text)
        if not is_item or (told.conditions and told.agreement):
            break
        told = Advised("approval", told.conditions or conditions, told.agreement or agreement)
        end = one.end
    rest = collapse(document.text[found.end : end]).strip("* ")
    return _Found(told, found.statement, end, f"{found.quote} {rest}".rstrip())


def _told(document: Document, found: _Found) -> OfficersRecommendation:
    statement, day = found.statement, committee_day(document)
    citation = Citation(
        passage_id=f"{document.id}:{statement.start}-{found.end}",
        document_id=document.id,
        document=document.name,
        pages=() if statement.page is None else (statement.page,),
        quote=found.quote,
        speaks="noted",
        speaker="officer",
    )
    return OfficersRecommendation(
        advice=found.advised.advice,
        conditions=found.advised.conditions,
        agreement=found.advised.agreement,
        citation=citation,
        committee=day.isoformat() if day else "",
    )
