"""Random histories of texts and of people's choices, crashes included: no provision is ever unhooked, no word is lost.

Texts are uploaded, replaced, reindexed and deleted; people confirm, correct and take back. What must hold: every
provision has a placement in every revision that answers; a choice stays until it is taken back or its revision is gone;
and what is found depends on the texts and choices alone, not on the way that led there.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
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
from trigpoint.errors import CannotDeleteSoleRevisionError, InvalidInput, RevisionOverlapError
from trigpoint.passages.model import Passage
from trigpoint.policies.knowledge import PolicyKnowledge
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.passages import PolicyChromaClient, passage_id, revision_metadata
from trigpoint.policies.placements import Placements, PlacementStatus, provisions_of
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import redis_client

T = TypeVar("T")
SOURCE = "COUNTY"  # a county strategy: four provisions, so that histories can be long
SENTENCES = {
    "county_user_hierarchy": "The transport user hierarchy puts walking and wheeling first, then cycling and riding, public transport, motorcycles, shared vehicles and last other motorised modes.",
    "county_networks": "We will develop comprehensive walking and cycling networks that are inclusive and attractive.",
    "county_strategic_routes": "A strategic active travel network will connect towns, villages and key destinations.",
    "county_decide_and_provide": "The decide and provide approach will be used to manage and develop the network and assess development.",
}
NAMES = sorted(SENTENCES)
shifts = st.integers(0, 30)
picks = st.integers(0, 20)
names = st.sampled_from(NAMES)


class PlacementMachine(RuleBasedStateMachine):
    redis_url = ""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="placement-machine-"))
        self.settings = load_settings(trigpoint_data_dir=self.folder)
        with sync_redis.Redis.from_url(self.redis_url) as client:
            client.flushall()
        self.redis = redis_client(self.redis_url)
        self.registry = PolicyRegistry(self.redis)
        self.placements = Placements(self.registry)
        self.texts: dict[str, int] = {}  # revision -> how far its policies are numbered away from 1
        self.choices: dict[tuple[str, str], str | None] = {}
        self.open()
        self.wait(self.registry.create_policy(SOURCE, "County strategy", PolicyCategory.COUNTY_STRATEGY))
        self.upload(0, 0)

    def teardown(self) -> None:
        self.knowledge.close()
        self.wait(self.redis.aclose())
        self.loop.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def open(self) -> None:
        passages = PolicyChromaClient(self.settings, WordVectors())  # type: ignore[arg-type]
        self.knowledge = PolicyKnowledge(self.settings, self.registry, passages)
        self.wait(self.knowledge.repair())

    def pick(self, number: int) -> str:
        return sorted(self.texts)[number % len(self.texts)]

    # What users and jobs do

    @rule(shift=shifts, months=st.integers(0, 40))
    def upload(self, shift: int, months: int) -> None:
        start = date(2020, 1, 1) + timedelta(days=31 * months)
        try:
            revision, _ = self.wait(
                self.registry.create_revision(SOURCE, version_label="v", effective_from=start, file_path="/f.pdf")
            )
        except RevisionOverlapError:
            return
        self.write(revision.revision_id, shift)

    @rule(number=picks, shift=shifts)
    def replace(self, number: int, shift: int) -> None:
        revision_id = self.pick(number)
        self.wait(
            self.registry.begin_replace(
                SOURCE, revision_id, "job", file_path="/g.pdf", file_size_bytes=1, version_label="w", notes=None
            )
        )
        self.write(revision_id, shift, "job")

    @rule(number=picks)
    def reindex(self, number: int) -> None:
        revision_id = self.pick(number)
        self.wait(self.registry.begin_reindex(SOURCE, revision_id, "job"))
        self.write(revision_id, self.texts[revision_id], "job")

    @rule(number=picks)
    def delete_and_restore(self, number: int) -> None:
        revision_id = self.pick(number)
        try:
            self.wait(self.registry.begin_delete(SOURCE, revision_id, restore_predecessor=True))
        except CannotDeleteSoleRevisionError:
            return
        self.wait(self.knowledge.remove(SOURCE, revision_id))
        self.wait(self.registry.delete_revision(SOURCE, revision_id))
        del self.texts[revision_id]
        self.choices = {key: value for key, value in self.choices.items() if key[0] != revision_id}

    @rule(number=picks, name=names)
    def confirm(self, number: int, name: str) -> None:
        revision_id = self.pick(number)
        self.wait(self.knowledge.placer.bring_up_to_date(SOURCE))
        try:
            placed = self.wait(self.placements.confirm(SOURCE, revision_id, name))
        except InvalidInput:  # there is no section to confirm
            assert self.choices.get((revision_id, name)) is None
            return
        self.choices[revision_id, name] = placed.section_ref

    @rule(number=picks, name=names, other=st.none() | names)
    def correct(self, number: int, name: str, other: str | None) -> None:
        revision_id = self.pick(number)
        self.wait(self.knowledge.placer.bring_up_to_date(SOURCE))
        section = None if other is None else self.section(revision_id, other)
        self.wait(self.placements.set_section(SOURCE, revision_id, name, section))
        self.choices[revision_id, name] = section

    @rule(number=picks, name=names)
    def take_back(self, number: int, name: str) -> None:
        revision_id = self.pick(number)
        self.wait(self.placements.forget_choice(SOURCE, revision_id, name))
        self.choices.pop((revision_id, name), None)

    @rule(number=picks, between=st.booleans())
    def crash(self, number: int, between: bool) -> None:
        """All that was only in memory is gone: after a text was swapped and recorded, and before it was searched."""
        if between:
            self.replace(number, (self.texts[self.pick(number)] + 7) % 30)
        self.knowledge.close()
        self.open()

    # Steps that the rules share

    def section(self, revision_id: str, name: str) -> str:
        return f"Policy {1 + self.texts[revision_id] + NAMES.index(name)}"

    def write(self, revision_id: str, shift: int, job_id: str | None = None) -> None:
        self.texts[revision_id] = shift
        policy = self.wait(self.registry.get_policy(SOURCE))
        revision = policy.revision(revision_id)
        assert revision is not None
        shared = revision_metadata(policy, revision)
        texts = [SENTENCES[name] for name in NAMES]
        vectors = WordVectors().embed_batch(texts)
        passages = [
            Passage(
                id=passage_id(SOURCE, revision_id, self.section(revision_id, name), n),
                document_id=revision_id,
                seq=n,
                text=text,
                metadata={
                    **shared,
                    "section_ref": self.section(revision_id, name),
                    "page_number": n + 1,
                    "chunk_index": n,
                },
                vector=vectors[n],
                start=1000 * n,
                end=1000 * n + len(text),
            )
            for n, (name, text) in enumerate(zip(NAMES, texts, strict=True))
        ]
        self.knowledge.passages.replace_revision(revision_id, passages)
        self.wait(self.registry.mark_active(SOURCE, revision_id, chunk_count=4, page_count=4, job_id=job_id))

    # What must hold after each of them

    @invariant()
    def every_revision_has_every_provision_and_every_choice(self) -> None:
        policy = self.wait(self.registry.get_policy(SOURCE))
        placed = self.wait(self.knowledge.placer.current(policy))
        assert {p.revision.revision_id for p in placed} == set(self.texts)
        for one in placed:
            assert one.current
            assert {p.provision.id for p in one.placements} == {p.id for p in provisions_of(policy)} == set(NAMES)
            for placement in one.placements:
                self.check(one.revision.revision_id, placement.provision.id, placement)

    def check(self, revision_id: str, name: str, placement: Any) -> None:
        here = {self.section(revision_id, other) for other in NAMES}
        if (revision_id, name) not in self.choices:
            assert placement.section_ref == self.section(revision_id, name)
            assert placement.status in (PlacementStatus.FOUND, PlacementStatus.TO_BE_CONFIRMED)
            return
        chosen = self.choices[revision_id, name]
        if chosen is None:
            assert placement.status is PlacementStatus.NOT_STATED
        elif chosen in here:
            assert (placement.status, placement.section_ref) == (PlacementStatus.CONFIRMED, chosen)
        else:  # a replacement has other numbers: asked again, and what was said is still shown
            assert placement.status is PlacementStatus.TO_BE_CONFIRMED
            assert chosen in placement.note


def _run(redis_url: str, examples: int, steps: int, *, the_same: bool = False) -> None:
    PlacementMachine.redis_url = redis_url
    run_state_machine_as_test(
        PlacementMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=not the_same,
            derandomize=the_same,
        ),
    )


def test_a_short_random_history_keeps_every_provision_and_every_choice(clean_redis_url: str) -> None:
    _run(clean_redis_url, examples=3, steps=5, the_same=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_long_random_histories_keep_every_provision_and_every_choice(clean_redis_url: str) -> None:
    _run(clean_redis_url, examples=40, steps=30)
