"""A small Zotero on disk, with Zotero's own tables, and a server that speaks its local API."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

# The tables that matter here, as Zotero 7 has them (userdata 121): names, columns, keys and what may not be null.
SCHEMA = """
create table version (schema text primary key, version int not null);
create table libraries (libraryID integer primary key, type text not null, editable int not null,
  filesEditable int not null, version int not null default 0, storageVersion int not null default 0,
  lastSync int not null default 0, archived int not null default 0);
create table groups (groupID integer primary key, libraryID int not null unique references libraries, name text not null,
  description text not null, version int not null);
create table feeds (libraryID integer primary key references libraries, name text not null, url text not null unique);
create table itemTypes (itemTypeID integer primary key, typeName text, templateItemTypeID int, display int default 1);
create table fields (fieldID integer primary key, fieldName text, fieldFormatID int);
create table fieldsCombined (fieldID int not null primary key, fieldName text not null, label text, fieldFormatID int,
  custom int not null);
create table items (itemID integer primary key, itemTypeID int not null,
  dateAdded timestamp not null default current_timestamp, dateModified timestamp not null default current_timestamp,
  clientDateModified timestamp not null default current_timestamp, libraryID int not null references libraries,
  key text not null, version int not null default 0, synced int not null default 0, unique (libraryID, key));
create table feedItems (itemID integer primary key references items, guid text not null unique);
create table itemDataValues (valueID integer primary key, value unique);
create table itemData (itemID int references items on delete cascade, fieldID int references fieldsCombined,
  valueID references itemDataValues, primary key (itemID, fieldID));
create table itemNotes (itemID integer primary key references items on delete cascade,
  parentItemID int references items on delete cascade, note text, title text);
create table charsets (charsetID integer primary key, charset text unique);
create table itemAttachments (itemID integer primary key references items on delete cascade,
  parentItemID int references items on delete cascade, linkMode int, contentType text,
  charsetID int references charsets on delete set null, path text, syncState int default 0, storageModTime int,
  storageHash text, lastProcessedModificationTime int);
create table itemAnnotations (itemID integer primary key references items on delete cascade,
  parentItemID int not null references itemAttachments, type integer not null, authorName text, text text, comment text,
  color text, pageLabel text, sortIndex text not null, position text not null, isExternal int not null);
create table tags (tagID integer primary key, name text not null unique);
create table itemTags (itemID int not null references items on delete cascade,
  tagID int not null references tags on delete cascade, type int not null, primary key (itemID, tagID));
create table creatorTypes (creatorTypeID integer primary key, creatorType text);
create table creators (creatorID integer primary key, firstName text, lastName text, fieldMode int,
  unique (lastName, firstName, fieldMode));
create table itemCreators (itemID int not null references items on delete cascade,
  creatorID int not null references creators on delete cascade,
  creatorTypeID int not null default 1 references creatorTypes, orderIndex int not null default 0,
  primary key (itemID, creatorID, creatorTypeID, orderIndex), unique (itemID, orderIndex));
create table collections (collectionID integer primary key, collectionName text not null,
  parentCollectionID int default null references collections on delete cascade,
  clientDateModified timestamp not null default current_timestamp, libraryID int not null references libraries,
  key text not null, version int not null default 0, synced int not null default 0, unique (libraryID, key));
create table collectionItems (collectionID int not null references collections on delete cascade,
  itemID int not null references items on delete cascade, orderIndex int not null default 0,
  primary key (collectionID, itemID));
create table deletedCollections (collectionID integer primary key references collections on delete cascade,
  dateDeleted default current_timestamp not null);
create table deletedItems (itemID integer primary key references items on delete cascade,
  dateDeleted default current_timestamp not null);
