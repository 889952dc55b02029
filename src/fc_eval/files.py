"""Artifacts on disk: written whole or not at all, read only where they are valid.

Each artifact is checked against its JSON Schema before it is called written and before it is
called read. What stands in them is the records' business; the journal of a run in progress, which
grows line by line, is `fc_eval.journal`'s.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeAlias, TypeVar

from fc_eval.errors import ArtifactError, CaseError
from fc_eval.records.baseline import (
    BASELINE_SCHEMA,
    CONSISTENCY_SCHEMA,
    REVIEW_SCHEMA,
    BaselineV1,
    ConsistencyV1,
    ReviewV1,
    baseline_id_of,
)
from fc_eval.records.codec import JsonValue, check_schema
from fc_eval.records.layout import Script, render_artifact
from fc_eval.records.report import REPORT_SCHEMA, ReportV1
from fc_eval.records.run import RAW_RUN_SCHEMA, RawRunV1

RUNS_FOLDER = Path(".fc_eval") / "runs"
JOURNAL = "journal.jsonl"
RAW_RUN = "raw_run.json"
REPORT = "report.json"

AnyPath: TypeAlias = str | PathLike[str]
Redact: TypeAlias = Callable[[JsonValue], JsonValue]
R = TypeVar("R")


class Disk(Protocol):
    """The few things that writing asks of a file system."""

    def create(self, path: Path, data: bytes) -> None:
        """Write a file that does not exist yet, and return when it is on the disk."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Give *source* the name *target*; whoever opens that sees the old file or the new."""
        ...

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in *folder* are on the disk."""
        ...


class LocalDisk:
    """The file system of this machine."""

    def create(self, path: Path, data: bytes) -> None:
        """Write a file that does not exist yet, and return when it is on the disk."""
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def replace(self, source: Path, target: Path) -> None:
        """Give *source* the name *target*, in one step."""
        source.replace(target)

    def sync_folder(self, folder: Path) -> None:
        """Return when the names in *folder* are on the disk."""
        if not hasattr(os, "O_DIRECTORY"):  # Windows opens no folders, and journals names itself.
            return
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


LOCAL_DISK = LocalDisk()


def as_it_is(value: JsonValue) -> JsonValue:
    """Redact nothing."""
    return value


# --- writing --------------------------------------------------------------------------------------


def write_atomic(path: Path, data: bytes, *, disk: Disk = LOCAL_DISK) -> None:
    """Write *data* to *path*, so that the file is the old one or the new one at every moment.

    Folders are made where they are missing.

    Raises:
        ArtifactError: It can't be written; the old file, if any, is as it was.
    """
    write_together({path: data}, disk=disk)


def write_together(contents: Mapping[Path, bytes], *, disk: Disk = LOCAL_DISK) -> None:
    """Write several files, each atomically, and none before all of them are on the disk.

    They get their names one after another, in the order of *contents*: a crash between two of
    these steps leaves the later ones as they were.

    Raises:
        ArtifactError: One can't be written. Where that showed before the names were given, which
            a full disk does, all files are as they were.
    """
    staged: list[tuple[Path, Path]] = []
    path = Path()
    try:
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
            staged.append((temporary, path))
            disk.create(temporary, data)
        for temporary, path in staged:
            disk.replace(temporary, path)
        for folder in sorted({path.parent for path in contents}):
            disk.sync_folder(folder)
    except OSError as error:
        raise_write_error(path, error)
    finally:
        for temporary, _ in staged:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def raise_write_error(path: Path, error: OSError) -> NoReturn:
    """Say that *path* can't be written, and how to mend it.

    Raises:
        ArtifactError: Always.
    """
    raise ArtifactError(
        f"can't be written: {error.strerror or error}",
        path=path,
        fix=_WRITE_FIXES.get(error.errno or 0, "mend what the system says, then run again"),
    ) from error


_WRITE_FIXES = {
    errno.ENOSPC: "free some space on this disk, then run again",
    errno.EDQUOT: "free some space in your quota, then run again",
    errno.EACCES: "make the folder writable for you, then run again",
    errno.EPERM: "make the folder writable for you, then run again",
    errno.EROFS: "this disk is read-only: work in a folder on another one",
    errno.ENOTDIR: "a file stands where a folder should be: move it away",
    errno.EEXIST: "a file stands where a folder should be: move it away",
    errno.EISDIR: "a folder stands where the file should be: move it away",
    errno.ENAMETOOLONG: "use a shorter path",
}


def write_raw_run(path: Path, run: RawRunV1, *, redact: Redact = as_it_is) -> None:
    """Write a raw run, with what *redact* makes of it.

    Raises:
        ArtifactError: It is not valid, or can't be written.
    """
    _write(path, RAW_RUN_SCHEMA, redact(run.to_dict()))


def write_report(path: Path, report: ReportV1, *, redact: Redact = as_it_is) -> None:
    """Write a report, with what *redact* makes of it.

    Raises:
        ArtifactError: It is not valid, or can't be written.
    """
    _write(path, REPORT_SCHEMA, redact(report.to_dict()))


def write_review(path: Path, review: ReviewV1, *, redact: Redact = as_it_is) -> None:
    """Write a review for people to fill in: all that can be seen stands there unescaped.

    Raises:
        ArtifactError: It is not valid, or can't be written.
    """
    _write(path, REVIEW_SCHEMA, redact(review.to_dict()), script=Script.READABLE)


def write_consistency(path: Path, consistency: ConsistencyV1) -> None:
    """Write a consistency record.

    Raises:
        ArtifactError: It is not valid, or can't be written.
    """
    _write(path, CONSISTENCY_SCHEMA, consistency.to_dict())


def _write(path: Path, schema: str, plain: JsonValue, *, script: Script = Script.ASCII) -> None:
    write_atomic(path, _text_of(path, schema, plain, script=script))


def _text_of(path: Path, schema: str, plain: JsonValue, *, script: Script = Script.ASCII) -> bytes:
    with writable_json(path):
        check_schema(schema, plain, path=str(path))
        return render_artifact(plain, script=script).encode("utf-8")


@contextmanager
def writable_json(path: Path) -> Iterator[None]:
    """Say of a value that JSON can't hold, met while writing *path*, that it is one.

    Raises:
        ArtifactError: Such as a NaN, or a nesting without end, came up in the block.
    """
    try:
        yield
    except (ValueError, TypeError, RecursionError) as error:
        raise ArtifactError(
            f"holds a value that JSON can't hold: {error}",
            path=path,
            fix="have agent and tools take and give JSON values only",
        ) from error


# --- reading --------------------------------------------------------------------------------------


def read_raw_run(path: AnyPath) -> RawRunV1:
    """Read a raw run.

    Args:
        path: The file, or the folder of the run.

    Raises:
        ArtifactError: There is none, or it is not valid.
    """
    place = _within(Path(path), RAW_RUN)
    if not place.exists() and place.with_name(JOURNAL).exists():
        raise ArtifactError(
            "the run was interrupted and has only a journal",
            path=place.parent,
            fix=f"finish it: pytest --fc-eval --fc-resume {place.parent}",
        )
    run = _read(place, RAW_RUN_SCHEMA, RawRunV1.from_dict)
    _check_traces(run, place)
    return run


def _check_traces(run: RawRunV1, path: Path) -> None:
    selected = set(run.selection.case_ids)
    seen: set[tuple[str, int]] = set()
    for trace in run.cases:
        key = (trace.case_id, trace.repeat)
        if trace.case_id not in selected:
            problem = f"case {trace.case_id!r} is not among the selected ones"
        elif key in seen:
            problem = f"run {trace.repeat} of case {trace.case_id!r} stands there twice"
        else:
            seen.add(key)
            continue
        raise ArtifactError(problem, path=path, fix="restore the file as it was written")


def read_report(path: AnyPath) -> ReportV1:
    """Read a report.

    Args:
        path: The file, or the folder of the run.

    Raises:
        ArtifactError: There is none, or it is not valid.
    """
    return _read(_within(Path(path), REPORT), REPORT_SCHEMA, ReportV1.from_dict)


def read_baseline(path: AnyPath) -> BaselineV1:
    """Read a baseline; whether it is what was locked is asked in `fc_eval.calibration.lock`.

    Raises:
        ArtifactError: There is none, or it is not valid.
    """
    return _read(Path(path), BASELINE_SCHEMA, BaselineV1.from_dict)


def stored_baseline_id(path: AnyPath) -> str:
    """The id that the content of a stored baseline has, whatever id it carries.

    Taken from the JSON as it is, so that a field that no reader looks at counts as well.

    Raises:
        ArtifactError: It can't be read.
    """
    plain = decode_json(read_bytes(Path(path)), Path(path))
    if isinstance(plain, dict):
        plain.pop("baseline_id", None)
    return baseline_id_of(plain)


def read_review(path: AnyPath) -> ReviewV1:
    """Read a review.

    Raises:
        ArtifactError: There is none, or it is not valid.
    """
    return _read(Path(path), REVIEW_SCHEMA, ReviewV1.from_dict)


def read_consistency(path: AnyPath) -> ConsistencyV1:
    """Read a consistency record.

    Raises:
        ArtifactError: There is none, or it is not valid.
    """
    return _read(Path(path), CONSISTENCY_SCHEMA, ConsistencyV1.from_dict)


def file_sha256(path: AnyPath) -> str:
    """SHA-256 of a file's bytes, in lower-case hexadecimal.

    Raises:
        ArtifactError: It can't be read.
    """
    return hashlib.sha256(read_bytes(Path(path))).hexdigest()


def read_bytes(path: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ArtifactError: It can't be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise ArtifactError(
            f"can't be read: {error.strerror or error}", path=path, fix=_read_fix(error)
        ) from error


def read_text(path: Path) -> str:
    """The text of a case file or a suite file, with its line ends as they are.

    Raises:
        CaseError: It can't be read, or is no UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise CaseError(
            f"can't be read: {error.strerror or error}", path=path, fix=_read_fix(error)
        ) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CaseError(
            f"byte {error.start} is no UTF-8", path=path, line=line, fix="save the file as UTF-8"
        ) from None


