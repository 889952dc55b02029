from __future__ import annotations

from typing import Any

import pytest

from fc_eval.records.codec import load_schema, schema_errors
from tests.calibration.support import decided, locked, report_of, steady
from tests.records.support import ARTIFACTS, derive_schema
from tests.report.support import broken, failing, make_case, make_run, passing

CASES = [make_case(f"case-{name}") for name in ("one", "two", "three")]
RUN = make_run(CASES, [passing("case-one"), failing("case-two"), broken("case-three")])
RECORDS: dict[str, Any] = {
    "RawRunV1": RUN,
    "TraceV1": RUN.cases[0],
    "ReportV1": report_of("PFE"),
    "BaselineV1": locked("PPF")[1],
    "ReviewV1": decided(report_of("PFF")),
    "ConsistencyV1": steady(report_of("PF")),
}


@pytest.mark.parametrize("name", ARTIFACTS)
def test_the_shipped_schema_says_what_the_record_says(name: str) -> None:
    """Where this fails: python -m tests.records.support"""
    assert load_schema(name) == derive_schema(name)


@pytest.mark.parametrize("name", RECORDS)
def test_a_written_record_is_valid_and_reads_back(name: str) -> None:
    record = RECORDS[name]
    plain = record.to_dict()

    assert schema_errors(name, plain) == []
    assert type(record).from_dict(plain) == record


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in RUN.to_dict().items() if key != name}


@pytest.mark.parametrize(
    "plain",
    [
        pytest.param(without("cases"), id="a-field-is-missing"),
        pytest.param({**RUN.to_dict(), "schema": "RawRunV2"}, id="another-schema"),
        pytest.param({**RUN.to_dict(), "repeats": 0}, id="no-repeat"),
        pytest.param({**RUN.to_dict(), "complete": "yes"}, id="another-type"),
        pytest.param({**RUN.to_dict(), "cases": [{"case_id": "x", "calls": []}]}, id="no-status"),
        pytest.param(
            {**RUN.to_dict(), "cases": [{"case_id": "x", "status": "completed"}]}, id="no-calls"
        ),
        pytest.param(
            {**RUN.to_dict(), "cases": [{"case_id": "x", "status": "ok", "calls": []}]},
            id="an-unknown-status",
        ),
        pytest.param([], id="no-object"),
    ],
)
def test_what_is_no_raw_run(plain: Any) -> None:
    assert schema_errors("RawRunV1", plain) != []


def test_a_trace_needs_only_what_says_what_happened() -> None:
    short = {"case_id": "x", "status": "completed", "calls": []}

    assert schema_errors("RawRunV1", {**RUN.to_dict(), "cases": [short]}) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("decision", "model-fault", id="a-misspelt-decision"),
        pytest.param("desicion", "model_fault", id="a-misspelt-field"),
    ],
)
def test_a_slip_in_a_review_is_found(field: str, value: str) -> None:
    plain = decided(report_of("F")).to_dict()
    plain["entries"][0][field] = value

    assert schema_errors("ReviewV1", plain) != []
