"""Findings that are handed in: each is checked, sent back once, and ends as kept, reworded, merged or dropped.

Follow one finding: `submit_findings` checks it by the rules and returns it with the reasons, or it counts. Handed in again, it
counts without a support that still fails, if the rest carries it. A second reader (`record_support`) may put it in words that
say less, or send it back once more. `settle` ends whatever is then still waiting. Every finding that does not count keeps the
reason and who gave it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Any

from trigpoint.review.checked import Checked, Failure
from trigpoint.review.conclusion import LeftOut
from trigpoint.review.findings import SHORTFALLS, Finding
from trigpoint.review.held import By, DraftState, Held
from trigpoint.review.lookup import stems
from trigpoint.review.stated import read_numbers
from trigpoint.review.submitted import (
    MOST_QUOTES,
    DraftFinding,
    DraftOutcome,
    Lack,
    Quote,
    Support,
    Verdict,
)
from trigpoint.review.verify_drafts import DraftVerifier
from trigpoint.review.verify_figures import used_in
from trigpoint.review.verify_together import contradicted, repeated

MOST_FINDINGS = 120


class HeldFindings(ABC):
    """The findings of a draft. Every method that changes them replaces `state` as a whole."""

    state: DraftState

    @abstractmethod
    def _verifier(self) -> DraftVerifier:
        """Return what a finding is checked by, as the evidence is now."""

    def _change(self, **changes: Any) -> None:
        self.state = self.state.model_copy(update=changes)

    def submit_findings(self, findings: Iterable[DraftFinding]) -> list[Verdict]:
        """Check findings one after the other: verified, returned once with the reasons, or dropped.

        Two of them under one id are the parts into which a returned finding was divided: the second gets an id of its own.
        """
        verdicts: list[Verdict] = []
        for one in findings:
            is_part = one.id is not None and any(one.id == verdict.id for verdict in verdicts)
            verdicts.append(self._submit(one.model_copy(update={"id": None}) if is_part else one))
        return verdicts

    def refuse(self, findings: Iterable[DraftFinding], failure: Failure) -> None:
        """Note findings that cannot count whatever they say, so that the review tells of them."""
        for one in findings:
            name = f"F{len(self.state.held) + 1}"
            verdict = Verdict(id=name, verdict="dropped", reasons=(str(failure),))
            self._hold(name, Held(given=one, verdict=verdict, failures=(failure,)))

    def _submit(self, given: DraftFinding) -> Verdict:
        name = given.id if given.id in self.state.held else f"F{len(self.state.held) + 1}"
        if len(self.state.held) >= MOST_FINDINGS and name not in self.state.held:
            return Verdict(id=name, verdict="dropped", reasons=(f"A review takes {MOST_FINDINGS} findings at most",))
        before = self.state.held.get(name)
        tries = 1 if before is None or before.counts else before.tries + 1
        held = self._check(name, given, tries, before)
        if before is not None and before.counts and not held.counts:
            return held.verdict  # what already counts stays until something better replaces it
        self._hold(name, held)
        self._reword_if_dropped(name)
        self._merge(name)
        return self.state.held[name].verdict

    def _check(
        self, name: str, given: DraftFinding, tries: int, before: Held | None = None, *, settles: bool = True
    ) -> Held:
        """Check a finding by the rules and against the others. The first try is strict, so that it can be mended.

        Without `settles` it is told as an open point.
        """
        verifier = self._verifier()
        checked = verifier.check(given, lenient=tries > 1, unfit=before.unfit if before else (), settles=settles)
        self._change(told=tuple(dict.fromkeys((*self.state.told, *checked.told))))
        by: By = "rules"
        if checked.finding is not None:
            checked.finding = checked.finding.model_copy(update={"check": named(checked.finding.check, name)})
            others = {key: one for key, one in self.verified().items() if key != name}
            if not checked.reasons and (clash := contradicted(checked.finding, others)):
                checked.reasons, by = [clash], "other findings"
        held = Held(given=given, verdict=_verdict(name, checked, tries), tries=tries, by=by, **_kept(checked))
        if before is None:
            return held
        kept = ("questioned", "instead", "instead_lacking", "instead_outcome", "unfit")
        return held.model_copy(update={field: getattr(before, field) for field in kept})

    def _hold(self, name: str, held: Held) -> None:
        self._change(held={**self.state.held, name: held})

    def _end(self, name: str, by: By, *reasons: str, merged_into: str | None = None) -> Verdict:
        """Drop a finding, with the reasons that a review gives for it."""
        held = self.state.held[name]
        verdict = Verdict(id=name, verdict="dropped", reasons=reasons or held.verdict.reasons)
        self._hold(name, held.model_copy(update={"verdict": verdict, "by": by, "merged_into": merged_into}))
        return verdict

    def _merge(self, name: str) -> None:
        """If a finding says the same as another one, keep the one that proves more, with what the other settles."""
        findings = self.verified()
        if name not in findings:
            return
        same = repeated(findings[name], {key: one for key, one in findings.items() if key != name})
        if same is None:
            return
        kept, gone = (name, same) if self._weight(name) > self._weight(same) else (same, name)
        held, other = self.state.held[kept], self.state.held[gone]
        settles = tuple(dict.fromkeys((*held.given.settles, *other.given.settles)))[:6]
        self._hold(kept, held.model_copy(update={"given": held.given.model_copy(update={"settles": settles})}))
        self._end(
            gone, "other findings", f"It repeats {kept}, which counts: “{findings[kept].text[:160]}”", merged_into=kept
        )

    def _weight(self, name: str) -> tuple[bool, int, int, bool]:
        """Return how much a finding proves: an answer to a question first, then its figures and its quotations."""
        held = self.state.held[name]
        quotes = len({one.passage_id for one in held.finding.evidence}) if held.finding else 0
        figures = len({number.value for number in read_numbers(held.given.statement)})
        return held.given.question is not None, figures, quotes, bool(held.given.recommendation)

    def record_support(
        self,
        name: str,
        support: Support,
        why: str,
        instead: str = "",
        outcome: DraftOutcome | None = None,
        unfit: Iterable[str] = (),
        lack: Lack = "shown",
        lack_instead: str = "",
        also: Iterable[Quote] = (),
    ) -> Verdict:
        """Note what a second, independent reader says of a verified finding.

        Policies that do not ask for the point (`unfit`, by their references) are left out for good: the finding rests on
        its quotations, and on the words elsewhere that the second reader adds (`also`). Statement and lack are judged
        apart, and the second reader's words (`instead`, `lack_instead`) take the place of ours if they can be verified; the
        outcome then follows from what is left. Everything else that is not supported is sent back once, and then dropped.
        """
        held = self._with_other_support(name, unfit, also).model_copy(update={"support": support})
        self._hold(name, held)
        if not held.counts:
            return held.verdict  # what it says is not proved without that policy
        if held.given.outcome == "contradicted" and outcome == "met":
            support = "not_supported"  # the two accounts agree
        would_say = {"supported": held.given.statement, "overstated": instead, "not_supported": ""}
        falls_short = held.given.outcome in ("failed", "contradicted") and not held.given.lacking
        lacking = lack_instead or (held.given.lacking if lack == "shown" else None)
        told = {
            "instead": would_say[support],
            "instead_lacking": None if falls_short else lacking,  # its statement tells what is lacking
            "instead_outcome": outcome,
        }
        held = held.model_copy(update=told)
        if support == "supported" and self._agrees(held):
            self._hold(name, held)
            self._open_noted([name])
            return held.verdict
        words = "is not supported by" if support == "not_supported" else "goes further than"
        return self._object(name, held, f"A second reader says that the statement {words} the quoted words: {why}")

    def _with_other_support(self, name: str, unfit: Iterable[str], also: Iterable[Quote]) -> Held:
        """Return a finding checked again without policies that do not ask for it, and with words quoted from elsewhere."""
        held, more = self.state.held[name], self._located(also)
        left_out = (*held.unfit, *unfit)
        if not left_out and not more:
            return held
        given = held.given.model_copy(update={"evidence": (*held.given.evidence, *more)[:MOST_QUOTES]})
        return self._check(name, given, held.tries, held.model_copy(update={"unfit": left_out}))

    def _object(self, name: str, held: Held, reason: str) -> Verdict:
        """Put a finding in the second reader's words; if these do not hold, send it back once, and then drop it."""
        verdict = Verdict(id=name, verdict="returned", reasons=(reason,))
        self._hold(name, held.model_copy(update={"verdict": verdict, "by": "second reader"}))
        if self._reword(name):
            self._tell_lack_apart(name, held)
            self._merge(name)
        elif held.questioned:
            self._end(name, "second reader")
        else:
            self._hold(name, self.state.held[name].model_copy(update={"questioned": True}))
        return self.state.held[name].verdict

    def _agrees(self, held: Held) -> bool:
        """Whether the second reader leaves a finding whose statement it supports as it is."""
        return (self._outcome_read(held), held.instead_lacking) == (held.given.outcome, held.given.lacking)

    def _outcome_read(self, held: Held) -> DraftOutcome:
        """Return the outcome that is left by the second reader's opinion.

        It has not been told the judge's. What the judge notes stays noted: readers who do not agree give no verdict. What
        the second one calls met is met unless another finding on the same question names a shortfall, or the question
        itself names what is lacking. Readers of whom one calls a point failed and the other met settle nothing: it is
        noted. What is called partly met without a lack is not settled.
        """
        if held.given.outcome == "noted":
            return "noted"
        said = held.instead_outcome or held.given.outcome
        if (
            said in SHORTFALLS
            and held.given.outcome in SHORTFALLS
            and (held.given.outcome != "partly" or held.instead_lacking)
        ):
            return held.given.outcome
        if said == "met" and held.given.outcome == "partly" and _question_names_lack(held):
            return "partly"
        if said == "met" and held.given.outcome != "met":
            unsettled = held.given.outcome == "failed" or self._falls_short_elsewhere(held)
            return "noted" if unsettled else "met"
        if said == "partly" and not held.instead_lacking and held.given.outcome == "partly":
            return "not_shown"
        return said

    def _falls_short_elsewhere(self, held: Held) -> bool:
        return any(one.outcome in SHORTFALLS for one in self.siblings(held).values())

    def siblings(self, held: Held) -> dict[str, Finding]:
        """Return the other findings that count on the question of a finding; none for one without a question."""
        if held.given.question is None:
            return {}
        asked = held.given.aspect, held.given.question
        return {
            name: one
            for name, one in self.verified().items()
            if name != held.verdict.id
            and (self.state.held[name].given.aspect, self.state.held[name].given.question) == asked
        }

    def settle(self) -> None:
        """End the waiting of everything that was returned: it is kept without what failed, reworded, or dropped."""
        for name in self.returned():
            self._settle(name)

    def open_noted(self) -> None:
        """Make everything that is noted open points: nobody is going to read it a second time."""
        self._open_noted(list(self.verified()))

    def _open_noted(self, names: Collection[str]) -> None:
        """Make those of these findings that are noted open points: no verdict is given on them."""
        for name, finding in self.verified().items():
            if finding.outcome == "noted" and name in names:
                held = self.state.held[name]
                again = self._check(name, held.given, max(2, held.tries), held, settles=False)
                self._hold(name, again.model_copy(update={"support": held.support, "reworded": held.reworded}))

    def _settle(self, name: str) -> None:
        held = self.state.held[name]
        if held.by == "rules":
            self._hold(name, self._check(name, held.given, held.tries + 1, held))
            self._reword_if_dropped(name)
            self._merge(name)
        else:
            self._end(name, held.by)

    def _reword(self, name: str) -> bool:
        """Put a finding in the second reader's words, which say less, if they hold by the rules; return whether they do."""
        held = self.state.held[name]
        if not held.instead:
            return False
        outcome = self._outcome_read(held)
        lacking = None if outcome == "met" else held.instead_lacking
        said = {"statement": held.instead, "lacking": lacking, "outcome": outcome}
        sums = used_in(f"{held.instead} {lacking or ''}", held.given.calculations)
        given = held.given.model_copy(update={**said, "calculations": sums})
        if outcome in ("noted", "not_shown") and held.given.outcome != "not_shown":
            return self._leave_open(name, given)
        again = self._check(name, given, held.tries + 1, held)
        kept = again.counts and (again.finding is not None or held.questioned)
        if kept:
            self._hold(name, again.model_copy(update={"support": "overstated", "reworded": True}))
        return kept

    def _tell_lack_apart(self, name: str, before: Held) -> None:
        """Keep what is lacking as an open point, if the finding is met without it: it is true, and nobody asks for it."""
        now = self.state.held[name].finding
        if now is None or now.outcome != "met" or not before.instead_lacking:
            return
        outcome = "not_shown" if before.given.looked_for else "noted"
        point = {"id": None, "outcome": outcome, "statement": before.instead_lacking, "lacking": None}
        nothing_else = {"policy": (), "settles": (), "condition": None}
        own_name = f"F{len(self.state.held) + 1}"
        given = before.given.model_copy(update={**point, **nothing_else})
        held = self._check(own_name, given, 2, settles=outcome == "not_shown")
        if held.counts:
            self._hold(own_name, held.model_copy(update={"support": "supported"}))

    def _located(self, quotes: Iterable[Quote]) -> list[Quote]:
        """Return the quotations whose words are in the documents."""
        verifier = self._verifier()
        return [one for one in quotes if verifier.quotes([one], Checked())]

    def _leave_open(self, name: str, given: DraftFinding) -> bool:
        """Make a finding whose words are proved and settle nothing an open point, if they hold by the rules."""
        held = self.state.held[name]
        is_noted = given.outcome == "noted" and held.given.outcome != "contradicted"
        tested = given if is_noted else given.model_copy(update={"outcome": held.given.outcome})
        again = self._check(name, tested, held.tries + 1, held, settles=False)
        if again.counts:
            self._hold(name, again.model_copy(update={"support": "overstated", "reworded": True}))
        return again.counts

    def _reword_if_dropped(self, name: str) -> None:
        if self.state.held[name].verdict.verdict == "dropped":
            self._reword(name)

    def give_up(self, names: Iterable[str]) -> None:
        """Drop findings that whoever judges does not hold on to."""
        for name in names:
            if (held := self.state.held.get(name)) is not None and held.verdict.verdict != "dropped":
                self._end(name, "judge", *(held.verdict.reasons or ("Given up by whoever handed it in",)))

    def verified(self) -> dict[str, Finding]:
        """Return the findings that count, by id."""
        return {name: one.finding for name, one in self.state.held.items() if one.counts and one.finding is not None}

    def returned(self) -> dict[str, Held]:
        """Return what waits to be mended, by id."""
        return {name: one for name, one in self.state.held.items() if one.verdict.verdict == "returned"}

    def left_out(self) -> tuple[LeftOut, ...]:
        """Return every finding that does not count, with the reason. One that repeats a dropped one has that one's reason."""
        return tuple(self._left_out(one) for one in self.state.held.values() if not one.counts)

    def _left_out(self, one: Held) -> LeftOut:
        last = self._last(one)
        if last.counts and last is not one:
            return one.model_copy(update={"merged_into": last.verdict.id}).left_out
        return one.left_out.model_copy(update={"by": last.by, "why": last.left_out.why})

    def is_merged(self, one: Held) -> bool:
        """Return whether a finding does not count because another one, which does, says the same."""
        return not one.counts and self._last(one).counts

    def _last(self, one: Held) -> Held:
        """Return the finding that one was merged into in the end, or itself."""
        while one.merged_into is not None:
            one = self.state.held[one.merged_into]
        return one


def _kept(checked: Checked) -> dict[str, Any]:
    failures = tuple(dict.fromkeys(checked.failures))
    return {"finding": checked.finding, "open_point": checked.open_point, "failures": failures}


def named(check: str, name: str) -> str:
    """Return the id of a finding in a review: `cycle_routes-width-f3`."""
    return "-".join([*check.split("-")[:2], name.lower()])


def _verdict(name: str, checked: Checked, tries: int) -> Verdict:
    if not checked.reasons:
        return Verdict(id=name, verdict="verified", remarks=tuple(checked.remarks))
    verdict = "returned" if tries == 1 else "dropped"
    return Verdict(id=name, verdict=verdict, reasons=tuple(checked.reasons), remarks=tuple(checked.remarks))


def _question_names_lack(held: Held) -> bool:
    """Whether the requirement has a word of what is lacking that the statement of what is provided does not have."""
    requirement = held.finding.requirement if held.finding else ""
    missing = set(stems(held.instead_lacking or "")) - set(stems(held.instead))
    return bool(missing & set(stems(requirement)))
