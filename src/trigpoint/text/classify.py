"""The kind of a planning document: by its file's name first, then by its words, always matched whole.

The table of the contract, and the spellings, joints and abbreviations that real registers add to it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from trigpoint.text.images import plain_name
from trigpoint.text.letters import letter_writer

Confidence = Literal["high", "medium", "low"]

DocumentType = Literal[
    "transport_assessment",
    "design_access_statement",
    "site_plan",
    "floor_plan",
    "elevation",
    "planning_statement",
    "environmental_statement",
    "noise_assessment",
    "flood_risk_assessment",
    "ecology_report",
    "heritage_statement",
    "arboricultural_report",
    "other",
]
OTHER = "other"

_TITLE_CHARS = 1_500
_CONTENT_CHARS = 60_000
_DRAWING_CHARS = 3_000
_MIN_MENTIONS = 5
_MIN_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class Classification:
    """A document type of the contract, and how it was found: by name (high), by content (medium), not at all (low)."""

    document_type: str
    confidence: Confidence


_REPORT = r"(?:assessments?|reports?|surveys?|statements?|appraisals?|stud(?:y|ies)|technical notes?)"
_ORDINAL = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|[0-9]+ ?(?:st|nd|rd|th)"
_STOREY = rf"(?:ground|basement|mezzanine|loft|attic|mansard|{_ORDINAL})"
_COUNT = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|[0-9]+)"

# A name is words in lower case with single spaces (`plain_name`). The first line that matches wins: a topic before the
# statement that it is a chapter of, a report before a drawing, and of drawings the one that shows most.
_BY_NAME = (
    (
        "flood_risk_assessment",
        (
            "flood ?risk(?: ?assessments?)?",
            "fra",
            f"drainage (?:strategy|{_REPORT})",
            f"suds (?:strategy|{_REPORT})",
            "flood map",
        ),
    ),
    (
        "transport_assessment",
        (
            f"transport {_REPORT}",
            "travel ?plan",
            f"traffic (?:impact|{_REPORT})",
            f"highways? {_REPORT}",
            "parking survey",
            "transport (?:and highways? )?(?:addendum|(?:technical )?note)",
            "(?:es|information) transport",
        ),
    ),
    (
        "noise_assessment",
        (f"(?:noise|vibration)(?: and vibration| impact)* {_REPORT}", "noise and vibration", "acoustics?"),
    ),
    (
        "ecology_report",
        (
            f"ecolog(?:y|ical)(?: impact)? {_REPORT}",
            "es ecology",
            f"(?:bat|bird|badger|newt|reptile|habitat|protected species)s? {_REPORT}",
            "biodiversity",
            "habitat survey",
        ),
    ),
    (
        "arboricultural_report",
        ("ar?boricultur(?:al|e|ist)", f"trees? (?:condition )?(?:{_REPORT}|schedule|protection|con(?:s)?traints?)"),
    ),
    (
        "design_access_statement",
        (
            "design(?: and| &)? access",
            "design access and heritage",
            "d ?(?:&|and) ?a (?:statement|s)",
            "das(?! schedule)",
        ),
    ),
    (
        "heritage_statement",
        (f"heritage(?: impact| and townscape)? {_REPORT}", "archa?eo?log(?:y|ical)", "built heritage"),
    ),
    (
        "planning_statement",
        ("planning statement", "supporting (?:planning )?statement", "planning supporting statement"),
    ),
    (
        "environmental_statement",
        ("environmental(?: impact)? statement", "environmental impact assessment", "eia", "scoping (?:opinion|report)"),
    ),
    ("design_access_statement", ("p?d ?& ?a",)),
    (
        "floor_plan",
        (
            "floor ?plans?",
            "foorplans?",
            f"{_STOREY} floor",
            f"{_STOREY}(?: floor)? (?:level )?plans?",
            "floor and roof plans?",
            "lgf",
            f"floors {_COUNT}(?: (?:and|to) {_COUNT})? plans?",
            f"level {_COUNT}(?: (?:&|and) {_COUNT})? plans?",
        ),
    ),
    ("elevation", ("elevations?", "elev", "eleavtions?", "street ?scenes?")),
    (
        "site_plan",
        (
            "(?:site|location|block|layout) ?plans?",
            "site ?location",
            "location map",
            "site boundary",
            "red line (?:boundary|plan)",
        ),
    ),
    ("environmental_statement", (r"^es(?! .*\b(?:plans?|masterplan|sections?|stud(?:y|ies)))",)),
)

_LETTERS = r"responses?|comments?|objections?|representations?|consult\w*|letters?|memo(?:randum)?|emails?"
_NAMES_A_LETTER = re.compile(rf"\b(?:{_LETTERS}|committee|officers?)\b")

_ADDENDUM = re.compile(r"\baddend(?:um|a)\b")

# A storey is named in these too, but they show planting, uses or parameters, not rooms.
_NO_FLOOR_PLAN = re.compile(r"\b(?:planting|materiality|landscap\w*|parameter plan|masterplan)\b")

_TITLES = (
    ("transport_assessment", ("transport (?:assessment|statement)", "travel plan", "traffic impact")),
    ("design_access_statement", ("design (?:and|&) access statement",)),
    ("planning_statement", ("planning statement", "supporting statement")),
    ("environmental_statement", ("environmental (?:impact )?statement", "environmental impact assessment")),
    ("noise_assessment", ("noise (?:impact )?(?:assessment|report|survey)", "acoustic (?:report|assessment)")),
    ("flood_risk_assessment", ("flood risk assessment", "drainage strategy")),
    ("ecology_report", ("ecology (?:report|survey)", "ecological (?:impact )?(?:appraisal|assessment)", "bat survey")),
    (
        "heritage_statement",
        ("heritage (?:statement|assessment)", "archaeological (?:desk based )?(?:assessment|evaluation)"),
    ),
    ("arboricultural_report", ("arboricultural (?:impact )?(?:report|survey|assessment)", "tree survey")),
)

_DRAWINGS = (
    ("floor_plan", ("floor plans?",)),
    ("elevation", ("elevations?", "street scene")),
    ("site_plan", ("(?:site|location|block|layout) plan",)),
)

_TOPICS = (
    (
        "transport_assessment",
        (
            "trip generation",
            "trip rates",
            "junction capacity",
            "modal split",
            "highway network",
            "trics",
            "travel plan",
            "vehicle trips",
        ),
    ),
    (
        "design_access_statement",
        ("design principles", "design rationale", "design concept", "massing", "inclusive access", "materials palette"),
    ),
    (
        "planning_statement",
        (
            "planning policy context",
            "planning balance",
            "material considerations",
            "development plan policies",
            "planning history",
        ),
    ),
    (
        "environmental_statement",
        (
            "likely significant effects",
            "residual effects",
            "cumulative effects",
            "eia regulations",
            "non technical summary",
        ),
    ),
    (
        "noise_assessment",
        ("noise levels?", "db la?eq", "sound level", "acoustic", "noise sensitive", "bs 8233", "bs 4142"),
    ),
    (
        "flood_risk_assessment",
        ("flood zone", "flood risk", "surface water", "attenuation", "sequential test", "suds", "runoff"),
    ),
    (
        "ecology_report",
        ("habitats?", "protected species", "bats?", "biodiversity", "great crested newts?", "badgers?", "ecological"),
    ),
    (
        "heritage_statement",
        ("listed building", "conservation area", "heritage assets?", "significance of", "archaeological"),
    ),
    (
        "arboricultural_report",
        (
            "root protection areas?",
            "bs 5837",
            "tree protection",
            "crown spread",
            "category [abcu] trees?",
            "arboricultural",
        ),
    ),
)


def _compiled(table: tuple[tuple[str, tuple[str, ...]], ...]) -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(rf"(?<![a-z0-9])(?:{'|'.join(phrases)})(?![a-z0-9])")) for kind, phrases in table]


_NAMES = _compiled(_BY_NAME)
_TITLE_WORDS, _DRAWING_WORDS, _TOPIC_WORDS = _compiled(_TITLES), _compiled(_DRAWINGS), _compiled(_TOPICS)


class DocumentClassifier:
    """Stateless; `classify` never fails, it falls back to `other`."""

    def classify(self, filename: str, text: str = "") -> Classification:
        """Return the type by the file's name (high), else by its text (medium), else `other` (low).

        A letter about a report is not a report: responses, objections and officers' reports are `other`.
        """
        kind = _by_name(filename)
        if (kind is None or _NAMES_A_LETTER.search(plain_name(filename))) and letter_writer(text) is not None:
            return Classification(OTHER, "medium")
        if kind is not None:
            return Classification(kind, "high")
        if _ADDENDUM.search(plain_name(filename)):
            return _addendum(text)
        if (kind := _by_content(text)) is not None:
            return Classification(kind, "medium")
        return Classification(OTHER, "low")


def _addendum(text: str) -> Classification:
    """Return the type of the document that an addendum adds to, if its own title names one; it may mention others."""
    title = _plain_title(next((line for line in text.splitlines() if line.strip(" #*")), ""))
    kinds = {kind for kind, pattern in _TITLE_WORDS if pattern.search(title)}
    return Classification(kinds.pop(), "medium") if len(kinds) == 1 else Classification(OTHER, "low")


def _by_name(filename: str) -> str | None:
    name = plain_name(filename)
    for kind, pattern in _NAMES:
        if pattern.search(name) and not (kind == "floor_plan" and _NO_FLOOR_PLAN.search(name)):
            return kind
    return None


def _by_content(text: str) -> str | None:
    """Return the type by a title on the first page, by a drawing's title block, or by the topic of most keywords."""
    words = _plain_title(text[:_CONTENT_CHARS])
    titles = {kind for kind, pattern in _TITLE_WORDS if pattern.search(words[:_TITLE_CHARS])}
    if len(titles) == 1:
        return titles.pop()
    if not titles and len(words) < _DRAWING_CHARS:
        drawn = next((kind for kind, pattern in _DRAWING_WORDS if pattern.search(words)), None)
        if drawn is not None:
            return drawn
    mentions = Counter({kind: len(pattern.findall(words)) for kind, pattern in _TOPIC_WORDS})
    kind, most = mentions.most_common(1)[0]
    return kind if most >= _MIN_MENTIONS and most >= _MIN_SHARE * mentions.total() else None


def _plain_title(text: str) -> str:
    return re.sub(r"[^a-z0-9&]+", " ", text.lower())
