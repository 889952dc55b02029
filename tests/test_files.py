from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.calibration.review import complete_review
from fc_eval.errors import ArtifactError, CaseError
from fc_eval.files import (
    BaselineFiles,
    LocalDisk,
    file_sha256,
    read_baseline,
    read_consistency,
    read_raw_run,
    read_report,
    read_review,
    read_text,
    run_folder,
    save_baseline,
    write_atomic,
    write_consistency,
    write_raw_run,
    write_report,
    write_review,
    write_together,
)
from tests.calibration.support import decided, locked, report_of, steady
from tests.report.support import failing, make_call, make_case, make_run, passing

CASES = [make_case("case-one"), make_case("case-two")]
RUN = make_run(CASES, [passing("case-one"), failing("case-two")])


class FailingDisk(LocalDisk):
    """A disk on which one step fails, after it has done its harm."""

    def __init__(self, step: str, *, at: int = 1, error: int = errno.ENOSPC) -> None:
        self.step, self.at, self.error = step, at, error

    def _count(self, step: str) -> None:
        self.at -= step == self.step
        if step == self.step and self.at == 0:
            raise OSError(self.error, os.strerror(self.error))

    def create(self, path: Path, data: bytes) -> None:
        if self.step == "create" and self.at == 1:
            path.write_bytes(data[: len(data) // 2])
        self._count("create")
        super().create(path, data)

    def replace(self, source: Path, target: Path) -> None:
        self._count("replace")
        super().replace(source, target)

    def sync_folder(self, folder: Path) -> None:
        self._count("sync_folder")
        super().sync_folder(folder)


@pytest.mark.parametrize("step", ["create", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, step: str) -> None:
    path = tmp_path / "deep" / "a.json"
    write_atomic(path, b"old")

    with pytest.raises(ArtifactError, match="free some space"):
        write_atomic(path, b"new", disk=FailingDisk(step))

    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_files_that_go_together_change_only_when_all_are_on_the_disk(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "c")]
    write_together(dict.fromkeys(paths, b"old"))

    with pytest.raises(ArtifactError):
        write_together(dict.fromkeys(paths, b"new"), disk=FailingDisk("create", at=3))

    assert [path.read_bytes() for path in paths] == [b"old"] * 3
    assert sorted(tmp_path.iterdir()) == paths


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        pytest.param(errno.ENOSPC, "free some space on this disk", id="a-full-disk"),
        pytest.param(errno.EACCES, "make the folder writable", id="no-permission"),
        pytest.param(errno.EROFS, "read-only", id="a-read-only-disk"),
        pytest.param(errno.EIO, "what the system says", id="anything-else"),
    ],
)
def test_a_write_error_says_how_to_mend_it(tmp_path: Path, error: int, fix: str) -> None:
    with pytest.raises(ArtifactError, match=fix):
        write_atomic(tmp_path / "a", b"", disk=FailingDisk("create", error=error))


def test_a_file_in_the_place_of_the_folder_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")

    with pytest.raises(ArtifactError, match="move it away"):
        write_atomic(tmp_path / "runs" / "r1" / "a.json", b"")


def test_an_interrupt_cleans_up_as_well(tmp_path: Path) -> None:
    class Interrupted(LocalDisk):
        def replace(self, source: Path, target: Path) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a", b"", disk=Interrupted())

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("write", "read", "record"),
    [
        pytest.param(write_raw_run, read_raw_run, RUN, id="a-raw-run"),
        pytest.param(write_report, read_report, report_of("PFE"), id="a-report"),
        pytest.param(write_review, read_review, decided(report_of("FF")), id="a-review"),
        pytest.param(
            write_consistency, read_consistency, steady(report_of("PF")), id="a-consistency-record"
        ),
    ],
)
def test_what_is_written_reads_back(
    tmp_path: Path, write: Callable[..., None], read: Callable[..., Any], record: Any
) -> None:
    path = tmp_path / "it.json"

    write(path, record)

    assert read(path) == record
    assert read(str(path)) == record


@given(st.text(st.characters(codec=None)), st.integers())
def test_whatever_a_model_says_survives(
    tmp_path_factory: pytest.TempPathFactory, said: str, number: int
) -> None:
    path = tmp_path_factory.mktemp("said") / "raw_run.json"
    call = make_call("find", {said: [number, {"inner": said}]}, result=said)
    run = replace(RUN, cases=(replace(RUN.cases[0], calls=(call,), final_text=said),))

    write_raw_run(path, run)

    assert read_raw_run(path) == run
    assert path.read_bytes().isascii()


