"""Resources of the pages besides the API's services: opened when first needed, closed with the application."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from trigpoint.config import Settings
from trigpoint.errors import TrigpointError

log = logging.getLogger(__name__)

T = TypeVar("T")

_LISTING_SECONDS = 10.0
_OUTSIDE_SECONDS = 60.0
_MODEL_SECONDS = 600.0  # each answer of the model is paid for
_PARTS_SECONDS = 3.0
_GRAPH_SECONDS = 15.0


class _LatestResults:
    """The latest results of slow work; thread-safe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[tuple[object, ...], Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                kept: T = self._values[key]
                return kept
        made = make()
        with self._lock:
            self._values[key] = made
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return made


class Shared:
    """Answers that are the same for everybody within a few seconds: asked for once, even if several ask meanwhile."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._answers: dict[str, tuple[float, asyncio.Task[Any]]] = {}

    async def get(self, key: str, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        now = asyncio.get_running_loop().time()
        self._answers = {name: kept for name, kept in self._answers.items() if kept[0] > now}
        if key not in self._answers:
            task = asyncio.ensure_future(ask())
            self._answers[key] = now + self._seconds, task
            task.add_done_callback(lambda done: self._forget_failure(key, done))
        answer: T = await asyncio.shield(self._answers[key][1])  # a caller that leaves does not end it for the others
        return answer

    def _forget_failure(self, key: str, done: asyncio.Task[Any]) -> None:
        if (done.cancelled() or done.exception() is not None) and self._answers.get(key, (0, None))[1] is done:
            del self._answers[key]


class Resources:
    """Reader processes, the graph's store, and whether the server is about to stop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.stopping = False
        self.pictures = _LatestResults(24)
        self.strips = _LatestResults(96)
        self.sections = _LatestResults(12)
        self.listings = Shared(_LISTING_SECONDS)
        self.outside = Shared(_OUTSIDE_SECONDS)
        self.model = Shared(_MODEL_SECONDS)
        self.parts = Shared(_PARTS_SECONDS)
        self._opened: dict[str, Any] = {}
        self._graph_filled = False
        self._graph_seen_at = -_GRAPH_SECONDS
        self._lock = threading.Lock()

    def renderer(self) -> Any:
        from trigpoint.text.picture import PageRenderer

        return self._open("renderer", lambda: PageRenderer(self.settings))

    def processor(self) -> Any:
        from trigpoint.text.extract import DocumentProcessor

        return self._open("processor", lambda: DocumentProcessor(self.settings))

    def reader(self) -> Any:
        from trigpoint.api.web.library_reading import LibraryReader

        return self._open("reader", lambda: LibraryReader(self.settings))

    def graph(self) -> Any:
        from trigpoint.graph.store import GraphStore

        return self._open("graph", lambda: GraphStore(self.settings))

    def graph_has_something(self) -> bool:
        """Return whether the graph is worth a link, as it was when last looked at; look again in the background."""
        now = time.monotonic()
        if now - self._graph_seen_at > _GRAPH_SECONDS and not self.stopping:
            self._graph_seen_at = now
            threading.Thread(target=self._look_at_graph, daemon=True).start()
        return self._graph_filled

    def _look_at_graph(self) -> None:
        from trigpoint.graph.inputs import PageRequest
        from trigpoint.graph.queries import has_entities, list_projects

        if self.stopping:
            return
        try:
            with self.graph().snapshot() as connection:
                projects = list_projects(connection, PageRequest(limit=100)).items
                self._graph_filled = any(has_entities(connection, project.id) for project in projects)
        except (TrigpointError, SQLAlchemyError, OSError) as error:
            log.info("the graph cannot be looked at: %s", error)

    def begin_stop(self) -> None:
        """Let streams end at their next step, so that stopping does not wait for open pages."""
        self.stopping = True

    def close(self) -> None:
        self.begin_stop()
        with self._lock:
            for opened in self._opened.values():
                opened.close()
            self._opened.clear()

    def _open(self, name: str, make: Callable[[], Any]) -> Any:
        with self._lock:
            if name not in self._opened:
                self._opened[name] = make()
            return self._opened[name]
