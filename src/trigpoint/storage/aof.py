"""Valkey's log of changes (its append-only file): finds how much of it is intact, and cuts off the rest."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

MANIFEST = "appendonly.aof.manifest"
_LISTED = re.compile(r"^file (\S+) seq \d+ type ([bih])", re.MULTILINE)
_NUMBERED = re.compile(r"appendonly\.aof\.(\d+)\.(base|incr)\.(?:aof|rdb)")
_KEY = re.compile(rb"\r\n\$\d+\r\n([a-z_]{2,40}):[^\r\n]{1,200}(?=\r\n)")
_LONGEST_HEADER = 32


@dataclass(frozen=True)
class BrokenLog:
    """A file of the log that is damaged in the middle: everything up to `whole` can be kept."""

    path: Path
    size: int
    whole: int
    later: tuple[Path, ...]  # files of the log that come after it

    @property
    def cut(self) -> int:
        return self.size - self.whole + sum(path.stat().st_size for path in self.later)

    def lost_kinds(self) -> dict[str, int]:
        """Return of which kinds of records (the first word of their keys) changes are cut, and how many records."""
        with self.path.open("rb") as file:
            file.seek(self.whole)
            rest = b"".join([file.read(), *(path.read_bytes() for path in self.later)])
        keys = {match[0]: match[1].decode() for match in _KEY.finditer(rest)}
        return dict(Counter(keys.values()).most_common())


def list_problem(folder: Path) -> str | None:
    """Return what is wrong with the list of the log's files. Without a list, Valkey begins anew and overwrites them."""
    manifest = folder / "appendonlydir" / MANIFEST
    if not manifest.is_file():
        lost = any(path.stat().st_size for path in _numbered(folder, "incr"))  # else it died in its first moments
        return "it is missing" if lost else None
    lines = manifest.read_text(errors="replace").splitlines()
    if not any(map(_LISTED.match, lines)) or not all(map(_LISTED.match, lines)):
        return "it cannot be read"
    named = [match[1] for line in lines if (match := _LISTED.match(line)) and match[2] != "h"]
    missing = [name for name in named if not (manifest.parent / name).is_file()]
    return f"{missing[0]} is missing" if missing else None


def rebuild_list(folder: Path) -> bool:
    """List the files that are there. False: there is no snapshot to begin with, or more than one, and nothing was changed."""
    bases, changes = _numbered(folder, "base"), _numbered(folder, "incr")
    if len(bases) != 1:
        return False
    lines = [f"file {path.name} seq {path.name.split('.')[2]} type b" for path in bases]
    lines += [f"file {path.name} seq {path.name.split('.')[2]} type i" for path in changes]
    (folder / "appendonlydir" / MANIFEST).write_text("".join(f"{line}\n" for line in lines))
    return True


def _numbered(folder: Path, kind: str) -> list[Path]:
    """Return the files of the log of one kind, the oldest first."""
    found = [(path, _NUMBERED.fullmatch(path.name)) for path in (folder / "appendonlydir").glob("appendonly.aof.*")]
    return [path for _, path in sorted((int(match[1]), path) for path, match in found if match and match[2] == kind)]


def find_break(folder: Path) -> BrokenLog | None:
    """Return where the log in a Valkey folder is damaged; None if it is whole, or only its end was cut off by a crash."""
    files = [path for kind, path in _files_in_manifest(folder) if kind == "i"]
    for number, path in enumerate(files):
        whole, ended = _whole_until(path)
        if not ended:
            return BrokenLog(path, path.stat().st_size, whole, tuple(files[number + 1 :]))
    return None


def cut_off(broken: BrokenLog) -> None:
    """Keep what comes before the damage. The state is then that of an earlier moment, as a power cut would leave it."""
    for path in broken.later:
        path.write_bytes(b"")
    with broken.path.open("r+b") as file:
        file.truncate(broken.whole)


def base_is_damaged(folder: Path, binary: Path) -> Path | None:
    """Return the snapshot that the log begins with if it is damaged, which cannot be repaired; else None."""
    for path in (path for kind, path in _files_in_manifest(folder) if kind == "b"):
        command = ["valkey-check-rdb", str(path)]  # the server's binary acts as that tool under this name
        if subprocess.run(command, executable=binary, capture_output=True, timeout=600).returncode != 0:
            return path
    return None


def _files_in_manifest(folder: Path) -> list[tuple[str, Path]]:
    manifest = folder / "appendonlydir" / MANIFEST
    if not manifest.is_file():
        return []
    named = [(match[2], manifest.parent / match[1]) for match in _LISTED.finditer(manifest.read_text(errors="replace"))]
    return [(kind, path) for kind, path in named if path.is_file()]


def _whole_until(path: Path) -> tuple[int, bool]:
    """Return the end of the last whole change, and whether the file is well-formed to its end.

    A transaction is one change. One that is merely unfinished at the end is what every crash may leave.
    """
    whole, in_transaction = 0, False
    with path.open("rb") as file:
        try:
            for command in _commands(file):
                if command == b"multi":
                    in_transaction = True
                elif command == b"exec":
                    in_transaction = False
                if not in_transaction:
                    whole = file.tell()
        except EOFError:
            return whole, True
        except ValueError:
            return whole, False
    return whole, True


def _commands(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the name of each command. Raises ValueError if the file is malformed, EOFError if it ends within one."""
    while first := file.read(1):
        if first == b"#":  # a remark, such as a time
            if not file.readline().endswith(b"\n"):
                raise EOFError
            continue
        if first != b"*":
            raise ValueError
        words = [_bulk(file) for _ in range(_number(file))]
        yield words[0].lower() if words else b""


def _bulk(file: IO[bytes]) -> bytes:
    mark = file.read(1)
    if not mark:
        raise EOFError
    if mark != b"$":
        raise ValueError
    size = _number(file)
    if size > os.fstat(file.fileno()).st_size - file.tell() - 2:
        raise EOFError
    content = file.read(size + 2)
    if not content.endswith(b"\r\n"):
        raise ValueError
    return content[:-2]


def _number(file: IO[bytes]) -> int:
    line = file.readline(_LONGEST_HEADER)
    digits = line.rstrip(b"\r\n")
    if digits and not digits.isdigit():
        raise ValueError
    if not line.endswith(b"\r\n"):
        raise EOFError
    return int(digits)
