"""A reader process: takes one job at a time from its parent and sends back what it reads, page by page.

Started by `readers.py` as `python -m trigpoint.text.reader_process JOBS LIFELINE`. It holds what can crash, hang or
grow (PyMuPDF, Tesseract), so that the process that serves people does not. It never outlives its parent.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import sys
from multiprocessing.connection import Connection

from trigpoint.errors import TrigpointError

_IDLE_SECONDS = 300
_MEMORY_LIMIT = 4 << 30
_NICENESS = 5  # reading takes the time that is left over: whoever asks for a page or a status comes first


def _die_with_parent(lifeline: int) -> None:
    """Have the kernel kill this process (SIGIO, not handled) when the parent's end closes, even in a hung C call."""
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        if os.read(lifeline, 1) == b"":  # closed before we were listening
            os._exit(0)


def _limit_memory() -> None:
    """Limit this process's memory, so that a page that wants more fails alone instead of taking the machine down."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _MEMORY_LIMIT if hard == resource.RLIM_INFINITY else min(_MEMORY_LIMIT, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _serve(jobs: Connection) -> None:
    """Run jobs, which are (name, arguments) of `extract.READERS`.

    Answers are ("item", value)…, then ("end",) or ("error", …).
    """
    from trigpoint.text.extract import READERS

    while jobs.poll(_IDLE_SECONDS):
        name, arguments = jobs.recv()
        try:
            for item in READERS[name](**arguments):
                jobs.send(("item", item))
            jobs.send(("end",))
        except TrigpointError as error:
            jobs.send(("error", type(error).__name__, error.message))
        except MemoryError:
            jobs.send(("error", "ExtractionFailed", f"more than {_MEMORY_LIMIT >> 30} GiB of memory would be needed"))
        except Exception as error:
            jobs.send(("error", "ExtractionFailed", f"{type(error).__name__}: {error}"))


def main() -> None:
    _die_with_parent(int(sys.argv[2]))
    _limit_memory()
    os.nice(_NICENESS)
    os.environ.setdefault("OMP_THREAD_LIMIT", "1")
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        _serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()
