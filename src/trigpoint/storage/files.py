"""Files: folders that can be written, names that cannot leave theirs, writes that are whole or not there, hashes."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
import unicodedata
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import ConfigurationError, UnsafePath, shorten

_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.ASCII)
_UNSAFE = re.compile(r"[^\w.()&+,=@ -]", re.UNICODE)
_UMASK = os.umask(0o022)
os.umask(_UMASK)
_LONGEST_NAME = 150  # bytes; leaves room for temporary and numbering suffixes below the usual 255


def data_folder(settings: Settings, *parts: str, mode: int = 0o777) -> Path:
    """Return a folder below the data folder, ready to be written.

    Raises ConfigurationError, naming folder and variable.
    """
    folder = settings.data_dir.joinpath(*parts)
    try:
        make_writable(folder, mode=mode)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder cannot be written: {folder} ({reason(error)}). Choose another with TRIGPOINT_DATA_DIR"
        ) from None
    return folder


def make_writable(folder: Path, *, mode: int = 0o777) -> None:
    """Create the folder if it is missing, and try it out. Raises OSError if no file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
    with tempfile.TemporaryFile(dir=folder):
        pass


def reason(error: OSError) -> str:
    """Return why the system refused, in its own words, without the number and the path."""
    number = error.errno or 0  # below 0: a host name that was not found, which comes with its own words
    return os.strerror(number).lower() if number > 0 else str(error.strerror or error)


def safe_name(name: str, *, fallback: str = "document") -> str:
    """Return one path component made of a name from outside: never a path, never hidden, reserved or too long."""
    text = unicodedata.normalize("NFC", name.replace("\\", "/").rsplit("/", 1)[-1])
    text = _UNSAFE.sub("_", text).strip(" .")
    if not text.strip("_"):
        text = fallback
    if _RESERVED.fullmatch(text):
        text = f"_{text}"
    stem, dot, suffix = text.rpartition(".")
    if not dot or len(suffix.encode()) > 10:
        stem, suffix = text, ""
    room = _LONGEST_NAME - len(suffix.encode()) - 1
    stem = stem.encode()[:room].decode(errors="ignore").rstrip(" .") or fallback
    return f"{stem}.{suffix}" if suffix else stem


def inside(root: Path, *parts: str) -> Path:
    """Return a path below `root`, links resolved. Raises UnsafePath if it would leave it."""
    base = root.resolve()
    try:
        path = base.joinpath(*parts).resolve()
    except (OSError, ValueError):
        raise UnsafePath(f"'{shorten('/'.join(parts))}' is not a usable path") from None
    if path != base and base not in path.parents:
        raise UnsafePath(f"'{shorten('/'.join(parts))}' would leave the folder {base}")
    return path


def write_atomic(path: Path, content: bytes) -> None:
    """Write the whole file or none of it, even across a crash: to a temporary name, flushed, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_UMASK)  # what any other new file would have
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks of 8192 bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(8192):
            digest.update(block)
    return digest.hexdigest()