insert into version values ('userdata', 121), ('compatibility', 7);
insert into libraries (libraryID, type, editable, filesEditable) values (1, 'user', 1, 1), (2, 'group', 1, 1), (3, 'feed', 0, 0);
insert into groups values (777, 2, 'Reading group', '', 1);
insert into feeds values (3, 'News', 'https://news.test/feed');
insert into creatorTypes values (1, 'author'), (2, 'editor'), (3, 'cartographer');
pragma foreign_keys = on;
"""

CACHED = "Roads were laid where the ground allowed it, and the survey followed the roads for a hundred years."
PDF_TEXT = ["The first page speaks of beacons on the ridge.", "The second page speaks of pillars in the valley."]


class ZoteroFile:
    """Writes a database as Zotero would."""

    def __init__(self, folder: Path) -> None:
        (folder / "storage").mkdir(parents=True)
        self.folder = folder
        self.database = sqlite3.connect(folder / "zotero.sqlite")
        self.database.executescript(SCHEMA)
        self._types: dict[str, int] = {}
        self._fields: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._tags: dict[str, int] = {}
        self._people: dict[tuple[str, str], int] = {}

    def item(
        self,
        key: str,
        kind: str,
        *,
        library: int = 1,
        tags: tuple[str, ...] = (),
        authors: Any = (),
        role: int = 1,
        **fields: Any,
    ) -> int:
        kind_id = self._known(self._types, kind, "itemTypes", "typeName")
        item_id = self._insert("items", itemTypeID=kind_id, key=key, libraryID=library)
        for name, value in fields.items():
            value_id = self._known(self._values, value, "itemDataValues", "value")
            self._insert("itemData", itemID=item_id, fieldID=self._field(name), valueID=value_id)
        for tag in tags:
            self._insert("itemTags", itemID=item_id, tagID=self._known(self._tags, tag, "tags", "name"), type=0)
        for order, (first, last) in enumerate(authors):
            if (first, last) not in self._people:
                number = self._insert("creators", firstName=first, lastName=last, fieldMode=0 if first else 1)
                self._people[first, last] = number
            person = self._people[first, last]
            self._insert("itemCreators", itemID=item_id, creatorID=person, creatorTypeID=role, orderIndex=order)
        return item_id

    def _field(self, name: str) -> int:
        if name not in self._fields:
            self._fields[name] = self._insert("fields", fieldName=name)
            self._insert("fieldsCombined", fieldID=self._fields[name], fieldName=name, custom=0)
        return self._fields[name]

    def note(self, item_id: int, words: str, parent: int | None = None) -> None:
        """The note of an item of type note, or an attachment's own, whose row names no parent."""
        html = f'<div class="zotero-note znv1"><div data-schema-version="9"><p>{words}</p></div></div>'
        self._insert("itemNotes", itemID=item_id, parentItemID=parent, note=html, title=words)

    def attachment(self, key: str, parent: int | None, path: str, kind: str = "application/pdf") -> int:
        item_id = self.item(key, "attachment", title=path.removeprefix("storage:"))
        self._insert("itemAttachments", itemID=item_id, parentItemID=parent, linkMode=0, contentType=kind, path=path)
        (self.folder / "storage" / key).mkdir()
        return item_id

    def annotation(self, key: str, parent: int, page: int, label: str, text: str | None, comment: str | None) -> int:
        item_id = self.item(key, "annotation")
        position = json.dumps({"pageIndex": page - 1, "rects": [[1, 2, 3, 4]]})
        self._insert(
            "itemAnnotations",
            itemID=item_id,
            parentItemID=parent,
            type=1 if text else 2,
            text=text,
            comment=comment,
            color="#ffd400",
            pageLabel=label,
            sortIndex=f"{page - 1:05}|000000|00000",
            position=position,
            isExternal=0,
        )
        return item_id

    def collection(self, key: str, name: str, items: tuple[int, ...], parent: int | None = None) -> int:
        number = self._insert("collections", collectionName=name, parentCollectionID=parent, key=key, libraryID=1)
        for item_id in items:
            self._insert("collectionItems", collectionID=number, itemID=item_id, orderIndex=0)
        return number

    def bin(self, item_id: int) -> None:
        self._insert("deletedItems", itemID=item_id)

    def close(self) -> None:
        self.database.commit()
        self.database.close()

    def _known(self, seen: dict[str, int], name: str, table: str, column: str) -> int:
        if name not in seen:
            seen[name] = self._insert(table, **{column: name})
        return seen[name]

    def _insert(self, table: str, **values: Any) -> int:
        marks = ", ".join("?" * len(values))
        cursor = self.database.execute(
            f"insert into {table} ({', '.join(values)}) values ({marks})",
            tuple(values.values()),
        )
        return int(cursor.lastrowid or 0)


