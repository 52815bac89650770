"""A watch: what fits it, what is kept, and that nothing is lost or fetched without being asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.demo.applications import sample_applications
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import SampleEntry
from trigpoint.errors import BotChallenge, InvalidInput, StoreError, UnknownAuthority, WatchBusy, WatchNotFound
from trigpoint.jobs.watching import keep_watching, look_where_due
from trigpoint.registers.models import Application
from trigpoint.watch.asking import asked_for
from trigpoint.watch.looking import OVERLAP, look
from trigpoint.watch.matching import fit_of, in_wards
from trigpoint.watch.models import Look, Watch
from trigpoint.watch.store import MOST_WATCHES, WatchStore

SINCE = date(2024, 1, 1)
SAMPLES = {one.reference: SampleEntry(one, ()) for one in sample_applications().values()}


@pytest.fixture
def portal() -> Iterator[DemoPortal]:
    with DemoPortal(SAMPLES) as running:
        yield running


@pytest.fixture
def settings(portal: DemoPortal, tmp_path: Path) -> Settings:
    return load_settings(
        trigpoint_data_dir=tmp_path / "data", cherwell_portal_url=portal.url, scraper_rate_limit=0.01, scraper_timeout=5
    )


@pytest.fixture
def store(settings: Settings) -> WatchStore:
    return WatchStore(settings)


@pytest.fixture
def added(settings: Settings, store: WatchStore) -> Callable[..., str]:
    def add(**looked_for: Any) -> str:
        return store.add(asked_for(settings, **{"since": SINCE, **looked_for})).watch.id

    return add


def watch(**looked_for: Any) -> Watch:
    return Watch(id="0" * 8, authority="cherwell", since=SINCE, created_at=datetime.now(UTC), **looked_for)


def proposal(text: str, **more: str) -> Application:
    return Application(reference="25/00001/F", proposal=text, **more)


# --- what fits


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Erection of 42 dwellings with access", "fits"),
        ("Outline application for up to 170 homes", "fits"),
        ("Erection of 9 dwellings", None),
        ("Erection of dwellings, all matters reserved", "not stated"),
        ("Two storey side extension", None),
        ("Felling of one oak", None),
        ("Erection of a warehouse (Use Class B8) of 12,500 sqm", None),
    ],
)
def test_a_smallest_number_of_homes(text: str, size: str | None) -> None:
    fit = fit_of(watch(min_dwellings=10), proposal(text))
    assert (fit.size if fit else None) == size


def test_either_size_is_enough() -> None:
    both = watch(min_dwellings=10, min_floorspace=1000)
    warehouse = fit_of(both, proposal("Erection of a warehouse (Use Class B8) of 12,500 sqm"))
    assert warehouse is not None
    assert (warehouse.size, warehouse.floorspace) == ("fits", 12_500)
    assert fit_of(both, proposal("A shop of 200 sqm")) is None


def test_words_are_whole_words_of_proposal_or_address_in_any_case() -> None:
    cycle = watch(words=("cycle  store", "Gavray"))
    assert fit_of(cycle, proposal("Removal of the Cycle\nStore"))
    assert fit_of(cycle, proposal("A house", address="Gavray Drive"))
    assert fit_of(cycle, proposal("A motorcycle stores", address="Gavrayside")) is None
    assert fit_of(watch(words=("a.b(",)), proposal("axb(")) is None


def test_wards_are_compared_whole() -> None:
    wanted = watch(wards=("Bicester West",))
    assert in_wards(wanted, "bicester west")
    assert in_wards(wanted, "Launton; Bicester West")
    assert not in_wards(wanted, "Bicester West And Beyond")
    assert not in_wards(wanted, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_dwellings": 0},
        {"min_floorspace": -5},
        {"words": ["x"]},
        {"wards": ["w" * 81]},
        {"since": date(2999, 1, 1)},
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], settings: Settings) -> None:
    with pytest.raises(InvalidInput):
        asked_for(settings, **wrong)


def test_only_registers_that_can_be_read_are_watched(settings: Settings) -> None:
    for authority in ("birmingham", "atlantis"):
        with pytest.raises(UnknownAuthority):
            asked_for(settings, authority)


# --- looking


async def test_nothing_is_asked_of_a_register_until_somebody_looks(
    portal: DemoPortal, settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    watch_id = added(min_dwellings=10)
    await keep_watching(settings)  # switched off: returns at once
    assert portal.seen == []
    seen = await look(settings, store, watch_id)
    assert {one.reference for one in seen.added} == {"25/01178/REM", "24/00633/F", "25/02034/F"}
    assert {one.dwellings for one in seen.added} == {200, 120, 84}
    assert seen.record == store.get(watch_id)


async def test_a_second_look_finds_nothing_new_and_keeps_what_people_marked(
    portal: DemoPortal, settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    watch_id = added(since=date(2025, 1, 1))
    await look(settings, store, watch_id)
    store.change(watch_id, lambda record: record.seen(frozenset({"25/02034/F"})))
    old = Look(at=datetime(2025, 7, 10, tzinfo=UTC), since=SINCE)
    store.change(watch_id, lambda record: record.model_copy(update={"last_good": old}))
    again = await look(settings, store, watch_id)
    assert again.added == ()
    assert again.record.last is not None
    assert again.record.last.since == date(2025, 7, 10) - OVERLAP
    assert {one.reference: one.new for one in again.record.sightings}["25/02034/F"] is False
    assert again.record.new_count == len(again.record.sightings) - 1


async def test_wards_that_the_list_does_not_tell_are_looked_up_once(
    portal: DemoPortal, settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    watch_id = added(wards=["Bicester West"])
    assert [one.reference for one in (await look(settings, store, watch_id)).added] == ["25/02034/F"]
    asked = sum("/Planning/Display" in one.target for one in portal.seen)
    assert asked == 4
    store.change(watch_id, lambda record: record.model_copy(update={"last_good": None}))
    await look(settings, store, watch_id)
    assert sum("Display/25/02034/F" in one.target for one in portal.seen) == 1


async def test_a_challenge_is_kept_with_its_link_and_earlier_sightings_stay(
    portal: DemoPortal, settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    watch_id = added()
    await look(settings, store, watch_id)
    portal.faults.replace([Fault(kind="challenge", times=None)])
    with pytest.raises(BotChallenge):
        await look(settings, store, watch_id)
    record = store.get(watch_id)
    assert len(record.sightings) == 4
    assert record.last is not None
    assert record.last.problem is not None
    assert "review them from a folder" in record.last.problem
    assert str(record.last.link).startswith(portal.url)
    assert record.last_good is not None
    assert record.last_good.problem is None


async def test_two_looks_at_once_are_refused(settings: Settings, store: WatchStore, added: Callable[..., str]) -> None:
    watch_id = added()
    with store.looking(watch_id), pytest.raises(WatchBusy, match="already"):
        await look(settings, store, watch_id)


async def test_the_worker_looks_where_it_is_due_and_a_problem_stops_no_other(
    portal: DemoPortal, settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    first, second = added(), added(words=["depot"])
    portal.faults.replace([Fault(kind="strange", match="Advanced", times=1)])
    await look_where_due(settings, timedelta(hours=6))
    problems = [record.last.problem for record in store.all().records if record.last]
    assert [bool(problem) for problem in problems] == [True, False]
    asked = len(portal.seen)
    await look_where_due(settings, timedelta(hours=6))
    assert len(portal.seen) == asked
    assert {first, second} == {record.watch.id for record in store.all().records}


# --- keeping


def test_a_kill_while_writing_leaves_the_whole_record(
    settings: Settings, store: WatchStore, added: Callable[..., str], tmp_path: Path
) -> None:
    watch_id = added(words=["homes"])
    program = (
        "import os, sys\n"
        "from trigpoint.config import load_settings\n"
        "from trigpoint.watch.store import WatchStore\n"
        "step = os.replace if sys.argv[2] == 'replace' else os.fsync\n"
        "setattr(os, sys.argv[2], lambda *a: os._exit(9))\n"
        "WatchStore(load_settings()).change(sys.argv[1], lambda record: record.seen())\n"
    )
    before = store.get(watch_id)
    for step in ("fsync", "replace"):
        environment = os.environ | {"TRIGPOINT_DATA_DIR": str(tmp_path / "data")}
        killed = subprocess.run([sys.executable, "-c", program, watch_id, step], env=environment, timeout=300)
        assert killed.returncode == 9
        assert store.get(watch_id) == before
    assert store.change(watch_id, lambda record: record.seen()).watch == before.watch  # the lock died with its holder


def test_a_file_that_cannot_be_read_is_named_and_hides_no_other(
    settings: Settings, store: WatchStore, added: Callable[..., str]
) -> None:
    good, bad = added(), added()
    path = settings.data_dir / "watches" / f"{bad}.json"
    path.write_bytes(path.read_bytes()[:40])
    kept = store.all()
    assert [record.watch.id for record in kept.records] == [good]
    assert kept.unreadable == (path.name,)
    with pytest.raises(StoreError, match="restore it from a backup"):
        store.get(bad)
    assert json.loads((settings.data_dir / "watches" / f"{good}.json").read_text())["version"] == 1


@pytest.mark.parametrize("name", ["", "../x", "a" * 8 + "/..", "ABCDEF01", "0" * 9])
def test_no_name_of_a_watch_leaves_the_folder(name: str, store: WatchStore) -> None:
    with pytest.raises(InvalidInput, match="not the id of a watch"):
        store.get(name)


def test_removing_and_too_many(store: WatchStore, added: Callable[..., str]) -> None:
    for _ in range(MOST_WATCHES):
        watch_id = added()
    with pytest.raises(InvalidInput, match="Remove one first"):
        added()
    store.remove(watch_id)
    with pytest.raises(WatchNotFound):
        store.get(watch_id)
    added()