def test_a_run_is_read_from_its_folder(tmp_path: Path) -> None:
    write_raw_run(tmp_path / "raw_run.json", RUN)
    write_report(tmp_path / "report.json", report_of("P"))

    assert read_raw_run(tmp_path) == RUN
    assert read_report(tmp_path) == report_of("P")


def test_what_is_written_went_through_the_redaction(tmp_path: Path) -> None:
    def redact(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("case-one", "case-xxx"))

    write_raw_run(tmp_path / "raw_run.json", RUN, redact=redact)

    assert "case-one" not in (tmp_path / "raw_run.json").read_text()


def test_an_invalid_artifact_is_not_called_written(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no valid RawRunV1"):
        write_raw_run(tmp_path / "raw_run.json", replace(RUN, repeats=0))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="not-a-number"),
        pytest.param(10**5000, id="a-number-of-thousands-of-digits"),
    ],
)
def test_what_json_can_not_hold_is_an_artifact_error(tmp_path: Path, value: Any) -> None:
    call = make_call("find", {"key": value})

    with pytest.raises(ArtifactError, match="JSON can't hold"):
        write_raw_run(
            tmp_path / "r.json", replace(RUN, cases=(replace(RUN.cases[0], calls=(call,)),))
        )


def text_of(**changes: Any) -> bytes:
    return json.dumps({**RUN.to_dict(), **changes}).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"", "no JSON", id="empty"),
        pytest.param(text_of()[:-20], "no JSON", id="cut-off"),
        pytest.param(b"\xff\xfe{}", "no UTF-8", id="other-encoding"),
        pytest.param(b"[" * 100_000, "no JSON that can be read", id="nested-without-end"),
        pytest.param(b'{"a": NaN}', "JSON has no NaN", id="not-a-number"),
        pytest.param(b"[]", "is no RawRunV1", id="no-object"),
        pytest.param(b"{}", "says 'None'", id="no-schema-named"),
        pytest.param(text_of(schema="ReportV1"), "says 'ReportV1'", id="another-artifact"),
        pytest.param(text_of(complete=1), "no valid RawRunV1: ", id="another-type"),
        pytest.param(text_of(repeats=1.0), "no valid RawRunV1: ", id="a-float-for-a-count"),
        pytest.param(
            text_of(cases=[RUN.cases[0].to_dict()] * 2), "stands there twice", id="a-run-twice"
        ),
        pytest.param(
            text_of(cases=[passing("case-x").to_dict()]), "not among the selected", id="unselected"
        ),
    ],
)
def test_what_can_not_be_read_names_the_file_and_the_mend(
    tmp_path: Path, data: bytes, problem: str
) -> None:
    path = tmp_path / "raw_run.json"
    path.write_bytes(data)

    with pytest.raises(ArtifactError, match=problem) as caught:
        read_raw_run(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert "\n  fix: " in str(caught.value)


def test_a_byte_order_mark_of_an_editor_is_no_fault(tmp_path: Path) -> None:
    review = decided(report_of("F"))
    write_review(tmp_path / "r.json", review)
    (tmp_path / "r.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "r.json").read_bytes())

    assert read_review(tmp_path / "r.json") == review


@pytest.mark.parametrize("read", [read_baseline, read_review, read_raw_run, file_sha256])
def test_a_missing_file_and_a_folder_are_read_errors(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    with pytest.raises(ArtifactError, match="can't be read"):
        read(tmp_path / "nothing.json")
    with pytest.raises(ArtifactError, match="can't be read"):
        read(tmp_path)


def test_an_interrupted_run_says_how_to_finish_it(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("")

    with pytest.raises(ArtifactError, match="--fc-resume"):
        read_raw_run(tmp_path)


def test_case_text_that_is_no_utf8_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(b"{}\n{}\n\xff\n")

    with pytest.raises(CaseError) as caught:
        read_text(path)

    assert (caught.value.line, caught.value.path) == (3, str(path))


def test_the_digest_is_that_of_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\r\n\x00")

    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"\r\n\x00").hexdigest()


@pytest.mark.parametrize(
    ("started_at", "model", "name"),
    [
        pytest.param(
            "2026-01-31T12:00:00.250Z",
            "acme/small-1.5",
            "20260131T120000Z-acme-small-1.5-r1",
            id="a-slug",
        ),
        pytest.param(
            "2026-01-31T12:00:00+02:00", "m", "20260131T100000Z-m-r1", id="local-time-becomes-utc"
        ),
        pytest.param(
            "2026-01-31T12:00:00Z", "../..\\x:y z", "20260131T120000Z-x-y-z-r1", id="no-way-out"
        ),
        pytest.param("2026-01-31T12:00:00Z", "模型", "20260131T120000Z-unnamed-r1", id="no-ascii"),
    ],
)
def test_run_folder(started_at: str, model: str, name: str) -> None:
    assert run_folder(Path("root"), started_at, model, "r1") == Path("root/.fc_eval/runs") / name


def stored(files: BaselineFiles, verdicts: str, **options: Any) -> Path | None:
    run, baseline = locked(verdicts)
    return save_baseline(files, baseline, run, complete_review(baseline.report), **options)


def test_a_baseline_is_stored_with_its_run_and_review(tmp_path: Path) -> None:
    files = BaselineFiles.beside(tmp_path / "baseline.json")

    archive = stored(files, "PPF")

    baseline = read_baseline(files.baseline)
    assert archive is None
    assert baseline == locked("PPF")[1]
    assert file_sha256(files.raw_run) == baseline.raw_run_sha256
    assert read_raw_run(files.raw_run) == locked("PPF")[0]
    assert len(read_review(files.review).entries) == 1


def test_the_baseline_before_is_archived_byte_for_byte(tmp_path: Path) -> None:
    files = BaselineFiles.beside(tmp_path / "baseline.json")
    stored(files, "PPF")
    before = files.baseline.read_bytes()
    name = f"3_cases_{locked('PPF')[1].baseline_id}.json"

    archive = stored(files, "PP")

    assert archive == files.history / name
    assert archive.read_bytes() == before
    digest = hashlib.sha256(before).hexdigest()
    assert (files.history / f"{name}.sha256").read_text() == f"{digest}  {name}\n"
    assert read_baseline(files.baseline) == locked("PP")[1]


@pytest.mark.parametrize(
    ("step", "at"),
    [
        pytest.param("create", 1, id="the-archive-cannot-be-written"),
        pytest.param("create", 5, id="the-new-baseline-cannot-be-written"),
        pytest.param("replace", 3, id="no-new-file-got-its-name"),
    ],
)
def test_a_lock_that_fails_leaves_the_old_baseline_whole(
    tmp_path: Path, step: str, at: int
) -> None:
    files = BaselineFiles.beside(tmp_path / "baseline.json")
    stored(files, "PPF")

    with pytest.raises(ArtifactError):
        stored(files, "PP", disk=FailingDisk(step, at=at))

    assert read_baseline(files.baseline) == locked("PPF")[1]
    assert file_sha256(files.raw_run) == locked("PPF")[1].raw_run_sha256


def test_a_crash_between_the_names_is_mended_by_locking_again(tmp_path: Path) -> None:
    files = BaselineFiles.beside(tmp_path / "baseline.json")
    stored(files, "PPF")
    with pytest.raises(ArtifactError):
        stored(files, "PP", disk=FailingDisk("replace", at=5))
    assert read_baseline(files.baseline) == locked("PPF")[1]

    stored(files, "PP")

    assert file_sha256(files.raw_run) == read_baseline(files.baseline).raw_run_sha256


def test_an_edited_baseline_is_not_archived_over_the_true_one(tmp_path: Path) -> None:
    files = BaselineFiles.beside(tmp_path / "baseline.json")
    stored(files, "PPF")
    stored(files, "PP")
    forged = replace(locked("PP")[1], baseline_id=locked("PPF")[1].baseline_id)
    plain = {**locked("PPF")[1].to_dict(), "locked_at": "x", "baseline_id": forged.baseline_id}
    files.baseline.write_text(json.dumps(plain))

    with pytest.raises(ArtifactError, match="is archived there"):
        stored(files, "P")


def test_baselines_of_several_models_share_a_folder(tmp_path: Path) -> None:
    files = BaselineFiles.beside(tmp_path / "qwen.json")

    assert files.raw_run.name == "qwen.raw_run.json"
    assert files.review.name == "qwen.review.json"
