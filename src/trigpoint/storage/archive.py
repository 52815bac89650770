"""The archive of a backup: a tar, compressed by gzip or Zstandard, whole or not there, read by nobody else."""

from __future__ import annotations

import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from trigpoint.errors import BackupError

SUFFIXES = (".tar.zst", ".tar.gz", ".tgz", ".tar")


def check_suffix(path: Path) -> None:
    """Raise BackupError if the name does not tell the kind of archive."""
    if not path.name.endswith(SUFFIXES):
        raise BackupError(f"{path}: the name of a backup ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def pack(folder: Path, to: Path) -> None:
    """Pack everything below the folder. The archive is written under a temporary name, for its owner only (0600)."""
    handle, temporary = tempfile.mkstemp(dir=to.parent, prefix=f".{to.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            with _writer(file, to.name) as tar:
                for path in sorted(folder.rglob("*")):
                    tar.add(path, arcname=str(path.relative_to(folder)), recursive=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, to)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def unpack(archive: Path, to: Path) -> None:
    """Unpack an archive. Raises BackupError if it is not whole, has symbolic links, or paths that leave the folder."""
    try:
        with archive.open("rb") as file, _reader(file, archive.name) as tar:
            tar.extractall(to, filter=_without_links)  # noqa: S202  the filter is stricter than `data`
    except FileNotFoundError:
        raise BackupError(f"{archive}: there is no such file") from None
    except (tarfile.TarError, EOFError, OSError, ValueError, _zstd_error()) as error:
        raise BackupError(f"{archive} is not a complete backup ({error}). Nothing was changed") from None


def _without_links(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Return an archive's member. Raises TarError on a symbolic link: we pack none, and it could lead anywhere."""
    if member.issym():
        raise tarfile.TarError(f"{member.name} is a symbolic link")
    return tarfile.data_filter(member, folder)


@contextmanager
def _writer(file: IO[bytes], name: str) -> Iterator[tarfile.TarFile]:
    if name.endswith(".zst"):
        with _zstandard().ZstdCompressor(level=3).stream_writer(file, closefd=False) as packed:
            with tarfile.open(fileobj=packed, mode="w|") as tar:
                yield tar
        return
    if name.endswith(".tar"):
        with tarfile.open(fileobj=file, mode="w") as tar:
            yield tar
        return
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=5) as tar:
        yield tar


@contextmanager
def _reader(file: IO[bytes], name: str) -> Iterator[tarfile.TarFile]:
    if name.endswith(".zst"):
        with _zstandard().ZstdDecompressor().stream_reader(file) as packed:
            with tarfile.open(fileobj=packed, mode="r|") as tar:
                yield tar
        return
    with tarfile.open(fileobj=file, mode="r:*") as tar:
        yield tar


def _zstandard() -> Any:
    try:
        import zstandard
    except ImportError:
        raise BackupError("The package zstandard is not installed. Choose a name that ends in .tar.gz") from None
    return zstandard


def _zstd_error() -> type[Exception]:
    try:
        error: type[Exception] = _zstandard().ZstdError
    except BackupError:
        return EOFError
    return error
