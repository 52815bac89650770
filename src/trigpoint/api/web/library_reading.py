"""Reads files that were dropped on a page into the library, one project after the other, while the page watches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import TrigpointError
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.progress import Reached
from trigpoint.library.projects import Project
from trigpoint.storage.files import data_folder
from trigpoint.text.extract import DocumentProcessor

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ReadingProgress:
    """The progress of reading a project's files, and those that could not be read."""

    done: float = 0
    total: int = 0
    name: str = ""
    place: str = ""
    running: bool = True
    failures: tuple[str, ...] = ()


class LibraryReader:
    """Reads in its own thread. Files that a stop interrupts are read when somebody asks again: only whole files count."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="library")
        self._lock = threading.Lock()
        self._readings: dict[str, ReadingProgress] = {}
        self._closed = False

    def read(self, project: Project, paths: Sequence[Path]) -> None:
        """Queue files. Returns at once."""
        with self._lock:
            self._readings[project.id] = ReadingProgress(total=len(paths), name=paths[0].name if paths else "")
        self._pool.submit(self._run, project, paths)

    def state(self, project_id: str) -> ReadingProgress | None:
        with self._lock:
            return self._readings.get(project_id)

    def close(self) -> None:
        """Stop after the file that is being read."""
        self._closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, project: Project, paths: Sequence[Path]) -> None:
        failures: tuple[str, ...] = ()
        try:
            failures = self._ingest(project, paths)
        except TrigpointError as error:
            failures = (error.message,)
        except Exception:
            log.exception("the files of %s could not be read", project.id)
            failures = ("Something went wrong on our side. It has been logged.",)
        finally:
            self._tell(project, running=False, failures=failures)

    def _ingest(self, project: Project, paths: Sequence[Path]) -> tuple[str, ...]:
        audits = data_folder(self._settings, "library", "audit")
        failures: list[str] = []
        with closing(Library.open(self._settings)) as library, closing(DocumentProcessor(self._settings)) as processor:
            ingestion = Ingestion(library, project, processor, audits)
            for number, path in enumerate(paths):
                if self._closed:
                    return (*failures, "Stopped before the end. Press “Read” to continue.")
                self._tell(project, done=number, name=path.name, place="")
                for entry in ingestion.run([path], progress=self._follow(project, number)).entries:
                    failures += [f"{path.name}: {entry.reason}"] if entry.outcome == "failed" else []
            self._tell(project, done=len(paths))
        return tuple(failures)

    def _follow(self, project: Project, number: int) -> Callable[[Reached], None]:
        """Return what tells the place within the file of this number."""
        return lambda reached: self._tell(project, done=number + reached.done, place=reached.place)

    def _tell(self, project: Project, **changes: object) -> None:
        with self._lock:
            self._readings[project.id] = replace(self._readings[project.id], **changes)  # type: ignore[arg-type]
