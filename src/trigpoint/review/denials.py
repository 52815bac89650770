"""Whether a sentence says that a thing is so, or that it is not: "no … is proposed", "… is not included in the layout",
"… was considered and has been discounted". Who only asks for it, or says both, says neither.
"""

from __future__ import annotations

import re

_NOT = r"(?:no|not|without|nor|neither|never|cannot|none|zero(?!-)|\w+n['’]t)"
_OWN = re.compile(rf"\b{_NOT}\b", re.IGNORECASE)
_HARMLESS = re.compile(  # comparisons, and words that only look like a denial
    r"\b(?:no|not)\s+(?:\w+er|less|more)\s+than\b|\bnot\s+(?:only|just|merely|least)\b|\bno(?:\.|\s+(?:doubt|objections?)\b)"
    r"|\b(?:not\s+object|instead(?! of))\b",
    re.IGNORECASE,
)
_REFUSING = re.compile(
    rf"\b(?:{_NOT}|object(?:s|ed|ing|ions?)? to|oppos\w+|declin(?:es?|ed|ing)|refus\w+|reject\w+|resist\w+|discount\w+|rul(?:es?|ed|ing) out"
    r"|omit\w*|omission of|delet\w+|exclu\w+|withdr[ae]w\w*|dismiss\w+|lack(?:s|ed|ing)?|absence of|fail(?:s|ed|ing)? to|failure to|unable to"
    r"|instead of|rather than|in place of|in lieu of|disagree\w*|insufficient)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:ask(?:s|ed|ing)? (?:for|that|the)|request(?:s|ed|ing)?|call(?:s|ed|ing)? for|want(?:s|ed)?|demand\w*|press(?:es|ed) for|sought|suggest\w*"
    r"|prefer\w*|recommend\w*|consideration (?:has been|was|is|will be) given to|explored|investigated|looked at|would have|removal of|remov(?:es?|ed|ing)|loss of)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[.;](?:\s|$)|\b(?:but|however|although|though|while|whilst|whereas|yet|nevertheless|therefore|so|because|since|unless|until)\b",
    re.IGNORECASE,
)
_VERB = (
    r"(?:is|are|was|were|will|would|shall|should|has|have|had|can|cannot|could|may|might|must|do|does|did|provides?|proposes?|includes?"
    r"|offers?|runs?|leads?|continues?|connects?|meets?|gives?|allows?|shows?)"
)
_LOOSE = re.compile(
    rf":|\b(?:whether|if|where|when|which|who)\b|\band\s+(?:an?|the|there|it|this|these|{_VERB})\b", re.IGNORECASE
)

