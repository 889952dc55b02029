"""What all requests to one model share: pauses, and the end of hope."""

from __future__ import annotations

import asyncio

import pytest

from fc_eval.client.gate import Gate
from fc_eval.records.run import ErrorKind, Fault, RunError
from tests.agent.support import FakeClock


def _error(code: str) -> RunError:
    return RunError(
        kind=ErrorKind.API_ERROR, code=code, message="no", http_status=401, fault=Fault.CLIENT
    )


@pytest.mark.parametrize(
    ("codes", "closed"),
    [
        pytest.param(["auth"], True, id="a-refused-key"),
        pytest.param(["quota"], True, id="an-empty-account"),
        pytest.param(["not_found"], True, id="no-such-model"),
        pytest.param(["tools_unsupported"], True, id="no-tools"),
        pytest.param(["api_error"] * 9, False, id="a-server-in-trouble"),
        pytest.param(["rate_limited", "bad_response", "timeout"], False, id="what-may-pass"),
        pytest.param(["schema_rejected", "content_filter"], False, id="what-is-the-cases"),
        pytest.param(["connection"] * 2, False, id="two-connection-errors"),
        pytest.param(["connection"] * 3, True, id="three-connection-errors-in-a-row"),
        pytest.param(
            ["connection", "connection", "", "connection"], False, id="an-answer-between-them"
        ),
        pytest.param(
            ["connection", "connection", "timeout", "connection"], False, id="another-error-between"
        ),
    ],
)
def test_the_gate_closes(codes: list[str], closed: bool) -> None:
    gate = Gate()
    for code in codes:
        if code:
            gate.failed(_error(code))
        else:
            gate.succeeded()

    refusal = gate.refusal()

    assert (refusal is not None) == closed
    if refusal is not None:
        assert (refusal.kind, refusal.code) == (ErrorKind.API_ERROR, "not_run")
        assert refusal.message == f"not run: an earlier case ended in {codes[-1]}: no"
        assert (refusal.http_status, refusal.fault) == (None, Fault.CLIENT)


def _wait(gate: Gate, clock: FakeClock, *, time_left_s: float = 100) -> float:
    return asyncio.run(gate.wait(clock, clock.sleep, lambda: 0.5, time_left_s=time_left_s))


def test_an_open_gate_lets_pass() -> None:
    clock = FakeClock()

    assert _wait(Gate(), clock) == 0
    assert clock.seconds == 0


def test_a_pause_holds_for_all() -> None:
    gate, clock = Gate(), FakeClock()
    gate.pause(7, clock)
    gate.pause(3, clock)

    assert _wait(gate, clock) == 7.5
    assert clock.seconds == 7.5


def test_a_pause_that_grows_meanwhile_is_waited_for() -> None:
    gate, clock = Gate(), FakeClock()
    gate.pause(2, clock)

    async def sleep(seconds: float) -> None:
        if clock.seconds == 0:
            gate.pause(5, clock)
        await clock.sleep(seconds)

    waited = asyncio.run(gate.wait(clock, sleep, lambda: 0.5, time_left_s=100))

    assert waited == pytest.approx(5.5)


def test_a_pause_beyond_the_deadline_is_not_begun() -> None:
    gate, clock = Gate(), FakeClock()
    gate.pause(7, clock)

    assert _wait(gate, clock, time_left_s=7) < 0
    assert clock.seconds == 0
