"""Letters in versions: every save is kept, also of two writers at once, and all go with their review."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from redis.asyncio import Redis
from watched_pipeline import RESULT

from trigpoint.errors import LetterChanged, LetterVersionNotFound, ReviewNotFound
from trigpoint.ids import new_review_id
from trigpoint.jobs.letters import MOST_VERSIONS, Letters
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.letter import Ground, Letter


def letter(words: str) -> Letter:
    return Letter(stance="object", grounds=(Ground(id="a", text=words),))


@pytest.fixture
def letters(redis: Redis) -> Letters:
    return Letters(redis)


@pytest.fixture
async def review_id(reviews: Reviews) -> str:
    return (await reviews.create("25/01178/REM", None, None, request_id="-")).review_id


async def test_each_save_is_a_version_and_the_last_one_counts(letters: Letters, review_id: str) -> None:
    assert await letters.current(review_id) is None
    first = await letters.save(review_id, letter("One."), based_on=0)
    second = await letters.save(review_id, letter("Two."), based_on=first.row.version)
    assert (first.row.version, second.row.version, second.row.based_on) == (1, 2, 1)
    current = await letters.current(review_id)
    assert current == second
    assert (await letters.get(review_id, 1)).letter == letter("One.")
    rows = await letters.versions(review_id)
    assert [(row.version, row.current, row.aside) for row in rows] == [(2, True, False), (1, False, False)]


async def test_the_same_words_again_are_no_new_version(letters: Letters, review_id: str) -> None:
    await letters.save(review_id, letter("One."), based_on=0)
    again = await letters.save(review_id, letter("One."), based_on=0)  # the answer to the first was lost on its way
    assert again.row.version == 1
    assert len(await letters.versions(review_id)) == 1


async def test_a_save_over_a_newer_version_is_refused_and_both_are_kept(letters: Letters, review_id: str) -> None:
    await letters.save(review_id, letter("Ours."), based_on=0)
    await letters.save(review_id, letter("Theirs."), based_on=1)
    with pytest.raises(LetterChanged) as refusal:
        await letters.save(review_id, letter("Mine."), based_on=1)
    assert refusal.value.details | {"review_id": ""} == {"review_id": "", "current_version": 2, "kept_version": 3}
    current = await letters.current(review_id)
    assert current is not None
    assert current.letter == letter("Theirs.")
    kept = await letters.get(review_id, 3)
    assert (kept.letter, kept.row.aside, kept.row.current) == (letter("Mine."), True, False)
    chosen = await letters.save(review_id, kept.letter, based_on=2)
    assert (chosen.row.version, chosen.row.current) == (4, True)


async def test_a_letter_based_on_a_version_that_is_not_current_is_not_blamed_on_somebody_else(
    letters: Letters, review_id: str
) -> None:
    with pytest.raises(
        LetterChanged, match="Yours is based on version 7 of the letter, but the current one is version 0"
    ):
        await letters.save(review_id, letter("Ours."), based_on=7)


async def test_of_twenty_writers_at_once_one_wins_and_no_words_are_lost(letters: Letters, review_id: str) -> None:
    saves = (letters.save(review_id, letter(f"Writer {n}."), based_on=0) for n in range(20))
    outcomes = await asyncio.gather(*saves, return_exceptions=True)
    assert sum(isinstance(outcome, LetterChanged) for outcome in outcomes) == 19
    rows = await letters.versions(review_id)
    texts = {(await letters.get(review_id, row.version)).letter.grounds[0].text for row in rows}
    assert texts == {f"Writer {n}." for n in range(20)}
    assert sum(row.current for row in rows) == 1


async def test_old_versions_go_when_there_are_too_many(letters: Letters, review_id: str) -> None:
    for number in range(MOST_VERSIONS + 2):
        await letters.save(review_id, letter(f"{number}."), based_on=number)
    rows = await letters.versions(review_id)
    assert (len(rows), rows[-1].version) == (MOST_VERSIONS, 3)
    with pytest.raises(LetterVersionNotFound, match="has no version 1"):
        await letters.get(review_id, 1)


async def test_unknown_reviews_and_versions_are_named(letters: Letters, review_id: str) -> None:
    with pytest.raises(ReviewNotFound):
        await letters.save(new_review_id(), letter("One."), based_on=0)
    with pytest.raises(ReviewNotFound):
        await letters.current("../../etc")
    with pytest.raises(LetterVersionNotFound):
        await letters.get(review_id, 7)


async def test_letters_are_removed_with_their_review(
    letters: Letters, reviews: Reviews, review_id: str, redis: Redis
) -> None:
    lease = await Queue(redis).claim("test")
    assert lease is not None
    await reviews.start(lease)
    assert await reviews.complete(lease, "25/01178/REM", RESULT)
    await letters.save(review_id, letter("With an address."), based_on=0)
    assert await reviews.purge(timedelta(days=-1)) == 1
    assert [key async for key in redis.scan_iter(f"*{review_id}*")] == []
