"""Start the studio: a server on 127.0.0.1 for one browser, until the terminal closes."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import uvicorn

from sfumato.core.system import ending_signals
from sfumato.exceptions import DataError, ParameterError, SfumatoError
from sfumato.studio.app import Studio, make_app
from sfumato.studio.door import Door
from sfumato.studio.entrance import write_opening
from sfumato.studio.folder import Folder, private_home
from sfumato.studio.security import Access, Gate
from sfumato.studio.uploads import Limits
from sfumato.studio.warned import listen_to_warnings


def serve(
    file: Path | None = None,
    *,
    port: int = 0,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
    limits: Limits | None = None,
) -> None:
    """Run the studio until it is interrupted.

    Parameters
    ----------
    file : Path, optional
        A table to begin with; it is read where it is.
    port : int
        0 takes a free one.
    open_browser : bool
        Whether to open the page.
    say : callable
        Told the link and what else a person should know.
    limits : Limits, optional
    """
    if file is not None and not file.exists():
        raise DataError(f"{file}: no such file", hint="check the path")
    listen_to_warnings()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # tells of every connection it cannot take, without end
    listener = _listener(port)
    access = Access(listener.getsockname()[1])
    folder = Folder(private_home())
    studio = Studio(folder, limits)
    server = _Server(studio, access)
    try:
        # before any thread loads libraries: an interrupt in the midst of an import would leave its lock behind
        with server.capture_signals():
            if file is not None:
                _begin_with(studio, file, say)
            say(f"sfumato studio: {access.link()}")
            say("The link works once, and on this computer only. Ctrl+C ends the studio and removes its files.")
            if open_browser:
                page = folder.new_file(".html")  # in a folder of the owner's own, removed at the end
                write_opening(page, access.origin, access.token)
                threading.Timer(0.3, _open, [page.as_uri()]).start()
            server.run(sockets=[listener])
    finally:
        studio.close()
        listener.close()
    with contextlib.suppress(OSError):  # the terminal may be gone
        say("The studio is closed, and its files are removed.")


class _Server(uvicorn.Server):
    """A server that also ends when the terminal is closed, and does not wait for open event streams."""

    def __init__(self, studio: Studio, access: Access) -> None:
        self._studio = studio
        gate = Gate(make_app(studio), access)
        super().__init__(
            uvicorn.Config(
                gate,
                http=Door(gate.is_of_session).protocol(),
                log_level="critical",  # a traceback may quote cells of the user's file
                access_log=False,  # the first request carries the token
                server_header=False,
                ws="none",
                lifespan="on",
                timeout_graceful_shutdown=2,
                timeout_keep_alive=30,
            )
        )

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises signals again when it has ended, which would kill the process before its files are swept
        before = {number: signal.signal(number, self.handle_exit) for number in ending_signals()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._studio.board.close()
        super().handle_exit(sig, frame)


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    problem = None
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # a browser that is quicker than the server waits in line
    except OSError as error:
        problem = error.strerror
    if problem is not None:
        listener.close()
        raise ParameterError(f"port {port} cannot be used ({problem})", hint="leave --port out to take a free one")
    return listener


def _begin_with(studio: Studio, file: Path, say: Callable[[str], None]) -> None:
    def load() -> None:
        try:
            studio.load(file.absolute(), file.name, str(file))
        except SfumatoError as error:
            studio.board.post(problem={"error": error.message, "hint": error.hint or ""})
            say(f"sfumato: error: {error}")

    studio.pool.submit(load)


def _open(link: str) -> None:
    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(link)
