"""The application as the model is shown it: text blocks in which nothing that a document says can end the block."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

from trigpoint.errors import shorten
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import Fact
from trigpoint.reading.profile import Profile, UseSize
from trigpoint.reading.statements import split_sentences
from trigpoint.reading.vocabulary import TOPICS, aspects_of
from trigpoint.review.citing import document_place, document_places
from trigpoint.review.consultees import recommendations, recommends
from trigpoint.review.draft import ReviewDraft
from trigpoint.review.elsewhere import pages_that_secure
from trigpoint.review.evidence import PolicyPassage, fold
from trigpoint.review.findings import Finding
from trigpoint.review.held import Held
from trigpoint.review.orientation import AspectEntry, Candidate, Orientation, reference, size_statements
from trigpoint.review.policy_words import text_shown
from trigpoint.review.sheets import Sheet, Sheets
from trigpoint.review.wording import any_of
from trigpoint.text.account import name_pages

LONGEST_POLICY = 2_400  # characters of a policy passage that are shown
LONGEST_SHOWN_POLICY = 160  # of a policy in the conclusion
MOST_PLACES = 8  # documents of a finding that the conclusion is shown
MOST_FACTS = 90
MOST_CONTENTS = 12_000  # characters of the headings that orientation shows
LONGEST_TITLE = 70
_MEASURED_BY_SIZE = frozenset(("cycle_parking", "trip_generation"))
NOTHING_ASKED = (
    "Nothing on it is asked of a development of this kind and size: report only statements that contradict each other, and "
    "what would influence the decision all the same."
)
COUNTS = {
    "existing": "What exists already answers it",
    "assumption": "What the applicant forecasts answers it, told as a forecast",
}
_MARKS = re.compile(r"^(\s*)(<{3,}|>{3,})", re.MULTILINE)
_ORDERS = any_of(
    r"(?:ignore|disregard|forget)\b[^.]{0,40}\b(?:instructions?|rules|prompt)",
    r"(?:rate|rating)\b[^.]{0,30}\bgreen",
    r"you are (?:an? )?(?:AI|assistant|language model)",
    "system prompt",
)


def block(name: str, text: str) -> str:
    """Return a block of data. Lines of it that look like the beginning or end of a block are disarmed."""
    inner = _MARKS.sub(lambda match: f"{match[1]}'{match[2]}", text)
    mark = hashlib.sha256(inner.encode()).hexdigest()[:8]
    return f"<<< {name} {mark}\n{inner}\n>>> {mark}"


def one_line(text: str) -> str:
    """Return a text without line breaks, so that a name cannot begin a line of its own."""
    return " ".join(text.split())


def suspects(documents: Iterable[Document]) -> tuple[str, ...]:
    """Return a note on each document with text that reads like an order to a model, for a person to look at."""
    named = sorted({one.name for one in documents if _ORDERS.search(f"{one.name} {one.text}")})
    return tuple(f"{name} contains text that reads like an instruction to a model" for name in named)


def application(known: Orientation) -> str:
    """Return the proposal, the profile and the list of documents."""
    lines = [
        f"Reference: {known.application_ref}; policy in force on {known.effective_date} applies",
        f"Proposal: {one_line(known.profile.proposal) or 'not stated'}",
        f"Site: {one_line(known.profile.site) or 'not stated'}; authority: {known.profile.authority or 'not known'}",
        f"Profile as read by a program: {_profile(known.profile)}",
        *(f"Note: {remark}" for remark in known.remarks),
        "Documents:",
        *(
            f"{one.label}: {_document_name(one.name, one.title)} ({one.document_type.replace('_', ' ')}, by the {one.written_by}, "
            f"{one.pages or 1} pages, {one.characters:,} characters)"
            for one in known.documents
        ),
        *(["Named in these documents, and not among them:"] if known.not_seen else []),
        *(f"- {one_line(one)}" for one in known.not_seen),
    ]
    return block("application", "\n".join(lines))


def _document_name(name: str, title: str) -> str:
    """Return a document's file name, and what people call it if that is more than the name without its ending."""
    plain = one_line(name)
    return plain if fold(title) in fold(plain.replace("_", " ")) else f"{plain} = {title}"


def _profile(profile: Profile) -> str:
    sizes = [
        f"{one.use}{f' {one.size:,g} {one.unit}' if one.size else ''}{f' with {one.bedrooms} bedrooms' if one.bedrooms else ''}"
        for one in profile.uses
    ]
    return f"kind {profile.kind}, scale {profile.scale}, uses: {'; '.join(dict.fromkeys(sizes)) or 'none read'}"


