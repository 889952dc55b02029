from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fc_eval.calibration.compare import compare_reports
from fc_eval.calibration.lock import build_baseline, check_baseline, lock_faults, raw_run_sha256
from fc_eval.errors import RefusedError
from fc_eval.records.baseline import BaselineV1, Decision, ReviewV1
from tests.calibration.support import (
    LOCKED_AT,
    decided,
    judged,
    locked,
    make_cases,
    report_of,
    steady,
)


def test_a_reviewed_steady_full_run_is_locked() -> None:
    run, baseline = locked("PPF")

    assert baseline.baseline_id == baseline.content_id
    assert baseline.raw_run_sha256 == raw_run_sha256(run)
    assert baseline.model_slug == "acme/small"
    assert baseline.request_configuration == {"temperature": 0.0}
    assert baseline.input_hashes == baseline.report.input_hashes == run.input_hashes
    assert BaselineV1.from_dict(baseline.to_dict()) == baseline


def test_the_id_follows_from_the_content() -> None:
    _, baseline = locked("PPF")
    _, again = locked("PPF")
    _, other = locked("PFF")

    assert again.baseline_id == baseline.baseline_id != other.baseline_id
    assert replace(baseline, locked_at="later").content_id != baseline.baseline_id


def test_a_baseline_carries_no_older_comparison_and_no_stale_decision() -> None:
    run, report = judged("PPF")
    review = decided(report_of("FPF"))
    compared = replace(report, baseline_comparison=compare_reports(report, report))

    baseline = build_baseline(
        run,
        compared,
        review,
        steady(report),
        cases=make_cases(3),
        present=report.input_hashes,
        locked_at=LOCKED_AT,
    )

    assert baseline.report.baseline_comparison is None
    assert [entry.case_id for entry in baseline.review.entries] == ["case-2"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(
            {"review": None}, "no decision in the review for a FAIL of case-2", id="no-review"
        ),
        pytest.param(
            {"review": decided(report_of("PPF"), Decision.JUDGE_MISJUDGMENT)},
            "the judge is wrong about case-2",
            id="a-misjudgment",
        ),
        pytest.param(
            {"review": decided(report_of("PPF"), Decision.GOLDEN_ERROR)},
            "the golden is wrong in case-2",
            id="a-golden-error",
        ),
        pytest.param(
            {
                "review": ReviewV1(
                    entries=tuple(
                        replace(entry, note=" ") for entry in decided(report_of("PPF")).entries
                    )
                )
            },
            "no note for case-2",
            id="a-decision-without-a-note",
        ),
        pytest.param({"report": report_of("PPE")}, "has 1 AGENT_ERROR", id="an-agent-error"),
        pytest.param({"report": report_of("PP-")}, "is partial", id="a-partial-run"),
        pytest.param(
            {"report": report_of("PPF", suite_size=9)}, "selected 3 of 9", id="a-selection"
        ),
        pytest.param(
            {"report": report_of("PSF")}, "skipped case-1", id="skipped-though-the-suite-runs-it"
        ),
        pytest.param({"consistency": None}, "no consistency record", id="no-consistency"),
        pytest.param(
            {"consistency": steady(report_of("PPF", run_id="x"))}, "of other runs", id="other-runs"
        ),
        pytest.param(
            {"consistency": replace(steady(report_of("PPF")), passed=False)},
            "consistency fails",
            id="inconsistent",
        ),
        pytest.param(
            {"run": judged("PPF", hashes=replace(report_of("PPF").input_hashes, cases="x"))[0]},
            "other inputs than there are now: cases",
            id="made-with-other-cases-and-judged-by-these",
        ),
        pytest.param(
            {"present": replace(report_of("PPF").input_hashes, tools="x", policy="y")},
            "other inputs than there are now: tools, policy",
            id="other-inputs",
        ),
    ],
)
def test_a_lock_is_refused_with_the_reason(change: dict[str, Any], why: str) -> None:
    run, report = judged("PPF")
    given = {
        "run": run,
        "report": report,
        "review": decided(report),
        "consistency": steady(report),
        "present": report.input_hashes,
        **change,
    }

    faults = lock_faults(
        given["run"],
        given["report"],
        given["review"],
        given["consistency"],
        cases=make_cases(3),
        present=given["present"],
    )

    assert any(why in fault for fault in faults), faults


def test_a_refusal_names_every_reason() -> None:
    run, report = judged("PFE")

    with pytest.raises(RefusedError) as caught:
        build_baseline(
            run,
            report,
            None,
            None,
            cases=make_cases(3),
            present=report.input_hashes,
            locked_at=LOCKED_AT,
        )

    text = str(caught.value)
    assert all(why in text for why in ("AGENT_ERROR", "FAIL of case-1", "consistency"))


def test_an_untouched_baseline_has_no_fault() -> None:
    run, baseline = locked("PPF")

    check = check_baseline(
        baseline,
        stored_sha256=raw_run_sha256(run),
        judged_again=baseline.report,
        present=run.input_hashes,
    )

    assert (check.faults, check.outdated) == ((), ())


@pytest.mark.parametrize(
    ("baseline", "stored", "again", "why"),
    [
        pytest.param(
            replace(locked("PPF")[1], locked_at="x"), None, None, "edited", id="an-edited-field"
        ),
        pytest.param(locked("PPF")[1], "0" * 64, None, "digest does not fit", id="another-raw-run"),
        pytest.param(
            locked("PPF")[1], None, report_of("PFF"), "diffs for case-1", id="another-verdict"
        ),
        pytest.param(
            replace(locked("PPF")[1], model_slug="x"),
            None,
            None,
            "another model",
            id="another-slug",
        ),
    ],
)
def test_what_the_integrity_check_finds(
    baseline: BaselineV1, stored: str | None, again: Any, why: str
) -> None:
    check = check_baseline(
        baseline,
        stored_sha256=stored or baseline.raw_run_sha256,
        judged_again=again,
        present=baseline.input_hashes,
    )

    assert any(why in fault for fault in check.faults), check.faults


@pytest.mark.parametrize("name", ["tools", "database", "judge_rules"])
def test_changed_inputs_outdate_a_baseline_and_make_no_fault_of_it(name: str) -> None:
    _, baseline = locked("PPF")

    check = check_baseline(
        baseline,
        stored_sha256=baseline.raw_run_sha256,
        judged_again=report_of("FFF"),
        present=replace(baseline.input_hashes, **{name: "other"}),
    )

    assert (check.faults, check.outdated) == ((), (name,))


def test_unchanged_cases_are_judged_again_while_the_suite_grows() -> None:
    _, baseline = locked("PPF")

    check = check_baseline(
        baseline,
        stored_sha256=baseline.raw_run_sha256,
        judged_again=report_of("FFF"),
        present=replace(baseline.input_hashes, cases="other"),
    )

    assert [("case-0, case-1" in fault) for fault in check.faults] == [True]
