"""Embedding: chunks a second alone and on all cores, beside sentence-transformers on the same texts; cold start.

sentence-transformers is no dependency: it is measured when this Python has it, or when BENCH_ST_PYTHON names one that does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.report import SHARED_DATA, Report
from trigpoint.config import load_settings
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import DIMENSIONS, WINDOW, EmbeddingService
from trigpoint.text.pages import Page

TEXTS = int(os.environ.get("BENCH_EMBED_TEXTS", "300"))
ROUNDS = 3

# VmHWM, and not getrusage: that one counts the memory of the process which forked this one
PEAK = """
def peak(pid="self"):
    lines = open(f"/proc/{pid}/status").read().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
"""

COLD_START = (
    PEAK
    + """
from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService
EmbeddingService(load_settings()).embed("Secure and covered cycle parking shall be provided for every dwelling.")
print(peak())
"""
)

ONE_PROCESS = """
import json, sys, time
from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService
texts = json.load(open(sys.argv[1]))[int(sys.argv[2])::int(sys.argv[3])]
service = EmbeddingService(load_settings())
service.embed(texts[0])
print("ready", flush=True)
sys.stdin.readline()
for text in texts:
    service.embed(text)
"""

# What the processor multiplies a second on one core, with nothing else to do: no embedding can be quicker than that.
BARE_PRODUCT = """
import time
import numpy
a = numpy.random.default_rng(1).random((1024, 1024), dtype=numpy.float32)
a @ a
done, start = 0, time.perf_counter()
while (taken := time.perf_counter() - start) < 2:
    a @ a
    done += 1
print(done * 2 * 1024**3 / taken)
"""
LAYERS, WIDTH, INNER = 6, DIMENSIONS, 4 * DIMENSIONS

REFERENCE = (
    PEAK
    + """
import json, sys, time
from sentence_transformers import SentenceTransformer
texts = json.load(open(sys.argv[1]))
model = SentenceTransformer(sys.argv[2], device="cpu")
model.encode(texts[:2])
start = time.perf_counter()
model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "megabytes": peak()}))
"""
)


def run(report: Report) -> None:
    texts = real_chunks()
    if not texts:
        report.skip(f"embedding speed: no real text at {SHARED_DATA} (set TRIGPOINT_TEST_DATA)")
        return
    service = EmbeddingService(load_settings())
    service.embed_batch(texts[:4])
    one = len(texts) / timed(lambda: [service.embed(text) for text in texts])
    report.row("one thread", one, "chunks/s")
    share = one * multiplications(service, texts) / len(texts) / bare_product()
    report.row("one thread, of the speed of a bare matrix product", 100 * share, "%")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        two_processes = len(texts) / seconds_of_processes(file, 2)
        ours, references = [], []
        for _ in range(ROUNDS):  # in turns, so that other work on the machine slows both alike
            ours.append(rate(service, texts))
            references.append(sentence_transformers(file, service.model_files().folder, report))
            if references[-1] is None:
                break
    all_cores = statistics.median(ours)
    report.row(f"all cores ({os.cpu_count()} threads)", all_cores, "chunks/s")
    report.row("two processes", two_processes, "chunks/s")
    measured = [reference for reference in references if reference is not None]
    if measured:
        theirs = [len(texts) / reference["seconds"] for reference in measured]
        report.row("sentence-transformers, same texts", statistics.median(theirs), "chunks/s")
        report.row("sentence-transformers, peak memory", max(one["megabytes"] for one in measured), "MB")
        times = statistics.median(our / their for our, their in zip(ours, theirs, strict=False))
        note = f"a bare matrix product would be {times / share:.2f}"
        report.row("times sentence-transformers", times, "x", bar=">= 1.9", note=note)
    cold_start(report)


def real_chunks() -> list[str]:
    """Chunks of the real NPPF, as they are stored."""
    path = SHARED_DATA / "policy" / "NPPF_December_2024.pdf"
    if not path.is_file():
        return []
    import pymupdf

    with pymupdf.open(path) as document:
        pages = [Page(number, page.get_text("text"), "text_layer") for number, page in enumerate(document, start=1)]
    return [chunk.text for chunk in TextChunker().chunk_pages(pages)][:TEXTS]


def multiplications(service: EmbeddingService, texts: list[str]) -> float:
    """Floating-point operations of the matrix products that the model is made of, for these texts."""
    lengths = [min(service.count_tokens(text), WINDOW) for text in texts]
    weights = 4 * WIDTH * WIDTH + 2 * WIDTH * INNER
    return sum(LAYERS * (2 * length * weights + 4 * length * length * WIDTH) for length in lengths)


def bare_product() -> float:
    alone = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-c", BARE_PRODUCT]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | alone).stdout)


def rate(service: EmbeddingService, texts: list[str]) -> float:
    return len(texts) / timed(lambda: service.embed_batch(texts))


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def seconds_of_processes(file: Path, count: int) -> float:
    """The time that so many processes take for the texts together, each with its share, from when all are ready."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", ONE_PROCESS, str(file), str(number), str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    start = time.perf_counter()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate()
    return time.perf_counter() - start


def sentence_transformers(file: Path, model: Path, report: Report) -> dict[str, float] | None:
    python = os.environ.get("BENCH_ST_PYTHON") or (
        sys.executable if importlib.util.find_spec("sentence_transformers") else None
    )
    if python is None:
        report.skip("sentence-transformers is not installed (BENCH_ST_PYTHON may name a Python that has it)")
        return None
    done = subprocess.run(
        [python, "-c", REFERENCE, str(file), str(model)],
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"HF_HUB_OFFLINE": "1"},
    )
    if done.returncode != 0:
        report.skip(f"sentence-transformers at BENCH_ST_PYTHON does not run: {done.stderr.strip().splitlines()[-1]}")
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def cold_start(report: Report) -> None:
    """From the start of a fresh Python to the first vector."""
    taken, memory = [], 0.0
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", COLD_START], capture_output=True, text=True, check=True)
        taken.append(time.perf_counter() - start)
        memory = float(done.stdout)
    report.row("cold start to first vector", statistics.median(taken), "s", bar="<= 1.5")
    report.row("memory after the first vector", memory, "MB")
