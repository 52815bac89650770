"""Random histories of a policy, crashes included, against a simple model of who should be in force (P5 to P9, P16).

The model: an open-ended revision answers until its successor does; what fails or is deleted gives its days back.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
import redis as sync_redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from word_vectors import WordVectors

from trigpoint.config import load_settings
from trigpoint.dates import day_to_int
from trigpoint.errors import PolicyError, TrigpointError
from trigpoint.passages.model import Passage
from trigpoint.policies.knowledge import PolicyKnowledge
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.passages import PolicyChromaClient, passage_id, revision_metadata
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.resolver import EffectiveDateResolver
from trigpoint.storage.redis import redis_client

T = TypeVar("T")
FIRST = date(2024, 1, 1)
DAYS = 40
days = st.integers(0, DAYS - 1).map(lambda n: FIRST + timedelta(days=n))
ends = st.none() | st.none() | days
outcomes = st.sampled_from(["later", "succeeds", "succeeds", "fails"])
picks = st.integers(0, 50)
ONE = timedelta(days=1)


class Crash(Exception):
    """The process dies here."""


@dataclass
class Known:
    """What the model knows of a revision. `cut` is the successor that ended it, and the day on which."""

    start: date
    end: date | None
    status: str = "processing"
    cut: tuple[str, date] | None = None
    generation: int = 0

    @property
    def stored_end(self) -> date | None:
        return self.cut[1] if self.cut else self.end

    @property
    def queryable(self) -> bool:
        return self.status in ("active", "superseded")


@dataclass
class Model:
    revisions: dict[str, Known] = field(default_factory=dict)

    def standing(self) -> dict[str, Known]:
        return {i: r for i, r in self.revisions.items() if r.status != "failed"}

    def collides(self, me: str | None, start: date, end: date | None, *, may_supersede: bool) -> bool:
        for other_id, other in self.standing().items():
            if other_id == me or (may_supersede and other.stored_end is None and other.start < start):
                continue
            if other.start <= (end or date.max) and start <= (other.stored_end or date.max):
                return True
        return False

    def supersede(self, new_id: str) -> None:
        new = self.revisions[new_id]
        for other_id, other in self.standing().items():
            if other_id != new_id and other.stored_end is None and other.start < new.start:
                other.cut = (new_id, new.start - ONE)
                other.status = "superseded" if other.status == "active" else other.status

    def give_back(self, gone: str) -> None:
        for other in self.revisions.values():
            if other.cut and other.cut[0] == gone:
                later = [(r.start, i) for i, r in self.standing().items() if r.start > other.start and i != gone]
                other.cut = (min(later)[1], min(later)[0] - ONE) if later else None
                if other.cut is None and other.status == "superseded":
                    other.status = "active"

    def in_force(self, day: date) -> str | None:
        answering = sorted((r.start, i) for i, r in self.revisions.items() if r.queryable)
        for index, (start, revision_id) in enumerate(answering):
            known = self.revisions[revision_id]
            pending = known.cut and known.cut[0] in self.revisions
            pending = pending and self.revisions[known.cut[0]].status == "processing"  # type: ignore[index]
            end = known.end if pending else known.stored_end
            if index + 1 < len(answering):
                end = min(end or date.max, answering[index + 1][0] - ONE)
            if start <= day <= (end or date.max):
                return revision_id
        return None

    def covered(self) -> set[date]:
        return {d for d in _window() if self.in_force(d)}

    def promised(self) -> set[date]:
        """Days that no caller has given up: within the dates of a standing revision."""
        standing = self.standing().values()
        return {d for d in _window() if any(r.start <= d <= (r.stored_end or date.max) for r in standing)}


def _window() -> list[date]:
    return [FIRST + timedelta(days=n) for n in range(DAYS + 2)]


class PolicyMachine(RuleBasedStateMachine):
    redis_url = ""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="policy-machine-"))
        self.settings = load_settings(trigpoint_data_dir=self.folder)
        with sync_redis.Redis.from_url(self.redis_url) as client:
            client.flushall()
        self.redis = redis_client(self.redis_url)
        self.registry = PolicyRegistry(self.redis)
        self.model = Model()
        self.covered: set[date] = set()
        self.given_up: set[date] = set()
        self.by_hand = False
        self.open()
        self.wait(self.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY))
        self.create_one(FIRST, None, "succeeds")

    def teardown(self) -> None:
        self.knowledge.close()
        self.wait(self.redis.aclose())
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)  # its server may still be writing

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        passages = PolicyChromaClient(self.settings, WordVectors())  # type: ignore[arg-type]
        self.knowledge = PolicyKnowledge(self.settings, self.registry, passages)
        self.wait(self.knowledge.repair())

    def crash(self) -> None:
        """All that was only in memory is gone, and so are the jobs that held revisions."""
        self.knowledge.close()
        with sync_redis.Redis.from_url(self.redis_url) as client:
            for key in client.scan_iter("policy_hold:*"):
                client.delete(key)
        self.open()

    def dump(self) -> dict[bytes, bytes | None]:
        with sync_redis.Redis.from_url(self.redis_url) as client:
            return {key: client.dump(key) for key in client.keys("*") if not key.startswith(b"policy_hold")}

    def try_it(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T | None:
        """The result, or None where it was refused; then nothing has changed."""
        before = self.dump()
        try:
            return self.wait(work())
        except (PolicyError, TrigpointError):
            assert self.dump() == before
            return None

    def pick(self, number: int, *statuses: str) -> str | None:
        ids = sorted(i for i, r in self.model.revisions.items() if not statuses or r.status in statuses)
        return ids[number % len(ids)] if ids else None

    # What users and jobs do

    @rule(start=days, end=ends, outcome=outcomes)
    def create(self, start: date, end: date | None, outcome: str) -> None:
        self.create_one(start, end, outcome)

    def create_one(self, start: date, end: date | None, outcome: str) -> None:
        if end is not None and end < start:
            start, end = end, start
        made = self.try_it(
            lambda: self.registry.create_revision(
                "NPPF", version_label="v", effective_from=start, effective_to=end, file_path="/f.pdf", job_id="j"
            )
        )
        assert (made is None) == self.model.collides(None, start, end, may_supersede=True)
        if made is not None:
            revision_id = made[0].revision_id
            assert revision_id not in self.model.revisions
            self.model.revisions[revision_id] = Known(start, end)
            self.model.supersede(revision_id)
            self.finish(revision_id, outcome)

    @rule(number=picks, outcome=outcomes)
    def the_job_ends(self, number: int, outcome: str) -> None:
        if (revision_id := self.pick(number, "processing")) is not None:
            self.finish(revision_id, outcome)

    @rule(number=picks, succeeds=st.booleans())
    def reindex(self, number: int, succeeds: bool) -> None:
        if (revision_id := self.pick(number, "active", "superseded")) is None:
            return
        self.wait(self.registry.begin_reindex("NPPF", revision_id, "j2"))
        if succeeds:
            self.write(revision_id)
            self.mark_active(revision_id)
        else:
            self.wait(self.registry.mark_failed("NPPF", revision_id, "disk full"))

    @rule(number=picks)
    def reindex_what_failed(self, number: int) -> None:
        """It comes back as `processing` if its dates are free; or where it was, before the one that followed it."""
        if (revision_id := self.pick(number, "failed")) is None:
            return
        known = self.model.revisions[revision_id]
        back = self.try_it(lambda: self.registry.begin_reindex("NPPF", revision_id, "j3"))
        if back is None:
            assert self.model.collides(revision_id, known.start, known.stored_end, may_supersede=True)
            return
        known.status = "processing"
        squeezed = next(
            (
                r
                for r in self.model.standing().values()
                if r.cut
                and r is not known
                and r.start < known.start
                and known.stored_end is not None
                and r.stored_end == known.stored_end
            ),
            None,
        )
        if squeezed is not None and squeezed.cut is not None:
            known.cut, known.end = squeezed.cut, squeezed.end
            squeezed.cut = (revision_id, known.start - ONE)
        self.model.supersede(revision_id)

    @rule(number=picks, end=ends)
    def patch_end(self, number: int, end: date | None) -> None:
        if (revision_id := self.pick(number)) is None:
            return
        known = self.model.revisions[revision_id]
        self.by_hand = True
        done = self.try_it(lambda: self.registry.update_revision("NPPF", revision_id, {"effective_to": end}))
        stands = known.status != "failed"
        refused = end is not None and end < known.start
        if end != known.stored_end and stands:
            refused = refused or self.model.collides(revision_id, known.start, end, may_supersede=False)
        assert (done is None) == refused
        if done is not None and end != known.stored_end:
            known.end, known.cut = end, None
            if end is None and known.status == "superseded":
                known.status = "active"

    @rule(number=picks, start=days)
    def patch_start(self, number: int, start: date) -> None:
        if (revision_id := self.pick(number, "processing", "active", "superseded")) is None:
            return
        known = self.model.revisions[revision_id]
        self.by_hand = True
        done = self.try_it(lambda: self.registry.update_revision("NPPF", revision_id, {"effective_from": start}))
        reversed_range = known.stored_end is not None and known.stored_end < start
        refused = reversed_range or self.model.collides(revision_id, start, known.stored_end, may_supersede=False)
        assert (done is None) == (refused and start != known.start)
        if done is not None:
            known.start = start

    @rule(number=picks)
    def delete(self, number: int) -> None:
        if (revision_id := self.begin_delete(number)) is not None:
            self.wait(self.knowledge.remove("NPPF", revision_id))
            self.wait(self.registry.delete_revision("NPPF", revision_id))

    # Where the process dies

    @rule(number=picks, step=st.sampled_from(["journal", "half", "swapped"]), again=st.booleans())
    def crash_while_ingesting(self, number: int, step: str, again: bool) -> None:
        """First ingestion or reindex: before the swap, in its middle, or before the registry knew."""
        if (revision_id := self.pick(number, "processing", "active", "superseded")) is None:
            return
        passages = self.knowledge.passages

        def die(*args: Any) -> None:
            raise Crash

        if step == "journal":
            passages.passages._apply = die  # type: ignore[method-assign]
        elif step == "half":
            passages.collection.delete = die  # type: ignore[method-assign]
        with contextlib.suppress(Crash):
            self.write(revision_id)
        self.crash()
        if again:  # the job is taken up by another worker
            self.write(revision_id)
            self.mark_active(revision_id)

    @rule(number=picks, removed=st.booleans())
    def crash_while_deleting(self, number: int, removed: bool) -> None:
        if (revision_id := self.begin_delete(number)) is None:
            return
        if removed:
            self.wait(self.knowledge.remove("NPPF", revision_id))
        self.crash()

    # Steps that the rules share

    def write(self, revision_id: str) -> None:
        """The passages of a new generation: as many as its number says, so that sets differ in size."""
        known = self.model.revisions[revision_id]
        known.generation += 1
        policy = self.wait(self.registry.get_policy("NPPF"))
        revision = policy.revision(revision_id)
        assert revision is not None
        shared = revision_metadata(policy, revision)
        texts = [f"{revision_id} generation {known.generation} part {n}" for n in range(1 + 2 * known.generation % 3)]
        vectors = WordVectors().embed_batch(texts)
        passages = [
            Passage(
                passage_id("NPPF", revision_id, "Para 1", n),
                revision_id,
                n,
                text,
                {**shared, "section_ref": "Para 1", "page_number": 1, "chunk_index": n},
                vectors[n],
                100 * n,
                100 * n + len(text),
            )
            for n, text in enumerate(texts)
        ]
        self.knowledge.passages.replace_revision(revision_id, passages)

    def finish(self, revision_id: str, outcome: str) -> None:
        if outcome == "succeeds":
            self.write(revision_id)
            self.mark_active(revision_id)
        elif outcome == "fails":
            self.wait(self.registry.mark_failed("NPPF", revision_id, "no text"))
            self.model.revisions[revision_id].status = "failed"
            self.model.give_back(revision_id)

    def mark_active(self, revision_id: str) -> None:
        self.wait(self.registry.mark_active("NPPF", revision_id, chunk_count=1, page_count=1))
        known = self.model.revisions[revision_id]
        if known.status == "processing":
            known.status = "superseded" if known.cut else "active"

    def begin_delete(self, number: int) -> str | None:
        if (revision_id := self.pick(number)) is None:
            return None
        done = self.try_it(lambda: self.registry.begin_delete("NPPF", revision_id))
        active = [i for i, r in self.model.revisions.items() if r.status == "active"]
        assert (done is None) == (active == [revision_id])
        if done is None:
            return None
        self.by_hand = True
        gone = self.model.revisions.pop(revision_id)
        if gone.status != "failed":
            self.model.give_back(revision_id)
        for other in self.model.revisions.values():
            if other.cut and other.cut[0] == revision_id:
                other.cut = None
        return revision_id

    # What must hold after each of them

    @invariant()
    def the_resolver_agrees_with_the_model(self) -> None:
        policy = self.wait(self.registry.get_policy("NPPF"))
        for day in _window():
            in_force = policy.in_force(day)
            assert (in_force.revision_id if in_force else None) == self.model.in_force(day), day
            assert sum(span.covers(day) for span in policy.timeline) <= 1

    @invariant()
    def no_day_loses_its_revision_unless_it_was_given_up(self) -> None:
        """A PATCH or a DELETE gives days up at once; dates that nobody claims any more are given up, too (P6)."""
        now = self.model.covered()
        if self.by_hand:
            self.given_up |= self.covered - now
        self.given_up |= (self.covered | now) - self.model.promised()
        assert not (self.covered - now) - self.given_up
        self.covered, self.by_hand = now, False

    @invariant()
    def a_search_gives_whole_sets_of_the_revision_in_force(self) -> None:
        edges = {r.start for r in self.model.revisions.values()} | {FIRST + timedelta(days=DAYS)}
        for day in sorted(edges)[:6]:
            hits = self.wait(self.knowledge.search("generation", effective_date=day, n_results=100, mode="hybrid"))
            expected = self.model.in_force(day)
            assert {h.metadata["revision_id"] for h in hits} == ({expected} if expected else set())
            assert len({h.text.split(" part ")[0] for h in hits}) <= 1, "two generations at once"
            assert sorted(h.metadata["chunk_index"] for h in hits) == list(range(len(hits)))

    @invariant()
    def the_date_clause_of_the_contract_gives_the_same(self) -> None:
        """P16: filtering by the revisions in force is filtering by the dates in the metadata."""
        self.wait(self.knowledge.settle())
        queryable = {i for i, r in self.model.revisions.items() if r.queryable}
        collection = self.knowledge.passages.collection
        for day in (FIRST, FIRST + timedelta(days=DAYS // 2), FIRST + timedelta(days=DAYS)):
            number = day_to_int(day)
            clause = {"$and": [{"effective_from": {"$lte": number}}, {"effective_to": {"$gte": number}}]}
            by_clause = {r.id for r in collection.get(where=clause) if r.metadata["revision_id"] in queryable}
            resolver = EffectiveDateResolver(self.registry)
            in_force = self.wait(resolver.get_revision_ids_for_date(day))["NPPF"]
            assert by_clause == set(collection.ids({"revision_id": in_force or "none"}))


def _run(redis_url: str, examples: int, steps: int) -> None:
    PolicyMachine.redis_url = redis_url
    run_state_machine_as_test(
        PolicyMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )


def test_a_short_random_history_keeps_one_revision_in_force_a_day(clean_redis_url: str) -> None:
    _run(clean_redis_url, examples=8, steps=14)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_long_random_histories_with_crashes_keep_one_revision_in_force_a_day(clean_redis_url: str) -> None:
    _run(clean_redis_url, examples=40, steps=25)