_ASIDE = re.compile(r"\([^()]*\)|,\s+(?:which|who|where|as|that)\b[^,;]*(?:,|$)", re.IGNORECASE)
_HAS_VERB = re.compile(rf"\b{_VERB}\b", re.IGNORECASE)
_GOES_ON = (
    r"(?:(?:\w+ly|now|then|also|later|since|still|thus|hence|therefore|this|it|these|they|which)\s+)*"
    rf"(?:{_VERB}|not|never|been|be|being|found|\w+ed|withdrawn)\b"
)
_NEW_SUBJECT = re.compile(
    rf"(?:,(?!\s+(?:and|but|or|yet)\b)|\b(?:and|but|or|yet|while|whilst|whereas|although|though|because|since|so|where|unless|as|with))\s+(?!{_GOES_ON})",
    re.IGNORECASE,
)
_DONE = (
    "provided|proposed|included|offered|appointed|planned|intended|shown|made|built|constructed|delivered|installed|required|needed|necessary"
    "|feasible|possible|practicable|practical|achievable|achieved|viable|deliverable|affordable|justified|warranted|secured|funded|agreed"
    "|supported|assessed|forecast|modelled|estimated|counted|prepared|submitted|produced|undertaken|carried out|conducted|completed|audited"
    "|adopted|available|appropriate|suitable|present|accepted|acceptable|pursued|progressed|taken forward|envisaged|anticipated|accommodated"
    "|retained|implemented|created|laid out|marked|set up|set out|allocated|employed|given|met|open|opened|exist|continued?|safeguarded|in place"
    "|in post|part of|form part|come forward|designed"
)
_NOT_DONE = re.compile(
    r"(?:\b(?:not|never|cannot|no longer)|n['’]t)\s+(?:(?:be|been|being|to|yet|now|currently|therefore|also|considered|deemed|thought|felt|judged|a|\w+ly)\s+)*"
    rf"(?:{_DONE})\b(?!\s+(?:until|before|unless)\b)|^[\s:–-]*(?:none|nil|no|not)\s*\.?$",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:discounted|rejected|declined|ruled out|refused|dropped(?! kerb)|abandoned|omitted|deleted|excluded|dismissed|disregarded|withdrawn|shelved"
    r"|scrapped|cancelled|resisted|opposed|turned down|objected to|unfeasible|infeasible|impracticable|impractical|unviable|unachievable"
    r"|undeliverable|unnecessary|unaffordable|unjustified|impossible)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:was|were|is|are|(?:has|have|had) been) (?:requested|asked for|called for|sought|suggested|recommended|explored|investigated|looked at"
    r"|considered(?! (?:acceptable|appropriate|necessary|suitable|to\b)))\b"
    r"|\bwould (?:have|be (?:desirable|welcome|beneficial|preferable|ideal))\b|\bnot\b[^.;]{0,40}\b(?:until|before|unless)\b"
    r"|\b(?:removed|closed|severed|lost|stopped up|blocked)\b",
    re.IGNORECASE,
)
_AFFIRMED = re.compile(rf"\b(?:{_DONE})\b", re.IGNORECASE)
_BUT_NOT = re.compile(
    r"\bbut (?:(?:the )?(?:applicant|developer|scheme|proposals?|application)|they|we|it)\b[^.;]*\b(?:declin\w+|refus\w+|unable|cannot|(?:not|n['’]t) (?:offer|provide|propose|agree|intend|accept|include|support)\w*)\b",
    re.IGNORECASE,
)


def is_said(text: str, start: int, end: int) -> bool | None:
    """True where the sentence says what stands at start:end, False where it denies it, None where it does neither or both."""
    before = True if _OWN.search(text, start, end) else _said_before(text[:start])
    after = _said_after(text[:start], text[end:])
    if before is None or after is None:
        return None
    return None if not (before or after) else before and after


def _said_before(before: str) -> bool | None:
    """What the words up to the thing make of it: "no …", "the applicant declines to provide …"."""
    plain = _HARMLESS.sub(lambda match: " " * len(match[0]), before)
    asked = [_governs(plain[match.end() :]) for match in _ASKING.finditer(plain)]
    refused = [_governs(plain[match.end() :]) for match in _REFUSING.finditer(plain)]
    if None in refused or any(reach is not False for reach in asked) or refused.count(True) > 1:
        return None
    return True not in refused


def _governs(gap: str) -> bool | None:
    """Whether a denial reaches over the words that follow it: not into the next clause, but along "no X, Y or Z"."""
    if _BREAK.search(gap):
        return False
    _, comma, last = gap.rpartition(",")
    if comma and not re.search(r"\b(?:or|nor)\b", last, re.IGNORECASE):
        return False
    return None if _LOOSE.search(gap) else True


def _said_after(before: str, after: str) -> bool | None:
    """What the rest of the clause makes of it: "… is not included", "… was requested but is not offered"."""
    stop = re.search(r"[.;](?:\s|$)", after)
    rest = _HARMLESS.sub(" ", _ASIDE.sub(" ", after[: stop.start()] if stop else after))
    clause = _clause(re.split(r"[.;:,]\s", before)[-1], rest)
    if _NOT_DONE.search(clause) or _REFUSED.search(clause):
        return False
    opened = _OPEN.search(clause)
    if opened and not _AFFIRMED.search(clause, opened.end()):
        return None
    return None if _BUT_NOT.search(rest) else True


def _clause(before: str, rest: str) -> str:
    """The rest up to where another subject begins, once the clause has its verb."""
    for match in _NEW_SUBJECT.finditer(rest):
        if _HAS_VERB.search(before) or _HAS_VERB.search(rest, 0, match.start()):
            return rest[: match.start()]
    return rest
