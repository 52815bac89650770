"""The letters of reviews, in versions. Each save adds one; none is ever changed, so that two writers cannot lose each
other's words. A review's letters are removed with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from redis.asyncio import Redis

from trigpoint.dates import micro_timestamp, now
from trigpoint.errors import LetterChanged, LetterVersionNotFound
from trigpoint.jobs.reviews import check_id, missing
from trigpoint.jobs.scripts import Scripts, answered, require_written
from trigpoint.review.letter import Letter

MOST_VERSIONS = 300


@dataclass(frozen=True)
class VersionRow:
    """A version without its text. `aside`: it was saved while somebody else had saved another, and is kept next to it."""

    version: int
    saved_at: str
    based_on: int
    aside: bool
    current: bool


@dataclass(frozen=True)
class LetterVersion:
    """A saved letter."""

    row: VersionRow
    letter: Letter


class Letters:
    """The letters of all reviews on one Redis."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._run = Scripts(redis)

    async def save(self, review_id: str, letter: Letter, *, based_on: int) -> LetterVersion:
        """Keep a letter as a new version and return it; the same words again return the version that has them.

        `based_on` is the version that was changed, 0 for the first draft. Raises LetterChanged if somebody has saved since:
        the letter is kept all the same, and the error names both versions. Raises ReviewNotFound.
        """
        check_id(review_id)
        answer = await self._run(
            "letter_save", review_id, based_on, micro_timestamp(now()), letter.model_dump_json(), MOST_VERSIONS
        )
        if answer is None:
            raise missing(review_id)
        outcome, version, current = str(answer[0]), int(answer[1]), int(answer[2])
        await require_written(self._redis)
        if outcome == "aside":
            raise LetterChanged(
                f"{_difference(based_on, current)}. Nothing is lost: yours is kept as "
                f"version {version}. Compare the two, and save the one you want based on version {current}",
                review_id=review_id,
                current_version=current,
                kept_version=version,
            )
        return await self.get(review_id, version)

    async def get(self, review_id: str, version: int) -> LetterVersion:
        """Return one version. Raises LetterVersionNotFound."""
        check_id(review_id)
        names = ("current", f"letter:{version}", f"at:{version}", f"based_on:{version}", f"aside:{version}")
        async with answered(self._redis):
            current, letter, at, based_on, aside = await self._redis.hmget(_letter_key(review_id), list(names))  # type: ignore[misc]
        if letter is None:
            raise LetterVersionNotFound(
                f"The letter of review {review_id} has no version {version}", review_id=review_id, version=version
            )
        row = VersionRow(version, at, int(based_on), aside == "1", version == int(current or 0))
        return LetterVersion(row, Letter.model_validate_json(letter))

    async def current(self, review_id: str) -> LetterVersion | None:
        """Return the letter that counts, None if nobody has saved one."""
        check_id(review_id)
        async with answered(self._redis):
            version = await self._redis.hget(_letter_key(review_id), "current")  # type: ignore[misc]
        return await self.get(review_id, int(version)) if version else None

    async def versions(self, review_id: str) -> list[VersionRow]:
        """Return all versions, newest first."""
        check_id(review_id)
        async with answered(self._redis):
            names = [name for name in await self._redis.hkeys(_letter_key(review_id)) if not name.startswith("letter:")]  # type: ignore[misc]
            values = await self._redis.hmget(_letter_key(review_id), names) if names else []  # type: ignore[misc]
        known = dict(zip(names, values, strict=True))
        numbers = sorted((int(name.partition(":")[2]) for name in known if name.startswith("at:")), reverse=True)
        return [
            VersionRow(
                number,
                known[f"at:{number}"],
                int(known[f"based_on:{number}"]),
                known[f"aside:{number}"] == "1",
                number == int(known.get("current") or 0),
            )
            for number in numbers
        ]


def _difference(based_on: int, current: int) -> str:
    if based_on < current:
        return f"Version {current} of the letter was saved while you were writing"
    return f"Yours is based on version {based_on} of the letter, but the current one is version {current}"


def _letter_key(review_id: str) -> str:
    return f"review:{review_id}:letter"
