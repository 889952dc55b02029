"""`BaselineV1`, and what a lock rests on: `ReviewV1` and `ConsistencyV1`.

Says what these records are made of. When a report may become a baseline is asked in
`fc_eval.calibration.lock`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fc_eval.records.codec import JsonValue, Plain, digest
from fc_eval.records.report import ReportV1
from fc_eval.records.run import InputHashes
from fc_eval.records.verdict import Verdict

BASELINE_SCHEMA = "BaselineV1"
REVIEW_SCHEMA = "ReviewV1"
CONSISTENCY_SCHEMA = "ConsistencyV1"


class Decision(StrEnum):
    """What a reviewer says of a FAIL."""

    MODEL_FAULT = "model_fault"
    """The model did wrong; the FAIL stands."""
    JUDGE_MISJUDGMENT = "judge_misjudgment"
    """The judge's rules are wrong about this trace."""
    GOLDEN_ERROR = "golden_error"
    """The case asks for the wrong thing."""


CHOICES = {
    Decision.MODEL_FAULT.value: "the model did wrong; the FAIL stands",
    Decision.JUDGE_MISJUDGMENT.value: "the judge's rules are wrong about this behaviour",
    Decision.GOLDEN_ERROR.value: "the case asks for the wrong thing",
}
"""What a reviewer can decide, in the words that a review file shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEntry:
    """One behaviour that failed, and the decision on it; None where it is still to be made.

    `decision` and `note` come from the reviewer; `instruction`, `golden`, `actual`, `taxonomies`
    and `reasons` are there for them. A decision holds for this case line (`case_digest`) and this
    behaviour (`trace_digest`). `stale` marks one that the latest run did not show.
    """

    case_id: str
    case_digest: str
    trace_digest: str
    decision: Decision | None = None
    note: str = ""
    stale: bool = False
    instruction: str = ""
    golden: Mapping[str, JsonValue] = field(default_factory=dict)
    taxonomies: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    actual: tuple[Mapping[str, JsonValue], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCounts:
    """How many entries of a review have which decision; stale ones are counted only as stale."""

    model_fault: int
    judge_misjudgment: int
    golden_error: int
    undecided: int
    stale: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewV1(Plain):
    """The decisions on all failed behaviours of a suite.

    `choices` tells the reviewer what can be decided.
    """

    schema: str = REVIEW_SCHEMA
    choices: Mapping[str, str] = field(default_factory=lambda: dict(CHOICES))
    entries: tuple[ReviewEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyLimits:
    """The largest accepted share of unstable cases and spread of accuracy, both inclusive."""

    max_unstable: float = 0.05
    max_spread: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyRun:
    """One of the runs that were compared."""

    run_id: str
    accuracy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseConsistency:
    """The verdicts of one case, in the order of the runs; None where a run has none."""

    case_id: str
    verdicts: tuple[Verdict | None, ...]
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyV1(Plain):
    """How far full runs of one model on one suite agree.

    `unstable_share` is the share of cases whose verdicts are not all the same, `spread` the
    largest accuracy minus the smallest, None where a run has no accuracy. The first run is the
    canonical one.
    """

    schema: str = CONSISTENCY_SCHEMA
    model_slug: str
    input_hashes: InputHashes
    runs: tuple[ConsistencyRun, ...]
    cases: tuple[CaseConsistency, ...]
    unstable_share: float | None
    spread: float | None
    limits: ConsistencyLimits
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineV1(Plain):
    """A locked report, bound to its inputs and its raw run by hashes.

    `request_configuration` is the model's public profile but for its slug. `baseline_id` is
    derived from everything else, `locked_at` included. `raw_run_sha256` is that of the file's
    bytes. `review` has the entries that the report needs, none stale.
    """

    schema: str = BASELINE_SCHEMA
    baseline_id: str
    locked_at: str
    model_slug: str
    request_configuration: Mapping[str, JsonValue]
    input_hashes: InputHashes
    raw_run_sha256: str
    report: ReportV1
    review: ReviewV1
    consistency: ConsistencyV1

    @property
    def content_id(self) -> str:
        """The id that the content has; a baseline that nobody edited carries it."""
        plain = self.to_dict()
        del plain["baseline_id"]
        return baseline_id_of(plain)


def baseline_id_of(content: JsonValue) -> str:
    """The id that is derived from a baseline's content, its own id left out."""
    return digest(content)[:16]
