"""The door: how many may stand in it, and for how long, before they have said what they want.

Everybody on this computer can open connections to the studio, send half a request on each and wait. So a request must
be complete soon, and of too many connections those are closed first that have stood longest without a whole request:
the owner's browser, which comes last and speaks at once, gets in. A body that is still on its way counts as half a
request, too, unless the session it belongs to is known: the owner may upload for as long as it takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 128
HEADER_SECONDS = 10.0


class Door:
    """Who stands in the door of one server.

    Parameters
    ----------
    most : int
        Connections that are open at the same time.
    knows : callable
        Tells whether the head of a request belongs to the session.
    seconds : float
        In which a request must be there; of the session, its head.
    """

    def __init__(
        self,
        knows: Callable[[Any], bool],
        most: int = MOST_CONNECTIONS,
        seconds: float = HEADER_SECONDS,
    ) -> None:
        self.knows, self.most, self.seconds = knows, most, seconds
        self._waiting: dict[Any, None] = {}  # without a whole request, the longest first
        self._open: set[Any] = set()

    def enter(self, connection: Any) -> None:
        """Let a connection in, and show another one out if there are too many."""
        self._open.add(connection)
        self._waiting[connection] = None
        if len(self._open) > self.most:
            longest = next(iter(self._waiting))
            self.leave(longest)
            longest.show_out()

    def wait(self, connection: Any) -> None:
        """Note that a connection has no whole request at the moment."""
        if connection in self._open:
            self._waiting.setdefault(connection)

    def served(self, connection: Any) -> None:
        """Note that a connection has sent a whole request."""
        self._waiting.pop(connection, None)

    def leave(self, connection: Any) -> None:
        """Forget a connection."""
        self._open.discard(connection)
        self._waiting.pop(connection, None)

    def protocol(self) -> type[H11Protocol]:
        """Return the protocol of connections that come through this door."""
        door = self

        class Watched(H11Protocol):
            """A connection whose request must come soon."""

            _clock: asyncio.TimerHandle | None = None

            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                door.enter(self)
                self._start_clock()

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                if self._is_answered():
                    door.served(self)
                    self._stop_clock()
                else:
                    door.wait(self)
                    self._start_clock()

            def _is_answered(self) -> bool:
                cycle = self.cycle
                if cycle is None or cycle.response_complete:
                    return False
                return not cycle.more_body or door.knows(cycle.scope)

            def on_response_complete(self) -> None:
                super().on_response_complete()
                if self.cycle is not None and self.cycle.response_complete:
                    door.wait(self)

            def connection_lost(self, exc: Exception | None) -> None:
                self._stop_clock()
                door.leave(self)
                super().connection_lost(exc)

            def show_out(self) -> None:
                """Close the connection."""
                self._stop_clock()
                self.transport.abort()

            def _start_clock(self) -> None:
                # not again with every byte: a request that drips in must be there in time, too
                if self._clock is None:
                    self._clock = self.loop.call_later(door.seconds, self.show_out)

            def _stop_clock(self) -> None:
                if self._clock is not None:
                    self._clock.cancel()
                    self._clock = None

        return Watched