def sizes(draft: ReviewDraft) -> str:
    """Return where each size of the profile was read, and other statements that give a size."""
    read = [
        f"{_sized(one)}: {draft.sheets.label_of(one.source.document_id)} p{one.source.page or 1}: {one_line(one.source.quote)[:300]}"
        for one in draft.evidence.profile.uses
        if one.size and one.source is not None
    ]
    stated = [f"{label} p{page or 1}: {words[:300]}" for label, page, words in size_statements(draft.sheets)]
    lines = [*(["Read from:", *dict.fromkeys(read)] if read else []), *(["Statements:", *stated] if stated else [])]
    return block("statements that give sizes", "\n".join(lines)) if lines else ""


def _sized(one: UseSize) -> str:
    return f"{one.use} {one.size:,g} {one.unit}"


def secured(sheets: Sheets) -> str:
    """Return where conditions and obligations are listed; nothing if no document lists any."""
    places = [f"{label} {name_pages(pages).lower()}" for label, pages in pages_that_secure(sheets)]
    return f"Conditions and obligations are listed in {'; '.join(places)}." if places else ""


def topics() -> str:
    return "Topics: " + ", ".join(TOPICS)


def pages_to_read(sheets: Sheets, keys: Sequence[str]) -> str:
    """Return the reading list, and the pages that are not on it by their headings."""
    return f"Reading list:\n{_reading_list(keys)}\n{contents(sheets, keys)}".strip()


def _reading_list(keys: Sequence[str]) -> str:
    """Return which pages are going to be read, by document."""
    pages: dict[str, list[str]] = {}
    for key in keys:
        label, _, page = key.partition(":")
        pages.setdefault(label, []).append(page)
    return "\n".join(f"{label}: pages {', '.join(numbers)}" for label, numbers in pages.items())


