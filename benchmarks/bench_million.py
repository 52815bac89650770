"""A library of 1,000,000 chunks: memory, opening, filters, writes, a lost index of words.

Runs if `BENCH_MILLION` names a folder. This is filled at the first run (some 15 minutes, 4 GB) and used again by the next.
Each part runs in a process of its own, so that its memory is its own. `BENCH_SCALE` below 1 is a try, not a measurement.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.report import Report, Row
from trigpoint.errors import LibraryTimeout
from trigpoint.library.chunks import RULES
from trigpoint.library.filters import Filters
from trigpoint.passages.deadline import Deadline
from trigpoint.passages.model import Passage, Question
from trigpoint.passages.sqlite import SqlitePassages, SqliteStores

CHUNKS = int(1_000_000 * float(os.environ.get("BENCH_SCALE", "1")))
BATCH, DOCUMENT, SECTION = 500, 50, 5  # chunks in a write, in a document, in a section
MODEL = "all-MiniLM-L6-v2"
WORDS = np.array([f"word{n}" for n in range(20_000)])


def batch(start: int) -> list[Passage]:
    """Made-up chunks: words as frequent as in a language, a vector each, a section for every five of them."""
    rng = np.random.default_rng(start)
    vectors = rng.standard_normal((BATCH, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    picks = rng.zipf(1.3, (BATCH, 120)) % len(WORDS)
    return [chunk(start + i, " ".join(WORDS[picks[i]]), vectors[i]) for i in range(BATCH)]


def chunk(number: int, text: str, vector: np.ndarray) -> Passage:
    document, seq = divmod(number, DOCUMENT)
    path = [f"Report {document}", f"Chapter {seq // SECTION}"]
    metadata = {
        "zotero": {"citekey": f"author{document}", "year": 1990 + document % 35, "tags": [f"tag{document % 40}"]},
        "doc": {"section_path": path, "page_span": [seq, seq + 1]},
    }
    return Passage(f"c{number}", f"d{document}", seq, text, metadata, vector)


def fill(folder: Path, report: Report) -> None:
    stores = SqliteStores(folder, RULES)
    store = stores.collection("bench")
    start = store.count()
    taken = [written(store, first) for first in range(start, CHUNKS, BATCH)]
    while store.lacks_words():
        time.sleep(1)
    stores.close()
    if start == 0:
        report.row("chunks written, words indexed", CHUNKS / sum(taken), "chunks/s")
        report.row("slowest write of 500 chunks", max(taken), "s", bar="<= 15")


def written(store: SqlitePassages, start: int) -> float:
    passages = batch(start)
    started = time.perf_counter()
    store.write(passages, model=MODEL)
    return time.perf_counter() - started


def asked(store: SqlitePassages, filters: Filters = Filters()) -> float:
    rng = np.random.default_rng()
    vector = rng.standard_normal(384).astype(np.float32)
    words = " ".join(WORDS[rng.zipf(1.3, 8) % len(WORDS)])
    started = time.perf_counter()
    found = store.search(Question(vector / np.linalg.norm(vector), 6, words, filters.where))
    assert found, filters
    return time.perf_counter() - started


def asked_within(store: SqlitePassages, seconds: float) -> float:
    """Return how long a search takes whose caller waits so long: it is answered, or told how far the loading is."""
    deadline = Deadline()
    clock = threading.Timer(seconds, deadline.expire)
    started = time.perf_counter()
    clock.start()
    try:
        with deadline.watching():
            asked(store)
    except LibraryTimeout:
        assert "is being loaded" in (deadline.excuse or "")
    finally:
        clock.cancel()
    return time.perf_counter() - started


def searches(folder: Path, report: Report) -> None:
    stores = SqliteStores(folder, RULES)
    store = stores.collection("bench")
    started = time.perf_counter()
    report.row("first search of 8 s, answered or told of the loading", asked_within(store, 8), "s", bar="<= 9")
    asked(store)
    report.row("loaded, and a search answered", time.perf_counter() - started, "s")
    report.row("memory after it", resident(), "MB")
    taken = sorted(asked(store) for _ in range(40))
    report.row("search p50", statistics.median(taken) * 1000, "ms")
    report.row("search p95", taken[37] * 1000, "ms")
    for name, filters in {
        "one document's sections": Filters(section_prefix=f"Report {CHUNKS // DOCUMENT - 1} / Ch"),
        "half of all sections": Filters(section_prefix="Report 1"),
        "a tag": Filters(tags=("tag7",)),
        "a year": Filters(year=2001),
    }.items():
        first, again = asked(store, filters), statistics.median(asked(store, filters) for _ in range(10))
        report.row(f"filter by {name}, first search", first * 1000, "ms", bar="<= 2000")
        report.row(f"filter by {name}, again", again * 1000, "ms")
    start = store.count()
    report.row("store 500 chunks, words indexed, most of 5", max(written(store, start + i * BATCH) for i in range(5)), "s", bar="<= 15")  # fmt: skip
    report.row("first search after a write", asked(store), "s")
    for number in range(start // DOCUMENT, store.count() // DOCUMENT):
        store.delete(f"d{number}")
    report.row("peak memory", peak(), "MB")
    stores.close()


def restored(folder: Path, report: Report) -> None:
    """Without its index of words, as after a restore: the first search goes on with vectors, and words come later."""
    shutil.rmtree(folder / "lexical")
    stores = SqliteStores(folder, RULES)
    store = stores.collection("bench")
    started = time.perf_counter()
    report.row("first search of 8 s without an index of words", asked_within(store, 8), "s", bar="<= 9")
    asked(store)
    report.row("loaded without an index of words, and a search answered", time.perf_counter() - started, "s")
    meanwhile = []
    while store.lacks_words():
        meanwhile.append(asked(store))
    if meanwhile:  # a try of a few thousand chunks is indexed at once
        report.row("search while words are indexed, p95", sorted(meanwhile)[len(meanwhile) * 95 // 100] * 1000, "ms")
    report.row("all words indexed again after", time.perf_counter() - started, "s")
    report.row("peak memory while indexing", peak(), "MB")
    stores.close()


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(report: Report) -> None:
    folder = os.environ.get("BENCH_MILLION")
    if folder is None:
        report.skip(f"a library of {CHUNKS:,} chunks: it takes long; BENCH_MILLION=FOLDER says where, and that it may")
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as in a server
    for part in (fill, searches, restored):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            report.rows += process.submit(rows_of, part, Path(folder)).result()


def rows_of(part: Callable[[Path, Report], None], folder: Path) -> list[Row]:
    report = Report(area="million")
    part(folder, report)
    return report.rows