def _read_fix(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "correct the path, or make the file first"
    if isinstance(error, IsADirectoryError):
        return "name a file, not a folder"
    return "make it readable for you"


def decode_json(data: bytes, path: Path, *, line: int | None = None) -> JsonValue:
    """The JSON value in *data*, which came from *path*.

    Raises:
        ArtifactError: It is no UTF-8, or no JSON.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        problem = f"this is no UTF-8 (byte {error.start})"
    except json.JSONDecodeError as error:
        problem = f"this is no JSON: {error.msg} at line {error.lineno} column {error.colno}"
    except (ValueError, RecursionError) as error:
        problem = f"this is no JSON that can be read: {error}"
    raise ArtifactError(
        problem, path=path, line=line, fix="restore the file as it was written, or make it anew"
    )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"JSON has no {constant}")


def check_record(
    plain: JsonValue, path: Path, schema: str, build: Callable[[Mapping[str, Any]], R]
) -> R:
    """The record in *plain*, which came from *path*.

    Raises:
        ArtifactError: It is of another schema, or breaks it.
    """
    found = plain.get("schema") if isinstance(plain, dict) else None
    if found != schema:
        raise ArtifactError(
            f"this is no {schema}, its field 'schema' says {str(found)[:80]!r}",
            path=path,
            fix=f"name a file that holds a {schema}",
        )
    check_schema(schema, plain, path=str(path))
    try:
        return build(plain)
    except ValueError as error:
        raise ArtifactError(
            f"this is no valid {schema}: {error}",
            path=path,
            fix="restore the file as it was written, or make it anew",
        ) from None


def _read(path: Path, schema: str, build: Callable[[Mapping[str, Any]], R]) -> R:
    return check_record(decode_json(read_bytes(path), path), path, schema, build)


def _within(path: Path, name: str) -> Path:
    return path / name if path.is_dir() else path


# --- folders --------------------------------------------------------------------------------------


def run_folder(root: Path, started_at: str, model: str, run_id: str) -> Path:
    """The folder of a run: `.fc_eval/runs/<UTC time>-<model>-<id>` under *root*; it is not made.

    Args:
        root: The project's root.
        started_at: ISO 8601 with an offset, such as `2026-01-31T12:00:00Z`.
        model: The model's slug; what a file name can't hold becomes `-`.
        run_id: The run's id.
    """
    moment = datetime.fromisoformat(started_at).astimezone(UTC)
    return root / RUNS_FOLDER / f"{moment:%Y%m%dT%H%M%SZ}-{_slug(model)}-{_slug(run_id)}"


def _slug(text: str) -> str:
    # Dots at an end, colons, slashes and blanks are what file systems object to.
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:60].strip(".-") or "unnamed"


# --- baselines ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineFiles:
    """Where a baseline and what belongs to it are stored."""

    baseline: Path
    raw_run: Path
    review: Path
    history: Path

    @classmethod
    def beside(cls, baseline: Path) -> BaselineFiles:
        """The files that belong to the baseline file *baseline*.

        `baseline.json` goes with `raw_run.json` and `review.json`. Any other name, such as
        `qwen.json`, goes with `qwen.raw_run.json` and `qwen.review.json`, so that the baselines
        of several models can share a folder.
        """
        prefix = "" if baseline.name == "baseline.json" else f"{baseline.stem}."
        return cls(
            baseline=baseline,
            raw_run=baseline.with_name(f"{prefix}raw_run.json"),
            review=baseline.with_name(f"{prefix}review.json"),
            history=baseline.parent / "history",
        )


def save_baseline(
    files: BaselineFiles,
    baseline: BaselineV1,
    run: RawRunV1,
    review: ReviewV1,
    *,
    disk: Disk = LOCAL_DISK,
) -> Path | None:
    """Store a baseline with its raw run and review, after the one before it has been archived.

    The archive comes first, and all new files are on the disk before one of them gets its name.
    The baseline itself is the last: a crash before that leaves the old one, which the integrity
    check may find at odds with the new raw run. Locking again mends that.

    Args:
        files: Where to store them.
        baseline: The new baseline.
        run: The run whose text `baseline.raw_run_sha256` is the digest of.
        review: All decisions, stale ones included.
        disk: Where writes go.

    Returns:
        The archive of the baseline that was there before, None where there was none.

    Raises:
        ArtifactError: The baseline that is there can't be read, or something can't be written.
    """
    contents = {
        files.raw_run: _text_of(files.raw_run, RAW_RUN_SCHEMA, run.to_dict()),
        files.review: _text_of(
            files.review, REVIEW_SCHEMA, review.to_dict(), script=Script.READABLE
        ),
        files.baseline: _text_of(files.baseline, BASELINE_SCHEMA, baseline.to_dict()),
    }
    archive = _archive(files, disk) if files.baseline.exists() else None
    write_together(contents, disk=disk)
    return archive


def _archive(files: BaselineFiles, disk: Disk) -> Path:
    """Copy the stored baseline byte for byte, with its SHA-256 beside it as sha256sum writes it."""
    data = read_bytes(files.baseline)
    old = check_record(
        decode_json(data, files.baseline), files.baseline, BASELINE_SCHEMA, BaselineV1.from_dict
    )
    count = len(old.report.outcomes())
    archive = files.history / f"{count}_cases_{_slug(old.baseline_id)}.json"
    if archive.exists() and read_bytes(archive) != data:
        raise ArtifactError(
            f"another baseline with the id {old.baseline_id} is archived there",
            path=archive,
            fix=f"move {archive.name} away: the stored baseline was edited after it was locked",
        )
    line = f"{hashlib.sha256(data).hexdigest()}  {archive.name}\n"
    beside = archive.with_name(f"{archive.name}.sha256")
    write_together({archive: data, beside: line.encode("ascii")}, disk=disk)
    return archive
