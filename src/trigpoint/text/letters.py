"""Whether a text is somebody's letter on an application rather than part of it: told by its first page."""

from __future__ import annotations

import re
from typing import Literal

Writer = Literal["consultee", "public", "council"]

TITLE = 160  # characters: what a document calls itself
LETTERHEAD = 60  # characters: whose paper it is
HEAD = 500  # characters: the letterhead, or the title of a report
FIRST_PAGE = 2_000
LONGEST_LETTER = 40_000  # characters

_COMMITTEE = r"committee report|officers? report|delegated report|report (?:of|by) the (?:head|director|assistant|chief|service)|planning (?:and \w+ )?committee|committee date|case officer"
_OFFICERS = (
    r"(?:planning |case )?officers? (?:s )?(?:site visit )?(?:note|update|assessment|addendum)s?|note to (?:the )?file|file note|"
    r"site visit note|update (?:to|for) (?:the )?(?:members|committee)|update sheet|late (?:items?|list|representations)|"
    r"minutes of|(?:notice of|decision) (?:decision|notice)|(?:grant|refusal) of planning permission|"
    r"(?<!request for a )(?<!request for an eia )(?:screening|scoping) opinion|pre application advice"
)
_CITIZENS = (
    r"(?:parish|town|community) council|campaign|(?:residents|neighbours|tenants) association|civic society|"
    r"amenity society|neighbourhood forum|cycling uk|ramblers|comments for planning application|comment type|"
    r"public comments?|neighbour comments?"
)
_FROM_PEOPLE = r"(?:public|neighbours?|residents?) comments?|comments? from (?:a |the )?(?:members? of the public|public|neighbours?|residents?)"
_PLANNERS = (
    r"(?:district|borough|city|metropolitan) council (?:development (?:management|control)|planning|regeneration)"
)
_BODIES = (
    r"county council|highways? authority|highways? (?:and|development|department|team|england)|active travel england|"
    r"national highways|environment agency|natural england|historic england|sport england|transport for london|"
    r"network rail|police|constabulary|lead local flood|(?:thames|anglian|severn trent|wessex|southern) water|"
    r"internal drainage board|environmental (?:health|protection)|\w+ officer"
)
_TO_OFFICER = (
    r"to (?:the )?(?:case officer|planning officer|planning|development (?:management|control))\b[a-z0-9 ]{0,80}? from|"
    r"from [a-z0-9 ]{3,80}? to (?:the )?(?:planning )?(?:case |planning )officer|note to (?:the )?case officer"
)
_THANKS = r"(?:thank ?you for|(?:refer|further|reply|response) to) (?:consulting|your consultation|the consultation)"
_ANSWER = (
    r"(?:consultation|planning|substantive|consultee|formal) response|response to (?:a |the )?(?:planning )?consultation|"
    rf"{_THANKS}|formal recommendation|consultee comments?|comments? on (?:the |this )?(?:planning )?application|"
    r"no objections?|raises? (?:an )?objection|wish(?:es)? to object|(?:resolved|writing|decided) to object|"
    r"response objection|recommends? (?:refusal|approval|that|the following)"
)
_OBJECTION = (
    r"objections?|comment type|(?:i|we|council|members|society|campaign|group|forum|association) "
    r"(?:(?:do|does|not|must|strongly|formally|however|nonetheless|therefore|also|still) ){0,3}(?:objects?|supports?)"
)
_GREETING = r"dear (?:sir|madam|mr|mrs|ms|miss|mx|dr|cllr|councillor|planning|case|colleagues?|all|[a-z]+ [a-z]+)"
_MAIL = r"to planning (?:comments?|department|services|team|support) (?:sent|subject|date|cc)"
_LOCAL_COUNCIL = r"(?:parish|town|community) council"
_HEADER = r"(?:your|our) ref|memorandum|to [a-z ]{3,60} council|date of meeting"
_OF_APPLICANT = (
    r"technical note|statement of community involvement|applicants? (?:s )?response|designers? (?:s )?response"
)
_PREPARED = r"prepared (?:by|for)"
_FOR_APPLICANT = r"our clients?|on behalf of (?:the applicants?|our|my)|we are pleased to submit|please find enclosed"


def _has(pattern: str, text: str) -> bool:
    return re.search(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", text) is not None


def is_applicants_paper(text: str) -> bool:
    """Return whether the first page says that it was made for the applicant: who prepared it, or on whose behalf."""
    page = _first_page_words(text)
    head, title = page[:HEAD], page[:TITLE]
    prepared = _has(_PREPARED, head) and not _has(_BODIES, title)
    return _has(_FOR_APPLICANT, page) or ((prepared or _has(_OF_APPLICANT, head)) and not _has(_CITIZENS, head))


def _first_page_words(text: str) -> str:
    return re.sub(r"[^a-z0-9&]+", " ", text[: FIRST_PAGE * 2].lower())[:FIRST_PAGE]


def letter_writer(text: str) -> Writer | None:
    """Return who wrote a letter or report on an application; None for the applicant's documents and in doubt."""
    page = _first_page_words(text)
    head = page[:HEAD]
    answers, greets = _has(_ANSWER, page), _has(f"{_GREETING}|{_MAIL}", page)
    if _has(_COMMITTEE, head) and _has("recommendation|recommended|item number", page) and not greets:
        return "council"
    if is_applicants_paper(text) or len(text) > LONGEST_LETTER:
        return None
    if _has(_FROM_PEOPLE, head[:TITLE]) or (_has(_LOCAL_COUNCIL, head[:LETTERHEAD]) and _has(_OBJECTION, page)):
        return "public"
    if _has(_OFFICERS, head[:TITLE]) or (greets and _has(_PLANNERS, head[:TITLE])):
        return "council"
    if _has(_TO_OFFICER, head):
        return "consultee"
    if _has(_CITIZENS, head) and (answers or greets or _has(_OBJECTION, page)):
        return "public"
    if _has(_BODIES, head) and answers and (greets or _has(_HEADER, page) or _has(_ANSWER, head)):
        return "consultee"
    if _has(_THANKS, page) and (greets or _has(_HEADER, page)):
        return "consultee"
    return "public" if greets and _has(_OBJECTION, page) else None
