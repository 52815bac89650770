"""Recognises, by its first page, a text that is somebody's letter on an application rather than part of it."""

from __future__ import annotations

import re
from typing import Literal

LetterWriter = Literal["consultee", "public", "council"]

_TITLE = 160  # characters: what a document calls itself
_LETTERHEAD = 60  # characters: whose paper it is
_HEAD = 500  # characters: the letterhead, or the title of a report
_FIRST_PAGE = 2_000
_LONGEST_LETTER = 40_000  # characters


def _any_phrase(*phrases: str) -> re.Pattern[str]:
    """Return a pattern for any of these phrases, in whole words of a text that is lower-case and without punctuation."""
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(phrases)})(?![a-z0-9])")


_COMMITTEE = _any_phrase(
    "committee report",
    "officers? report",
    "delegated report",
    "report (?:of|by) the (?:head|director|assistant|chief|service)",
    r"planning (?:and \w+ )?committee",
    "committee date",
    "case officer",
)
_OFFICERS = _any_phrase(
    "(?:planning |case )?officers? (?:s )?(?:site visit )?(?:note|update|assessment|addendum)s?",
    "note to (?:the )?file",
    "file note",
    "site visit note",
    "update (?:to|for) (?:the )?(?:members|committee)",
    "update sheet",
    "late (?:items?|list|representations)",
    "minutes of",
    "(?:notice of|decision) (?:decision|notice)",
    "(?:grant|refusal) of planning permission",
    "(?<!request for a )(?<!request for an eia )(?:screening|scoping) opinion",
    "pre application advice",
)
_CITIZENS = _any_phrase(
    "(?:parish|town|community) council",
    "campaign",
    "(?:residents|neighbours|tenants) association",
    "civic society",
    "amenity society",
    "neighbourhood forum",
    "cycling uk",
    "ramblers",
    "comments for planning application",
    "comment type",
    "public comments?",
    "neighbour comments?",
)
_GROUPS = _any_phrase(
    "(?:parish|town|community) council",
    "forum",
    "campaign",
    "society",
    "(?<!housing )association",
    "(?:cycling|cycle|walking|access|action|bicycle) (?:group|club|network|alliance|users)",
)
_FROM_PEOPLE = _any_phrase(
    "(?:public|neighbours?|residents?) comments?",
    "comments? from (?:a |the )?(?:members? of the public|public|neighbours?|residents?)",
)
_PLANNERS = _any_phrase(
    "(?:district|borough|city|metropolitan) council (?:development (?:management|control)|planning|regeneration)"
)
_BODIES = _any_phrase(
    "county council",
    "highways? authority",
    "highways? (?:and|development|department|team|england)",
    "active travel england",
    "national highways",
    "environment agency",
    "natural england",
    "historic england",
    "sport england",
    "transport for london",
    "network rail",
    "police",
    "constabulary",
    "lead local flood",
    "(?:thames|anglian|severn trent|wessex|southern) water",
    "internal drainage board",
    "environmental (?:health|protection)",
    r"\w+ officer",
)
_TO_OFFICER = _any_phrase(
    r"to (?:the )?(?:case officer|planning officer|planning|development (?:management|control))\b[a-z0-9 ]{0,80}? from",
    "from [a-z0-9 ]{3,80}? to (?:the )?(?:planning )?(?:case |planning )officer",
    "note to (?:the )?case officer",
)
_THANKING = "(?:thank ?you for|(?:refer|further|reply|response) to) (?:consulting|your consultation|the consultation)"
_THANKS = _any_phrase(_THANKING)
_ANSWER = _any_phrase(
    "(?:consultation|planning|substantive|consultee|formal) response",
    "response to (?:a |the )?(?:planning )?consultation",
    _THANKING,
    "formal recommendation",
    "consultee comments?",
    "comments? on (?:the |this )?(?:planning )?application",
    "no objections?",
    "raises? (?:an )?objection",
    "wish(?:es)? to object",
    "(?:resolved|writing|decided) to object",
    "response objection",
    "recommends? (?:refusal|approval|that|the following)",
)
_OBJECTION = _any_phrase(
    "objections?",
    "comment type",
    "(?:i|we|council|members|society|campaign|group|forum|association) (?:(?:do|does|not|must|strongly|formally|however|nonetheless|therefore|also|still) ){0,3}(?:objects?|supports?)",
)
_GREETING = _any_phrase(
    "dear (?:sir|madam|mr|mrs|ms|miss|mx|dr|cllr|councillor|planning|case|colleagues?|all|[a-z]+ [a-z]+)"
)
_MAIL = _any_phrase("to planning (?:comments?|department|services|team|support) (?:sent|subject|date|cc)")
_LOCAL_COUNCIL = _any_phrase("(?:parish|town|community) council")
_HEADER = _any_phrase(
    "(?:your|our) ref",
    "memorandum",
    "to [a-z ]{3,60} council",
    "date of meeting",
)
_OF_APPLICANT = _any_phrase(
    "technical note",
    "statement of community involvement",
    "applicants? (?:s )?response",
    "designers? (?:s )?response",
)
_RECOMMENDS = _any_phrase("recommendation", "recommended", "item number")
_PREPARED = _any_phrase("prepared (?:by|for)")
_FOR_APPLICANT = _any_phrase(
    "our clients?",
    "on behalf of (?:the applicants?|our|my)",
    "we are pleased to submit",
    "please find enclosed",
)


def is_applicants_paper(text: str) -> bool:
    """Return whether the first page says that it was made for the applicant: who prepared it, or on whose behalf."""
    page = _first_page_words(text)
    head, title = page[:_HEAD], page[:_TITLE]
    prepared = _PREPARED.search(head) and not _BODIES.search(title)
    if _FOR_APPLICANT.search(page):
        return True
    return bool(prepared or _OF_APPLICANT.search(head)) and not _CITIZENS.search(head)


def _first_page_words(text: str) -> str:
    return re.sub(r"[^a-z0-9&]+", " ", text[: _FIRST_PAGE * 2].lower())[:_FIRST_PAGE]


def letter_writer(text: str) -> LetterWriter | None:
    """Return who wrote a letter or report on an application; None for the applicant's documents and in doubt."""
    page = _first_page_words(text)
    head = page[:_HEAD]
    answers, greets = _ANSWER.search(page), _GREETING.search(page) or _MAIL.search(page)
    if _COMMITTEE.search(head) and _RECOMMENDS.search(page) and not greets:
        return "council"
    if is_applicants_paper(text) or len(text) > _LONGEST_LETTER:
        return None
    if _FROM_PEOPLE.search(head[:_TITLE]) or (_LOCAL_COUNCIL.search(head[:_LETTERHEAD]) and _OBJECTION.search(page)):
        return "public"
    first_line = _first_page_words(text.strip().partition("\n")[0])
    if _GROUPS.search(first_line[:_LETTERHEAD]) and (greets or _HEADER.search(head)):
        return "public"
    if _OFFICERS.search(head[:_TITLE]) or (greets and _PLANNERS.search(head[:_TITLE])):
        return "council"
    if _TO_OFFICER.search(head):
        return "consultee"
    if _CITIZENS.search(head) and (answers or greets or _OBJECTION.search(page)):
        return "public"
    if _BODIES.search(head) and answers and (greets or _HEADER.search(page) or _ANSWER.search(head)):
        return "consultee"
    if _THANKS.search(page) and (greets or _HEADER.search(page)):
        return "consultee"
    return "public" if greets and _OBJECTION.search(page) else None
