from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fc_eval.errors import ArtifactError
from fc_eval.journal import Journal, JournalHeader, read_journal
from fc_eval.records.run import Trace
from tests.report.support import failing, make_case, make_run, passing, skipped

CASES = [make_case("case-one"), make_case("case-two")]
RUN = make_run(CASES, [], complete=False)
HEADER = JournalHeader(
    run_id=RUN.run_id,
    started_at=RUN.started_at,
    harness=RUN.harness,
    model=RUN.model,
    input_hashes=RUN.input_hashes,
    selection=RUN.selection,
    repeats=1,
)
TRACES = [passing("case-one"), failing("case-two")]


def written(folder: Path, traces: list[Trace]) -> bytes:
    with Journal.create(folder, HEADER) as journal:
        for trace in traces:
            journal.append(trace)
    return (folder / "journal.jsonl").read_bytes()


def test_a_journal_reads_back(tmp_path: Path) -> None:
    written(tmp_path / "new", TRACES)

    stored = read_journal(tmp_path / "new")

    assert (stored.header, list(stored.traces), stored.warnings) == (HEADER, TRACES, ())


def test_a_line_is_there_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    with Journal.create(tmp_path, HEADER) as journal:
        journal.append(TRACES[0])

        assert read_journal(tmp_path).traces == (TRACES[0],)


@given(st.data())
def test_wherever_a_crash_cuts_whole_lines_are_kept(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    whole = written(folder, TRACES)
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    (folder / "journal.jsonl").write_bytes(whole[:cut])
    kept = whole[:cut].count(b"\n") - 1

    stored = read_journal(folder)
    assert list(stored.traces) == TRACES[:kept]
    assert bool(stored.warnings) is not whole[:cut].endswith(b"\n")

    journal, _ = Journal.resume(folder)
    with journal:
        for trace in TRACES[kept:]:
            journal.append(trace)
    assert (folder / "journal.jsonl").read_bytes() == whole


def test_a_journal_whose_first_line_is_torn_holds_nothing(tmp_path: Path) -> None:
    whole = written(tmp_path, [])
    (tmp_path / "journal.jsonl").write_bytes(whole[:-5])

    with pytest.raises(ArtifactError, match="start the run anew"):
        read_journal(tmp_path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param(b"{oops", "no JSON", id="no-json"),
        pytest.param(b"\xff", "no UTF-8", id="no-utf8"),
        pytest.param(b"{}", "no valid TraceV1", id="no-trace"),
        pytest.param(b"", "no JSON", id="blank"),
        pytest.param(
            b'{"case_id":"other","status":"skipped","calls":[]}', "'other' is not", id="unselected"
        ),
    ],
)
def test_a_whole_line_that_is_wrong_is_an_error_that_names_it(
    tmp_path: Path, line: bytes, problem: str
) -> None:
    header, *rest = written(tmp_path, TRACES).splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join([header, rest[0], line + b"\n", rest[1]]))

    with pytest.raises(ArtifactError, match=problem) as caught:
        read_journal(tmp_path)

    assert "journal.jsonl:3" in str(caught.value)


def test_of_two_lines_of_one_run_the_last_counts(tmp_path: Path) -> None:
    written(tmp_path, [failing("case-one"), passing("case-one")])

    assert read_journal(tmp_path).traces == (passing("case-one"),)


def test_two_sessions_do_not_write_in_one_folder(tmp_path: Path) -> None:
    with Journal.create(tmp_path, HEADER):
        with pytest.raises(ArtifactError, match="a run in this folder already"):
            Journal.create(tmp_path, HEADER)
        with pytest.raises(ArtifactError, match="another session is writing"):
            Journal.resume(tmp_path)

    journal, _ = Journal.resume(tmp_path)
    journal.close()


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")
def test_a_killed_session_leaves_its_lines_and_no_lock(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.test_journal import HEADER, TRACES\n"
        "from fc_eval.journal import Journal\n"
        "journal = Journal.create(Path(sys.argv[1]), HEADER)\n"
        "journal.append(TRACES[0])\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", script, tmp_path], cwd=root, check=False)

    journal, stored = Journal.resume(tmp_path)

    journal.close()
    assert done.returncode == -signal.SIGKILL
    assert stored.traces == (TRACES[0],)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no journal to resume"):
        Journal.resume(tmp_path)


def test_a_journal_that_cannot_be_resumed_is_left_unlocked(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b"{}\n")

    for _ in range(2):
        with pytest.raises(ArtifactError, match="JournalV1"):
            Journal.resume(tmp_path)


def test_lines_go_through_the_redaction(tmp_path: Path) -> None:
    with Journal.create(tmp_path, HEADER, redact=lambda value: {**value, "model": {}}):
        pass

    assert read_journal(tmp_path).header == replace(HEADER, model={})


@pytest.mark.parametrize(
    ("traces", "repeats", "complete"),
    [
        pytest.param([*TRACES], 1, True, id="every-case-was-run"),
        pytest.param(TRACES[:1], 1, False, id="one-is-missing"),
        pytest.param([*TRACES, passing("case-one", 2)], 2, False, id="one-run-is-missing"),
        pytest.param(
            [skipped("case-two"), passing("case-one", 2), passing("case-one")],
            2,
            True,
            id="a-skipped-case-needs-one-line",
        ),
    ],
)
def test_a_journal_makes_a_raw_run(traces: list[Trace], repeats: int, complete: bool) -> None:
    run = replace(HEADER, repeats=repeats).to_run(traces, finished_at=None)

    assert run.complete is complete
    places = [(trace.case_id, trace.repeat) for trace in run.cases]
    assert places == sorted(places)
