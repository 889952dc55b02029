"""The engine's promises: order, limit, cancellation, and the lent thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import asynccontextmanager

import pytest

from fc_eval.engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine(2)
    yield engine
    engine.close()


def test_results_and_exceptions_reach_the_waiter(engine: Engine) -> None:
    async def right() -> int:
        return 7

    async def wrong() -> int:
        raise KeyError("lost")

    assert engine.start(right).result() == 7
    with pytest.raises(KeyError):
        engine.start(wrong).result()


def test_no_more_than_the_limit_is_in_flight_in_the_order_of_starting(engine: Engine) -> None:
    started: list[int] = []
    in_flight = most = 0

    def run(number: int) -> None:
        async def work() -> None:
            nonlocal in_flight, most
            started.append(number)
            in_flight += 1
            most = max(most, in_flight)
            await asyncio.sleep(0.001)
            in_flight -= 1

        futures.append(engine.start(work))

    futures: list[Future[None]] = []
    for number in range(20):
        run(number)
    for future in futures:
        future.result()

    assert started == list(range(20))
    assert most == 2


def test_closing_cancels_what_is_in_flight() -> None:
    engine = Engine(1)
    entered = threading.Event()

    async def endless() -> None:
        entered.set()
        await asyncio.Event().wait()

    running, waiting = engine.start(endless), engine.start(endless)
    entered.wait()
    engine.close()
    engine.close()

    with pytest.raises(CancelledError):
        running.result()
    assert waiting.cancelled() or waiting.exception() is not None


def test_resources_close_on_the_loop_in_reverse_order() -> None:
    engine = Engine(1)
    log: list[str] = []

    @asynccontextmanager
    async def resource(name: str) -> AsyncIterator[str]:
        log.append(f"open {name}")
        yield name
        log.append(f"close {name}")

    async def enter() -> list[str]:
        return [await engine.enter(resource(name)) for name in "ab"]

    assert engine.start(enter).result() == ["a", "b"]
    engine.close()

    assert log == ["open a", "open b", "close b", "close a"]


def test_a_run_here_works_in_the_callers_thread(engine: Engine) -> None:
    async def run(here: Executor) -> list[int]:
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(here, threading.get_ident) for _ in range(3)]

    assert engine.run_here(run) == [threading.get_ident()] * 3


def test_an_error_of_lent_work_reaches_the_coroutine(engine: Engine) -> None:
    def fail() -> None:
        raise ValueError("no")

    async def run(here: Executor) -> str:
        try:
            await asyncio.get_running_loop().run_in_executor(here, fail)
        except ValueError as error:
            return str(error)
        return "nothing was raised"

    assert engine.run_here(run) == "no"


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit is 0"):
        Engine(0)
