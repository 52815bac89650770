"""The status of a statement: a trained reader weighs its words, its place and the signals of its grammar.

Each signal is one observation that a careful reader would make. A status is certain only if the trained reader is sure
and no strong signal points to another: a sentence that is both "proposed" and "subject to" something is quoted, not
judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trigpoint.reading.context import Context
from trigpoint.reading.features import Features, status_features
from trigpoint.reading.readers import Readers, shipped_readers
from trigpoint.reading.vocabulary import Status

_STRONG = 5.0  # weight of a signal that opposes another status
_SURE_FROM = 0.9  # the share of all chances that a certain status has; at 0.85, 4 in 100 were falsely provision
_SOONER_SURE: dict[Status, float] = {"policy": 0.75, "deferred": 0.75}  # as often right
_SURE = 0.95
_UNSURE_AT_MOST = 0.85  # what a status can reach without being certain
_HESITATIONS = (
    "denial",
    "historic",
    "intended",
    "impact",
    "aims",
    "already",
    "opinion",
    "was",
    "contrast",
    "requirement",
    "policy",
)
_SHORTEST = 5  # tokens of a statement that can say something by itself
_LONGEST_CERTAIN = 60  # tokens: a longer sentence says more than one thing
_OTHERS = ("policy", "consultees", "objectors", "history", "others", "engagement", "forecast")

_OF_THE_SCHEME = ("future", "proposes", "scheme")
_SUPPOSITIONS = (
    "should ",
    "were ",
    "once ",
    "when ",
    "in the event",
    "if ",
    "where ",
    "provided ",
    "unless ",
    "until ",
)
Test = Callable[[Context], bool]


@dataclass(frozen=True)
class Signal:
    """An observation, the status that it points to, and its weight."""

    status: Status
    weight: float
    why: str
    test: Test


@dataclass(frozen=True)
class JudgedStatus:
    """A status, how sure it is (0 to 1), and why."""

    status: Status
    certainty: float
    because: tuple[str, ...]


def _policy_speaks(context: Context) -> bool:
    """Return whether a policy is the subject of a sentence that requires: "Policy T5 requires …"."""
    requires = context.follows("policy", "policy_verb", 14) or context.follows("policy", "must", 14)
    first = context.first("policy")
    return (
        context.subject_is("policy")
        and requires
        and first < min(context.first("scheme"), context.first("complies"), context.first("opinion"))
    )


def _policy_list(context: Context) -> bool:
    return context.led("policy") and context.led("policy_verb", "must") and not context.led("scheme", "complies")


def _policy_title(context: Context) -> bool:
    return context.first("policy") <= 1 and context.section == "policy" and not context.has("present", "future", "past")


def _exists_on_site(context: Context) -> bool:
    return (
        context.section == "existing"
        and context.has("present", "located", "existing")
        and not context.has("future", "proposes", "own")
    )


def _plainly_exists_on_site(context: Context) -> bool:
    """Return whether it describes the site, and nobody argues, supposes or reports."""
    argued = context.genre == "appeal decision" or context.has(
        "may", "if", "opinion", "reports", "complies", "reporter", "must"
    )
    return _exists_on_site(context) and not argued


def _exists(context: Context) -> bool:
    return (
        context.section != "proposal"
        and context.has("existing", "located")
        and context.has("present")
        and not context.has(*_OF_THE_SCHEME)
    )


def _no_provision(context: Context) -> bool:
    """Return whether it says that nothing is provided: "No cycle parking is proposed for visitors"."""
    offered = context.has("proposes") or (context.section != "existing" and context.follows("present", "provides", 2))
    return context.statement.text.lower().startswith(("no ", "neither ")) and offered and not context.has("change")


def _scheme_provides(context: Context) -> bool:
    """Return whether the scheme is the subject of a verb of provision: "The development will provide …"."""
    own = context.scheme_is_subject and not context.names_another_scheme
    return own and context.follows("scheme", "provides", 6) and not context.follows("scheme", "may", 3)


def _will_be_provided(context: Context) -> bool:
    return context.follows("future", "provides", 3)


def _in_proposal(context: Context) -> bool:
    """Return whether it is a sentence under a heading on the proposal, or a bullet of what is provided.

    A label has no verb to go by.
    """
    has_verb = context.has("present", "future", "proposes", "redesigned") or (
        context.statement.kind == "bullet" and context.led("provides")
    )
    return (
        context.section == "proposal"
        and has_verb
        and context.statement.kind in ("sentence", "bullet")
        and len(context.tokens) > _SHORTEST
    )


def _is_provided(context: Context) -> bool:
    """Return whether the applicant describes the proposal in the present: "cycle parking is provided"."""
    return (
        context.speaker == "applicant" and context.section != "existing" and context.follows("present", "provides", 2)
    )


def _only_complies(context: Context) -> bool:
    return context.has("complies") and not context.has("provides", "proposes", "must") and not _policy_speaks(context)


def _hedged(context: Context) -> bool:
    """Return whether it has a condition: "subject to", "where feasible"; not "subject to a speed limit"."""
    return context.has("where_hedge") and not context.has("limit")


def _supposes(context: Context) -> bool:
    """Return whether the sentence begins with a supposition: "Should the target be missed, …"."""
    return context.statement.text.lower().startswith(_SUPPOSITIONS)


def _in_condition(context: Context) -> bool:
    return context.section == "conditions"


def _details_of_a_condition(context: Context) -> bool:
    return _in_condition(context) and (context.led("approval") or context.was_said("approval"))


def _is_at_a_distance(context: Context) -> bool:
    """Return whether something lies a walk away, in the present tense: a statement about what is there."""
    return context.has("distance") and context.has("present") and not context.has("future", "must", "policy")


def _pays(context: Context) -> bool:
    return "£" in context.statement.text and context.speaker != "consultee"


def _own_document_says(context: Context) -> bool:
    return context.has("accompanied") or (
        context.subject_is("own_document") and context.follows("own_document", "contains", 4)
    )


def _asks(context: Context) -> bool:
    return context.speaker == "consultee" and context.has("asks") and not context.has("denial")


def _objects(context: Context) -> bool:
    return context.speaker == "objector"


def _predicts_effect(context: Context) -> bool:
    return context.has("impact") and context.has("future")


SIGNALS: tuple[Signal, ...] = (
    Signal("policy", 7, "a policy is the subject", _policy_speaks),
    Signal("policy", 6, "the list is introduced by a policy", _policy_list),
    Signal("policy", 5, "a policy's title", _policy_title),
    Signal("policy", 3, "under a heading on policy", lambda c: c.section == "policy"),
    Signal("policy", 2, "it names a policy and says must", lambda c: c.subject_is("policy") and c.has("must")),
    Signal("existing", 5, "present tense under a heading on the site", _exists_on_site),
    Signal("existing", 1, "a plain description of the site", _plainly_exists_on_site),
    Signal("existing", 3, "existing or located, in the present tense", _exists),
    Signal("existing", 4, "at a distance, in the present tense", _is_at_a_distance),
    Signal("existing", 3, "the list is of what exists", lambda c: c.led("located", "existing") and not c.has("own")),
    Signal("proposed", 5, "is proposed", lambda c: c.has("proposes")),
    Signal("proposed", 4, "the scheme provides", _scheme_provides),
    Signal("proposed", 3, "will be provided", _will_be_provided),
    Signal("proposed", 3, "an obligation to be signed", lambda c: c.section == "obligations"),
    Signal("proposed", 2, "under a heading on the proposal", lambda c: c.section in ("proposal", "travel_plan")),
    Signal("proposed", 0, "a sentence on the proposal", _in_proposal),
    Signal("proposed", 2, "a provision is named", lambda c: c.has("noun_of_provision")),
    Signal(
        "proposed", 3, "the list is of what is provided", lambda c: c.led("provides") and not c.led("located", "asks")
    ),
    Signal("proposed", 5, "the proposal itself", lambda c: c.is_proposal),
    Signal("proposed", 3, "a condition requires it", lambda c: _in_condition(c) and c.has("must")),
    Signal("proposed", 3, "a sum to be paid", _pays),
    Signal("proposed", 3, "a document of the application says it", _own_document_says),
    Signal("proposed", 3, "is provided", _is_provided),
    Signal("proposed", 3, "has been designed to", lambda c: c.has("redesigned") and c.speaker == "applicant"),
    Signal("proposed", 1, "something new", lambda c: c.has("own")),
    Signal("conditional", 9, "subject to, where feasible", _hedged),
    Signal("conditional", 9, "should, were or once it happens", _supposes),
    Signal("conditional", 2, "if, could, may", lambda c: c.has("if", "may")),
    Signal("indicative", 8, "illustrative, indicative", lambda c: c.has("indicative")),
    Signal("indicative", 3, "potential, an opportunity", lambda c: c.has("potential") and not c.has("impact")),
    Signal("deferred", 9, "left to a later stage", lambda c: c.has("deferred")),
    Signal("deferred", 9, "details are to be approved", lambda c: c.has("approval")),
    Signal("deferred", 7, "to be secured by condition", lambda c: c.follows("secured", "condition", 6)),
    Signal("deferred", 6, "part of a condition on details", _details_of_a_condition),
    Signal("requested", 6, "a consultee asks", _asks),
    Signal("requested", 4, "somebody asks for a list", lambda c: c.led("asks") and c.led("authority", "objector")),
    Signal("requested", 1, "a consultee speaks", lambda c: c.speaker == "consultee"),
    Signal("none", 5, "an objector's view", _objects),
    Signal("none", 4, "a claim of compliance", _only_complies),
    Signal("none", 2, "compliance is mentioned", lambda c: c.has("complies") and not c.has("must")),
    Signal("assumption", 5, "a forecast or an assumption", lambda c: c.has("assumption")),
    Signal("assumption", 4, "an effect that is expected", _predicts_effect),
    Signal("assumption", 2, "likely, expected", lambda c: c.has("likely")),
    Signal("other_scheme", 6, "another scheme", lambda c: c.has("other_scheme")),
    Signal("other_scheme", 5, "under a heading on other schemes", lambda c: c.section in ("others", "history")),
    Signal("other_scheme", 7, "another scheme is named", lambda c: c.names_another_scheme),
    Signal("other_scheme", 6, "an earlier scheme", lambda c: c.has("earlier_scheme")),
    Signal("historic", 2, "previous, former", lambda c: c.has("historic", "permitted")),
    Signal("rejected", 12, "nothing is proposed", _no_provision),
    Signal("rejected", 5, "not provided, removed", lambda c: c.has("rejects")),
    Signal("phased", 7, "in phases", lambda c: c.has("phased")),
)


def read_status(context: Context, readers: Readers | None = None) -> JudgedStatus:
    """Return the likeliest status, and certainty if the reader is sure and nothing contradicts it."""
    heard = [signal for signal in SIGNALS if signal.test(context)]
    reader = (readers or shipped_readers()).statuses
    chances = reader.chances(heard_features(context, heard))
    shares = chances / chances.sum()
    best, share = reader.heads[int(shares.argmax())], float(shares.max())
    because = tuple(signal.why for signal in heard if signal.status == best)
    sure = best != "none" and share >= _SOONER_SURE.get(best, _SURE_FROM)
    if sure and not _is_opposed(best, heard) and not _doubtful(best, context):
        return JudgedStatus(best, _SURE, because)
    return JudgedStatus(best, round(min(share, _UNSURE_AT_MOST), 3), because)


def heard_features(context: Context, heard: Sequence[Signal]) -> Features:
    """Return what the trained reader sees of a statement: the signals are part of it."""
    votes: dict[str, float] = {}
    for signal in heard:
        votes[signal.status] = votes.get(signal.status, 0.0) + signal.weight
    most = max(votes, key=lambda status: (votes[status], status), default="mentioned")
    return status_features(context, (signal.why for signal in heard), most)


def _is_opposed(best: Status, heard: Sequence[Signal]) -> bool:
    """Return whether a strong signal points to another status."""
    return any(signal.status != best and signal.weight >= _STRONG for signal in heard)


def _doubtful(status: Status, context: Context) -> bool:
    """Return whether something makes a reader hesitate without pointing to another status."""
    if len(context.tokens) > _LONGEST_CERTAIN:
        return True
    if status == "proposed":
        generic = context.subject_is("scheme") and not context.scheme_is_subject
        rule = context.has("must", "where") and not _in_condition(context)
        normative = generic or rule or context.subject_is("authority")
        hesitant = normative or context.has(*_HESITATIONS) or context.done_by_another
        later = _in_condition(context) and "approved" in context.statement.text.lower()  # what is to be approved first
        return context.section in _OTHERS or hesitant or later
    return False
