"""The journal of a run in progress: one line a finished case, on the disk as soon as it ends.

It is what a crash leaves, and what a run is resumed from. The first line says what the run was
asked to do, each further line is one trace. Lines are ASCII, so that every character that a model
or a server sent survives. One session at a time writes in a folder; the system lets go of the lock
when the process ends, however it ends.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from types import TracebackType

from fc_eval.errors import ArtifactError
from fc_eval.files import (
    JOURNAL,
    LOCAL_DISK,
    RUNS_FOLDER,
    Redact,
    as_it_is,
    check_record,
    decode_json,
    raise_write_error,
    read_bytes,
    writable_json,
)
from fc_eval.records.codec import JsonValue, Plain, canonical, check_schema
from fc_eval.records.run import Harness, InputHashes, RawRunV1, Selection, Status, Trace

JOURNAL_SCHEMA = "JournalV1"
TRACE_SCHEMA = "TraceV1"
SYNC_EVERY_S = 0.5
"""A line reaches the system at once and the disk at the latest with a line this much later: a
killed process loses nothing, a power cut the cases of half a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader(Plain):
    """What a run was asked to do: all that a resumed session has to find unchanged."""

    schema: str = JOURNAL_SCHEMA
    run_id: str
    started_at: str
    harness: Harness
    model: Mapping[str, JsonValue]
    input_hashes: InputHashes
    selection: Selection
    repeats: int

    def to_run(self, traces: Iterable[Trace], *, finished_at: str | None) -> RawRunV1:
        """The raw run of *traces*, in the order of the selection and of the repeats.

        It is complete where every selected case has as many runs as were asked for, or was
        skipped.
        """
        place = {case_id: number for number, case_id in enumerate(self.selection.case_ids)}
        ordered = sorted(traces, key=lambda trace: (place[trace.case_id], trace.repeat))
        runs = dict.fromkeys(place, 0)
        for trace in ordered:
            skipped = trace.status is Status.SKIPPED
            runs[trace.case_id] += self.repeats if skipped else 1
        return RawRunV1(
            run_id=self.run_id,
            started_at=self.started_at,
            finished_at=finished_at,
            complete=all(count >= self.repeats for count in runs.values()),
            harness=self.harness,
            model=self.model,
            input_hashes=self.input_hashes,
            selection=self.selection,
            repeats=self.repeats,
            cases=tuple(ordered),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJournal:
    """What a journal holds.

    `traces` has one trace for each run of a case, the last where a line was written twice.
    `warnings` says what was left out.
    """

    header: JournalHeader
    traces: tuple[Trace, ...]
    warnings: tuple[str, ...] = ()


def read_journal(folder: Path) -> StoredJournal:
    """Read the journal of the run in *folder*.

    A last line without its end is what a crash leaves: it is dropped, with a warning.

    Raises:
        ArtifactError: There is none, or another line is not valid.
    """
    path = folder / JOURNAL
    return _parse(read_bytes(path), path)


def _parse(data: bytes, path: Path) -> StoredJournal:
    *lines, torn = data.split(b"\n")
    if not lines:
        raise ArtifactError(
            "the journal has no finished line, so nothing was run yet",
            path=path,
            fix="delete the folder and start the run anew",
        )
    header = check_record(
        decode_json(lines[0], path, line=1), path, JOURNAL_SCHEMA, JournalHeader.from_dict
    )
    traces = {}
    for number, line in enumerate(lines[1:], start=2):
        trace = _parse_trace(line, path, number)
        _check_selected(trace, header, path, number)
        traces[trace.case_id, trace.repeat] = trace
    warnings = [f"{path}:{len(lines) + 1}: dropped a line that a crash cut off"] if torn else []
    return StoredJournal(header=header, traces=tuple(traces.values()), warnings=tuple(warnings))


def _parse_trace(line: bytes, path: Path, number: int) -> Trace:
    plain = decode_json(line, path, line=number)
    check_schema(TRACE_SCHEMA, plain, path=f"{path}:{number}")
    try:
        return Trace.from_dict(plain)
    except ValueError as error:
        raise ArtifactError(
            f"this is no trace: {error}", path=path, line=number, fix="start the run anew"
        ) from None


def _check_selected(trace: Trace, header: JournalHeader, path: Path, number: int) -> None:
    if trace.case_id not in header.selection.case_digests:
        raise ArtifactError(
            f"case {trace.case_id!r} is not among those that the first line selects",
            path=path,
            line=number,
            fix="start the run anew",
        )


class Journal:
    """A journal that is being written; close it, or use it as a context manager."""

    def __init__(self, file: FileIO, path: Path, redact: Redact) -> None:
        self._file = file
        self._path = path
        self._redact = redact
        self._size = file.seek(0, os.SEEK_END)
        self._synced_at = float("-inf")

    @classmethod
    def create(cls, folder: Path, header: JournalHeader, *, redact: Redact = as_it_is) -> Journal:
        """Begin the journal of a new run in *folder*, which is made where it is missing.

        Raises:
            ArtifactError: There is a journal already, or it can't be written.
        """
        path = folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _keep_out_of_git(folder.parent.parent)
            file = FileIO(path, "x+")
        except FileExistsError:
            raise ArtifactError(
                "there is a run in this folder already",
                path=path,
                fix=f"finish it with --fc-resume {folder}, or start in another folder",
            ) from None
        except OSError as error:
            raise_write_error(path, error)
        journal = cls._locked(file, path, redact)
        journal._write(header.to_dict(), JOURNAL_SCHEMA)
        LOCAL_DISK.sync_folder(folder)
        return journal

    @classmethod
    def resume(cls, folder: Path, *, redact: Redact = as_it_is) -> tuple[Journal, StoredJournal]:
        """Go on with the journal in *folder*; a torn last line is cut away.

        Raises:
            ArtifactError: There is none, it is not valid, or another session writes in it.
        """
        path = folder / JOURNAL
        try:
            file = FileIO(path, "r+")
        except FileNotFoundError:
            raise ArtifactError(
                "there is no journal to resume from", path=path, fix="name the folder of a run"
            ) from None
        except OSError as error:
            raise_write_error(path, error)
        journal = cls._locked(file, path, redact)
        try:
            data = read_bytes(path)
            stored = _parse(data, path)
            journal._cut(data.rfind(b"\n") + 1)
        except BaseException:
            journal.close()
            raise
        return journal, stored

    @classmethod
    def _locked(cls, file: FileIO, path: Path, redact: Redact) -> Journal:
        try:
            _lock(file)
        except OSError as error:
            # Some network file systems know no locks; a run there is worth more than the lock.
            if error.errno in _HELD_BY_ANOTHER:
                file.close()
                raise ArtifactError(
                    "another session is writing in this folder",
                    path=path,
                    fix="wait for it to end, or start in another folder",
                ) from None
        return cls(file, path, redact)

    def append(self, trace: Trace) -> None:
        """Add a finished run of a case.

        Raises:
            ArtifactError: It is not valid, or can't be written; the lines before it are kept.
        """
        self._write(trace.to_dict(), TRACE_SCHEMA)

    def _write(self, plain: JsonValue, schema: str) -> None:
        with writable_json(self._path):
            plain = self._redact(plain)
            check_schema(schema, plain, path=str(self._path))
            line = canonical(plain).encode("ascii") + b"\n"
        try:
            _write_all(self._file, line)
            self._sync()
        except OSError as error:
            self._cut(self._size)
            raise_write_error(self._path, error)
        self._size += len(line)

    def _sync(self) -> None:
        now = time.monotonic()
        if now - self._synced_at >= SYNC_EVERY_S:
            os.fsync(self._file.fileno())
            self._synced_at = now

    def _cut(self, size: int) -> None:
        self._file.truncate(size)
        self._size = self._file.seek(size)

    def close(self) -> None:
        """Bring everything to the disk and let go of the folder; a second time does nothing."""
        if not self._file.closed:
            try:
                os.fsync(self._file.fileno())
            finally:
                self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _keep_out_of_git(folder: Path) -> None:
    """Let git overlook the folder of all runs, as pytest does with its cache."""
    if folder.name == RUNS_FOLDER.parts[0] and not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _write_all(file: FileIO, data: bytes) -> None:
    # An unbuffered write may take only a part; what a buffer holds would be lost in a crash.
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


_HELD_BY_ANOTHER = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK)

if sys.platform == "win32":
    import msvcrt

    _FAR_BEYOND = 1 << 62

    def _lock(file: FileIO) -> None:
        # Windows keeps others from reading locked bytes: one that no journal ever reaches is taken.
        file.seek(_FAR_BEYOND)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            file.seek(0)

else:
    import fcntl

    def _lock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
