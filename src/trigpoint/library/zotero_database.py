"""Zotero's records from its local SQLite file, which is never written and may be in use.

A running Zotero may hold its database locked, and may keep its newest items in a write-ahead log next to it. So the file is
opened like any other database; if Zotero keeps us out, a copy is read, made at a moment when nothing was being written.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from trigpoint.errors import StoreUnavailable
from trigpoint.library.zotero import ZoteroCollection, ZoteroRecord

_LINK_MODES = {0: "imported_file", 1: "imported_url", 2: "linked_file", 3: "linked_url", 4: "embedded_image"}
_ANNOTATION_TYPES = {1: "highlight", 2: "note", 3: "image", 4: "ink", 5: "underline", 6: "text"}
_CACHE = ".zotero-ft-cache"
_COMPANIONS = ("-wal", "-journal")  # files that belong to the database while it is open
_COPY_TRIES = 20
_COPY_PAUSE_SECONDS = 0.25


class ZoteroDatabase:
    """`folder` is Zotero's data folder: `zotero.sqlite` and `storage/`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "zotero.sqlite"

    def collections(self) -> list[ZoteroCollection]:
        with self._open() as database:
            binned = _binned_collections(database)
            rows = database.execute(
                "select c.collectionID, c.key, c.collectionName, p.key from collections c "
                "left join collections p on p.collectionID = c.parentCollectionID order by c.collectionName, c.key"
            )
            return [ZoteroCollection(*row) for number, *row in rows if number not in binned]

    def records(self) -> list[ZoteroRecord]:
        with self._open() as database:
            return list(_records(database))

    def file_of(self, attachment: ZoteroRecord) -> Path | None:
        path = str(attachment.get("path") or "")
        if path.startswith("storage:"):
            return self._folder / "storage" / str(attachment["key"]) / Path(path.removeprefix("storage:")).name
        return Path(path) if path and Path(path).is_absolute() else None

    def cached_text(self, attachment_key: str) -> str | None:
        file = self._folder / "storage" / attachment_key / _CACHE
        return file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Yield everything that Zotero has committed, as of one moment. Raises StoreUnavailable."""
        if not self._file.is_file():
            raise StoreUnavailable(f"There is no zotero.sqlite in {self._folder}; name Zotero's data folder")
        with ExitStack() as stack:
            try:
                database = self._opened_in_place(stack) or self._opened_copy(stack)
                database.execute("begin")
                yield database
            except sqlite3.Error as error:
                raise StoreUnavailable(
                    f"{self._file} cannot be read ({error}). If Zotero is writing at this moment, try again"
                ) from error

    def _opened_in_place(self, stack: ExitStack) -> sqlite3.Connection | None:
        """Return a connection to the file itself; None while Zotero keeps others out of it."""
        uri = f"{self._file.absolute().as_uri()}?mode=ro"
        database = stack.enter_context(closing(sqlite3.connect(uri, uri=True, timeout=0.2, isolation_level=None)))
        try:
            database.execute("select count(*) from sqlite_master").fetchone()
        except sqlite3.OperationalError:
            return None
        return database

    def _opened_copy(self, stack: ExitStack) -> sqlite3.Connection:
        """Return a connection to a copy. SQLite brings it to the last committed state by the log that came with it."""
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trigpoint-zotero-")))
        for _ in range(_COPY_TRIES):
            before = self._states()
            for suffix in ("", *_COMPANIONS):
                _copy_if_there(Path(f"{self._file}{suffix}"), folder / f"{self._file.name}{suffix}")
            if before == self._states():
                break
            time.sleep(_COPY_PAUSE_SECONDS)
        else:
            raise StoreUnavailable(f"{self._file} is being written all the time. Let Zotero finish, and try again")
        return stack.enter_context(closing(sqlite3.connect(folder / self._file.name, isolation_level=None)))

    def _states(self) -> list[tuple[int, int] | None]:
        return [_file_sizes(Path(f"{self._file}{suffix}")) for suffix in ("", *_COMPANIONS)]


def _binned_collections(database: sqlite3.Connection) -> set[int]:
    """Return the ids of the collections in the bin; earlier Zoteros had no bin for them."""
    if not database.execute("select 1 from sqlite_master where name = 'deletedCollections'").fetchone():
        return set()
    return {number for (number,) in database.execute("select collectionID from deletedCollections")}


def _copy_if_there(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        target.unlink(missing_ok=True)


def _file_sizes(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_size


def _records(database: sqlite3.Connection) -> Iterator[ZoteroRecord]:
    records: dict[int, dict[str, Any]] = {}
    keys = dict(database.execute("select itemID, key from items"))
    for item_id, key, added, kind in database.execute(
        "select i.itemID, i.key, i.dateAdded, t.typeName from items i join itemTypes t on t.itemTypeID = i.itemTypeID "
        "where i.itemID not in (select itemID from deletedItems) "
        "and i.libraryID not in (select libraryID from libraries where type = 'feed') order by i.itemID"
    ):
        records[item_id] = {
            "key": key,
            "itemType": kind,
            "dateAdded": added,
            "creators": [],
            "tags": [],
            "collections": [],
        }
    for item_id, field, value in database.execute(
        "select d.itemID, f.fieldName, v.value from itemData d join fields f on f.fieldID = d.fieldID "
        "join itemDataValues v on v.valueID = d.valueID"
    ):
        if item_id in records:
            records[item_id][field] = value
    _add_lists(database, records)
    _add_children(database, records, keys)
    kept = {record["key"] for record in records.values()}
    for record in records.values():
        if record.get("parentItem") is None or record["parentItem"] in kept:  # children of a binned item are binned too
            yield record


def _add_lists(database: sqlite3.Connection, records: dict[int, dict[str, Any]]) -> None:
    for item_id, role, first, last, single in database.execute(
        "select ic.itemID, t.creatorType, c.firstName, c.lastName, c.fieldMode from itemCreators ic "
        "join creators c on c.creatorID = ic.creatorID "
        "join creatorTypes t on t.creatorTypeID = ic.creatorTypeID order by ic.itemID, ic.orderIndex"
    ):
        if item_id in records:
            name = {"name": last} if single else {"firstName": first, "lastName": last}
            records[item_id]["creators"].append({"creatorType": role, **name})
    for item_id, tag in database.execute(
        "select it.itemID, t.name from itemTags it join tags t on t.tagID = it.tagID order by it.itemID, t.name"
    ):
        if item_id in records:
            records[item_id]["tags"].append({"tag": tag})
    binned = _binned_collections(database)
    for item_id, number, key in database.execute(
        "select ci.itemID, c.collectionID, c.key from collectionItems ci "
        "join collections c on c.collectionID = ci.collectionID"
    ):
        if item_id in records and number not in binned:
            records[item_id]["collections"].append(key)


def _add_children(database: sqlite3.Connection, records: dict[int, dict[str, Any]], keys: dict[int, str]) -> None:
    for item_id, parent, mode, kind, path in database.execute(
        "select itemID, parentItemID, linkMode, contentType, path from itemAttachments"
    ):
        if item_id in records:
            records[item_id] |= {
                "parentItem": keys.get(parent),
                "linkMode": _LINK_MODES.get(mode),
                "contentType": kind,
                "path": path,
                "filename": str(path or "").removeprefix("storage:").rsplit("/", 1)[-1],
            }
    for item_id, parent, note in database.execute("select itemID, parentItemID, note from itemNotes"):
        if item_id in records:
            records[item_id]["note"] = note
            if records[item_id]["itemType"] == "note":  # the row of an attachment's own note names no parent
                records[item_id]["parentItem"] = keys.get(parent)
    for item_id, parent, kind, text, comment, colour, label, position in database.execute(
        "select itemID, parentItemID, type, text, comment, color, pageLabel, position from itemAnnotations"
    ):
        if item_id in records:
            records[item_id] |= {
                "parentItem": keys.get(parent),
                "annotationType": _ANNOTATION_TYPES.get(kind),
                "annotationText": text,
                "annotationComment": comment,
                "annotationColor": colour,
                "annotationPageLabel": label,
                "annotationPosition": position,
            }
