"""Where agent runs are started and awaited: one event loop, in a thread of its own.

pytest runs its items one after another in its thread. The engine lets the agent runs behind them
overlap: whoever knows the next items starts their runs early, at most `limit` are in flight, in
the order in which they were started, and each item then waits for its own.

What must happen in pytest's thread, such as a user's synchronous fixture objects that are bound to
it, is handed back through `run_here`.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Executor, Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, TypeVar

T = TypeVar("T")


class Engine:
    """One event loop in a thread, with a limit on the runs in flight.

    Args:
        limit: How many runs may be in flight at once, at least 1.
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise ValueError(f"limit is {limit}, expected 1 or more")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._turn, name="fc-eval-engine", daemon=True)
        self._slots = asyncio.Semaphore(limit)
        self._resources = AsyncExitStack()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread.start()

    def _turn(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def start(self, run: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start *run* as soon as a slot is free; its result or exception is the future's."""
        future: Future[T] = Future()
        self._loop.call_soon_threadsafe(self._spawn, run, future)
        return future

    def _spawn(self, run: Callable[[], Coroutine[Any, Any, T]], future: Future[T]) -> None:
        task = self._loop.create_task(self._in_slot(run, future))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_slot(self, run: Callable[[], Coroutine[Any, Any, T]], future: Future[T]) -> None:
        try:
            async with self._slots:
                if not future.set_running_or_notify_cancel():
                    return
                result = await run()
        except asyncio.CancelledError:
            # A future that runs can't be cancelled any more: its waiter is told by an exception.
            if not future.cancel():
                future.set_exception(CancelledError())
            raise
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def run_here(self, run: Callable[[Executor], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine to its end, and meanwhile lend this thread to what it hands back.

        Args:
            run: Makes the coroutine; the executor that it is given runs work in this thread.

        Returns:
            The coroutine's result.
        """
        lent = _LentThread()
        future = self.start(lambda: run(lent))
        future.add_done_callback(lambda _: lent.close())
        lent.work()
        return future.result()

    async def enter(self, resource: AbstractAsyncContextManager[T]) -> T:
        """Enter *resource*, on the loop; `close` leaves it, in reverse order."""
        return await self._resources.enter_async_context(resource)

    def close(self) -> None:
        """Cancel what is in flight, close what was opened, end the thread. May be called twice."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._wind_down(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _wind_down(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(Exception):
            # Closing a connection that is gone must not hide what the session has to say.
            await self._resources.aclose()
        await self._loop.shutdown_default_executor()


class _LentThread(Executor):
    """An executor whose work is done by the thread that calls `work`."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Queue *fn* for the lending thread."""
        future: Future[T] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)
                if isinstance(error, KeyboardInterrupt | SystemExit):
                    raise

        self._queue.put(call)
        return future

    def work(self) -> None:
        """Do what is queued, until `close`."""
        while (call := self._queue.get()) is not None:
            call()

    def close(self) -> None:
        """Let `work` return."""
        self._queue.put(None)