def make_zotero(folder: Path, make_pdf: Any) -> Path:
    """Three items: one with a PDF and annotations, one with the cached text alone, one in the bin."""
    made = ZoteroFile(folder)
    survey = made.item(
        "SURVEY01",
        "journalArticle",
        tags=("survey", "maps"),
        authors=[("Ada", "Ridge"), ("", "Ordnance Office")],
        title="Beacons and Pillars",
        date="2017-09-10 2017",
        DOI="10.1000/beacons",
        publicationTitle="Journal of Marks",
        citationKey="ridgeBeacons2017",
    )
    pdf = made.attachment("PDF00001", survey, "storage:Beacons & Pillars.pdf")
    make_pdf(folder / "storage" / "PDF00001" / "Beacons & Pillars.pdf", PDF_TEXT)
    made.annotation("ANNO0001", pdf, 2, "xii", "pillars in the valley", "Compare with the roads.")
    made.annotation("ANNO0002", pdf, 1, "xi", None, "A note without a quotation.")
    roads = made.item("ROADS001", "book", title="Roads", date="1999", extra="Some: thing\nCitation Key: roads1999")
    made.attachment("CACHE001", roads, "storage:gone.pdf")
    (folder / "storage" / "CACHE001" / ".zotero-ft-cache").write_text(CACHED)
    binned = made.item("BINNED01", "book", title="Binned")
    made.bin(binned)
    made.attachment("PDF00009", binned, "storage:binned.pdf")
    top = made.collection("COLLTOP1", "Surveying", (roads,))
    made.collection("COLLSUB1", "Beacons", (survey,), parent=top)
    made.close()
    return folder


def count_rows(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as database:
        return int(database.execute("select count(*) from items").fetchone()[0])


class LocalApi:
    """An ASGI app that answers as Zotero's local API does: pages of items, with a `Link` header to the next."""

    def __init__(self, items: list[dict[str, Any]], collections: list[dict[str, Any]], texts: dict[str, str]) -> None:
        self.items, self.collections, self.texts = items, collections, texts
        self.page_size = 2
        self.requests: list[str] = []
        self.times: list[float] = []
        self.keys: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            message = await receive()
            while message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
                message = await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        path, query = scope["path"], parse_qs(scope["query_string"].decode())
        host = dict(scope["headers"])[b"host"].decode()
        self.requests.append(f"{path}?{scope['query_string'].decode()}")
        self.times.append(time.monotonic())
        self.keys.append(dict(scope["headers"]).get(b"authorization", b"").decode())
        status, body, headers = self.answer(path, query, host)
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        base = [(b"content-type", b"application/json"), (b"zotero-api-version", b"3")]
        await send({"type": "http.response.start", "status": status, "headers": base + headers})
        await send({"type": "http.response.body", "body": data})

    def answer(self, path: str, query: Any, host: str) -> tuple[int, Any, list[tuple[bytes, bytes]]]:
        if path.endswith("/fulltext"):
            key = path.split("/")[-2]
            return (200, {"content": self.texts[key]}, []) if key in self.texts else (404, "Not found", [])
        rows = self.collections if urlsplit(path).path.endswith("/collections") else self.items
        start = int(query.get("start", ["0"])[0])
        stop = start + self.page_size
        headers = [(b"total-results", str(len(rows)).encode())]
        if stop < len(rows):
            address = f"http://{host}{path}?start={stop}&limit={self.page_size}"
            headers.append((b"link", f'<{address}>; rel="next"'.encode()))
        return 200, rows[start:stop], headers


Answer = tuple[int, Any, list[tuple[bytes, bytes]]]


class UnrulyApi(LocalApi):
    """The same on a bad day: `trouble` is asked first what to answer, and may leave it to the others by None."""

    def __init__(self, items: list[dict[str, Any]], trouble: Callable[[UnrulyApi, str, int], Answer | None]) -> None:
        super().__init__(items, [], {})
        self.trouble, self.version = trouble, 100

    def answer(self, path: str, query: Any, host: str) -> Answer:
        start = int(query.get("start", ["0"])[0])
        troubled = self.trouble(self, path, start)
        status, body, headers = troubled or super().answer(path, query, host)
        return status, body, [*headers, (b"last-modified-version", str(self.version).encode())]