def contents(sheets: Sheets, keys: Iterable[str]) -> str:
    """Return the pages that are not on the reading list, by the heading that each is under, within a limited size."""
    chosen = set(keys)
    by_document = {
        label: [one for one in sheets.all if one.label == label and one.key not in chosen] for label in sheets.labels
    }
    pages = sum(len(left) for left in by_document.values())
    longest = max(12, min(LONGEST_TITLE, MOST_CONTENTS // max(1, pages) - 10))
    lines = [
        f"{label}: {'; '.join(_runs(sheets, label, left, longest))}" for label, left in by_document.items() if left
    ]
    return block("pages that are not on the reading list", "\n".join(lines)) if lines else ""


def _runs(sheets: Sheets, label: str, left: Sequence[Sheet], longest: int) -> Iterable[str]:
    """Yield `p4-7 2 Site and surroundings`: neighbouring pages under one heading together."""
    titles = sheets.titles(sheets.labels[label])
    runs: list[tuple[int, int, str]] = []
    for sheet in left:
        page, title = sheet.page or 1, titles.get(sheet.page or 1, "")
        if runs and runs[-1][1] == page - 1 and runs[-1][2] == title:
            runs[-1] = (runs[-1][0], page, title)
        else:
            runs.append((page, page, title))
    for first, last, title in runs:
        yield f"p{first if first == last else f'{first}-{last}'} {shorten(title, longest)}".strip()


def aspect(entry: AspectEntry, draft: ReviewDraft) -> str:
    """Return an aspect with its questions and the policy they rest on."""
    lines = [f"## Aspect {entry.id}: {entry.name}. {entry.question}"]
    if not entry.questions:
        return f"{lines[0]}\n{NOTHING_ASKED}"
    lines.append("Questions:")
    for one in entry.questions:
        policy = f" Rests on {', '.join(one.policy)}." if one.policy else ""
        counts = "".join(f" {COUNTS[name]}." for name in one.answered_by if name in COUNTS)
        lines.append(f"- {one.id}{' (essential)' if one.essential else ''}: {one.asks}.{counts}{policy}")
    passages = []
    for provision in entry.provisions:
        passage = draft.labels.by_label[provision.label]
        text = policy_text(passage)
        passages.append(
            f"{provision.label} = {provision.ref} ({passage.version_label}). In short: {provision.says}\n{text}"
        )
    return "\n".join(lines) + "\n" + block("policy in force", "\n\n".join(passages))


def policy_text(passage: PolicyPassage) -> str:
    """Return the sentences of a passage, each once, as many as are shown; its headings are in brackets."""
    text = text_shown(passage)
    sentences = dict.fromkeys(text[start:end].strip() for start, end in split_sentences(text))
    return " ".join(sentences)[:LONGEST_POLICY]


def facts(
    draft: ReviewDraft, aspects: Sequence[str], groups: Sequence[Sequence[str]] = (), most: int = MOST_FACTS
) -> str:
    """Return what was read on some aspects, by topic: the reader's facts, and those of the rules that it does not have.

    A claim of the applicant on the whole scheme is shown once: to the group of aspects that its page is mostly about.
    """
    claimed = {id(fact) for fact in _claims_of(draft.evidence.facts, aspects, groups or (aspects,))}
    chosen = [fact for fact in draft.evidence.facts if _concerns(fact, aspects) or id(fact) in claimed]
    read = [fact for fact in chosen if fact.reader != "rules"]
    covered = [(fact.source.document_id, fact.source.start, fact.source.end) for fact in read]
    rest = [
        fact
        for fact in chosen
        if fact.reader == "rules" and not any(_overlap(fact, one) for one in covered) and _tells(fact)
    ]
    rest.sort(key=lambda fact: (not fact.quantities, not fact.is_certain))
    kept = [*read, *rest[: max(0, most - len(read))]]
    return block("what was read", "\n".join(_by_topic(kept, draft.sheets)) or "nothing")


def _concerns(fact: Fact, aspects: Sequence[str]) -> bool:
    sized = fact.topic in ("development.size", "development.use") and bool(set(aspects) & _MEASURED_BY_SIZE)
    return sized or bool(set(aspects_of(fact.topic)) & set(aspects))


def _claims_of(given: Sequence[Fact], aspects: Sequence[str], groups: Sequence[Sequence[str]]) -> Iterable[Fact]:
    """Yield the claims of compliance whose page has more facts on these aspects than on those of any other group."""
    on_page: dict[tuple[str, int | None], list[Fact]] = {}
    for fact in given:
        on_page.setdefault((fact.source.document_id, fact.source.page), []).append(fact)
    for fact in given:
        if fact.topic == "compliance.claim":
            near = on_page[fact.source.document_id, fact.source.page]
            counts = [sum(bool(set(aspects_of(one.topic)) & set(group)) for one in near) for group in groups]
            if set(groups[counts.index(max(counts))]) == set(aspects):
                yield fact


def _tells(fact: Fact) -> bool:
    if fact.topic.startswith("development."):
        return fact.is_certain and bool(fact.quantities)
    return fact.is_certain or bool(fact.quantities)


def _overlap(fact: Fact, span: tuple[str, int, int]) -> bool:
    return fact.source.document_id == span[0] and fact.source.start < span[2] and span[1] < fact.source.end


def _by_topic(kept: Sequence[Fact], sheets: Sheets) -> Iterable[str]:
    topic = ""
    for fact in sorted(kept, key=lambda one: (one.topic, sheets.label_of(one.source.document_id), one.source.start)):
        if fact.topic != topic:
            topic = fact.topic
            yield f"[{topic}]"
        known = fact.status if fact.reader != "rules" or fact.is_certain else "status not known"
        where = f"{sheets.label_of(fact.source.document_id)} p{fact.source.page or 1}"
        yield f"{where} ({known}, {fact.speaker}): {one_line(fact.source.quote)[:400]}"


def suspected(given: Iterable[Candidate]) -> str:
    """Return figures that seem not to agree, with the places they come from."""
    lines = []
    for one in given:
        lines.append(f"{one.id}: {one_line(one.summary)} {one.calculation}")
        places = [f"   {label} p{page or 1}: {one_line(words)[:300]}" for label, page, words in one.places]
        lines += dict.fromkeys(places)
    return block("suspected discrepancies", "\n".join(lines)) if lines else ""


def returned(waiting: Mapping[str, Held], draft: ReviewDraft) -> str:
    """Return findings that were not accepted, with the reasons, and the text of the policies that they cite."""
    texts, cited = [], dict[str, None]()
    for name, held in waiting.items():
        given = held.given.model_dump_json(exclude_none=True, exclude_defaults=True, exclude={"id"})
        said = f"{held.instead} {held.instead_lacking or ''}"
        instead = f"\n   The second reader would say: {one_line(said)}" if held.instead else ""
        texts.append(f"{name}: {given}\n   Reasons: {'; '.join(held.verdict.reasons)}{instead}")
        cited.update(dict.fromkeys(one.policy for one in held.given.policy if one.policy in draft.labels.by_label))
    policies = f"\n\n{policy_passages(draft, cited)}" if cited else ""
    return block("findings that were not accepted", "\n\n".join(texts)) + policies


def answers_of_consultees(draft: ReviewDraft) -> str:
    """Return what the letter is going to quote of consultees, each under an id; nothing if it quotes none."""
    said = recommendations(draft.evidence)
    lines = [f"K{number}: {one_line(recommends(one))}" for number, one in enumerate(said, 1)]
    return block("answers of consultees", "\n".join(lines)) if lines else ""


def verified(draft: ReviewDraft) -> str:
    """Return everything that counts, for the conclusion."""
    lines: list[str] = []
    for name, held in draft.state.held.items():
        if not held.counts:
            continue
        lines += _finding(name, held, held.finding) if held.finding is not None else _open_point(name, held)
    same = _same_words(draft)
    return block("findings", "\n".join(lines)) + (
        f"\n\n{block('findings that rest on the same words', same)}" if same else ""
    )


def _finding(name: str, held: Held, finding: Finding) -> Iterable[str]:
    """Yield a finding as the conclusion is shown it: its claim, what it is measured by, its places and its sums."""
    weight = ", essential" if finding.essential else ""
    yield f"{name} [{held.given.aspect}{weight}] {finding.outcome}: {one_line(finding.text)}"
    yield f"   asked for: {one_line(finding.requirement)}"
    policy = "; ".join(dict.fromkeys(f"{one.ref} {_cited_words(one.quote)}".strip() for one in finding.policy))
    places = document_places(finding.evidence, MOST_PLACES)
    yield f"   {places or 'no page'}. Policy: {policy or 'none'}"
    if finding.standard is not None:
        yield f"   standard that {document_place(finding.standard)} quotes: {_cited_words(finding.standard.quote)}"
    if finding.calculations:
        yield f"   sums: {'; '.join(one.expression for one in finding.calculations)}"
    yield from _proposed(finding.recommendation, finding.condition)


def _open_point(name: str, held: Held) -> Iterable[str]:
    point = held.open_point
    if point is None:
        return
    weight = ", essential" if point.essential else ""
    kind = "not shown" if held.given.outcome == "not_shown" else "noted"
    yield f"{name} [{held.given.aspect}{weight}] {kind}: {one_line(point.reason)}"
    yield f"   asked for: {one_line(point.requirement)}. Policy: {', '.join(point.policy) or 'none'}"
    yield from _proposed(held.given.recommendation, held.given.condition)


def _proposed(recommendation: str | None, condition: str | None) -> Iterable[str]:
    told = {"recommendation": recommendation, "condition": condition}
    return [f"   {kind}: {one_line(text)}" for kind, text in told.items() if text]


def _cited_words(words: str) -> str:
    return f"“{shorten(one_line(words), LONGEST_SHOWN_POLICY)}”" if words else ""


def _same_words(draft: ReviewDraft) -> str:
    """Return which findings quote the same words, a line for each quotation."""
    by_words: dict[tuple[str, str], dict[str, None]] = {}
    for name, held in draft.state.held.items():
        for one in held.finding.evidence if held.counts and held.finding else ():
            by_words.setdefault((one.document_id, one_line(one.quote)), {})[name] = None
    shared: dict[tuple[str, ...], str] = {}
    for (_, words), names in by_words.items():
        if len(names) > 1:
            shared.setdefault(tuple(names), words)
    findings = draft.verified()
    outcomes = {names: {findings[name].outcome for name in names} for names in shared}
    likely = sorted(shared, key=lambda names: len(outcomes[names]))
    return "\n".join(
        f"{', '.join(names)}{' (same outcome)' if len(outcomes[names]) == 1 else ''}: “{shorten(shared[names], 160)}”"
        for names in likely
    )


def policy_passages(draft: ReviewDraft, labels: Iterable[str]) -> str:
    """Return passages of policy with their labels."""
    passages = [(label, draft.labels.by_label[label]) for label in labels]
    texts = [f"{label} = {reference(one)} ({one.version_label}): {policy_text(one)}" for label, one in passages]
    return block("policy in force", "\n\n".join(texts) or "nothing found")
