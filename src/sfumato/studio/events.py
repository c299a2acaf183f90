"""From working threads to the browser: streams of JSON lines, and server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sfumato.exceptions import SfumatoError

Item = dict[str, Any]
_HEARTBEAT = 15.0


class StoppedError(Exception):
    """Nobody waits for the answer any more."""


class Stream:
    """What a working thread tells its reader, until the reader has gone.

    Parameters
    ----------
    tell : callable
        Takes one item; may be called from any thread.
    """

    def __init__(self, tell: Callable[[Item], None]) -> None:
        self._tell = tell
        self._stopped = threading.Event()

    def send(self, item: Item) -> None:
        """Pass an item on, or raise when nobody reads any more."""
        self.check()
        self._tell(item)

    def check(self) -> None:
        """Raise when nobody reads any more; called between pieces of work."""
        if self._stopped.is_set():
            raise StoppedError

    def rest(self, seconds: float) -> None:
        """Wait a moment before heavy work: who moves a slider on will have gone by then."""
        self._stopped.wait(seconds)
        self.check()

    def stop(self) -> None:
        """Tell the working thread that its reader has gone."""
        self._stopped.set()


async def json_lines(work: Callable[[Stream], None], pool: ThreadPoolExecutor) -> AsyncIterator[bytes]:
    """Run work in a thread and yield what it sends, one JSON object a line; stop it when the reader goes.

    Parameters
    ----------
    work : callable
        Takes the `Stream` to send to.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Item | None] = asyncio.Queue()

    def tell(item: Item | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended: the studio is closing
            loop.call_soon_threadsafe(queue.put_nowait, item)

    stream = Stream(tell)

    def run() -> None:
        try:
            stream.check()
            work(stream)
        except StoppedError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the page must hear of it
            tell({"type": "error", **error_data(error)})
        finally:
            tell(None)

    loop.run_in_executor(pool, run)
    try:
        while (item := await queue.get()) is not None:
            yield json.dumps(item, allow_nan=False).encode() + b"\n"
    finally:
        stream.stop()


def error_data(error: BaseException) -> dict[str, str]:
    """Return an error as the page shows it; of errors that are not ours only the kind, since words may quote cells."""
    if isinstance(error, SfumatoError):
        return {"error": error.message, "hint": error.hint or ""}
    if isinstance(error, MemoryError):
        return {"error": "there is not enough memory for this", "hint": "try a method that streams (tier: row)"}
    return {"error": f"something went wrong ({type(error).__name__})", "hint": "try another setting, or start again"}


class Board:
    """The state of long work, for every open tab: the newest item is told, and told again to who comes later."""

    def __init__(self) -> None:
        self._latest: Item = {}
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    def attach(self) -> None:
        """Use the running loop: called when the server starts."""
        self._loop = asyncio.get_running_loop()

    def post(self, **state: Any) -> None:
        """Change the state; may be called from any thread."""
        self._latest = {**self._latest, **state}
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def close(self) -> None:
        """End every open stream."""
        self.closed = True
        self.post()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the state now and after each change, as server-sent events."""
        told: Item | None = None
        while not self.closed:
            changed = self._changed
            if told is not self._latest:
                told = self._latest
                yield b"data: " + json.dumps(told, allow_nan=False).encode() + b"\n\n"
            try:
                await asyncio.wait_for(changed.wait(), _HEARTBEAT)
            except TimeoutError:
                yield b": still here\n\n"  # notices a closed tab
