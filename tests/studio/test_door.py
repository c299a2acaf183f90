"""The studio attacked by other users of the computer: tokens, ports, half requests, many connections."""

from __future__ import annotations

import contextlib
import re
import resource
import select
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from sfumato.studio.entrance import write_opening
from sfumato.studio.security import Access
from tests.studio.quiet import HARD_LIMIT, closed_when_quiet
from tests.studio.running import RunningStudio

OPENED = """
import sys, webbrowser
from pathlib import Path
webbrowser.open = lambda url: Path(sys.argv[1]).write_text(url) or True
import sfumato.studio.server as server
server.serve()
"""


def test_the_browser_is_opened_without_the_token(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    child = subprocess.Popen(
        [sys.executable, "-c", OPENED, str(seen)],
        stdout=subprocess.PIPE,
        text=True,
        env={"XDG_DATA_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1", "PATH": "/usr/bin:/bin"},
    )
    assert child.stdout is not None
    token = child.stdout.readline().partition("token=")[2].strip()
    while not seen.exists() or not seen.read_text():
        assert child.poll() is None
    opened = seen.read_text()
    assert token
    assert token not in opened
    assert opened.startswith("file://")
    page = Path(opened.removeprefix("file://"))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert stat.S_IMODE(page.parent.stat().st_mode) == 0o700
    assert token in page.read_text()
    child.terminate()
    child.wait()
    child.stdout.close()
    assert not page.exists()


def test_the_page_on_the_disk_opens_the_studio(studio: RunningStudio, browser: Browser, tmp_path: Path) -> None:
    page = browser.new_page()
    write_opening(tmp_path / "open.html", studio.origin, studio.token)
    page.set_default_timeout(1000 * HARD_LIMIT)
    with closed_when_quiet(page.context, studio.process.pid):
        page.goto((tmp_path / "open.html").as_uri())
        page.wait_for_selector("html[data-ready]")
    assert page.url.startswith(studio.origin)
    assert studio.token not in page.url
    page.close()


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "OPTIONS"])
def test_only_the_link_and_the_form_use_the_token_up(studio: RunningStudio, method: str) -> None:
    studio.ask(method, f"/?token={studio.token}")
    assert studio.ask("HEAD", "/enter").status == 403
    assert studio.enter(), "the token still works"


def test_the_cookie_alone_opens_nothing(shared: RunningStudio) -> None:
    """Another user's server on another port gets the cookie when the browser goes there."""
    for path in ("/api/session", "/api/events", "/api/download/release", "/api/ticket"):
        for secret in ("", "guessed", shared.token):
            answer = shared.ask("GET", path, headers={"X-Sfumato-Page": secret}, cookie=shared.cookie)
            assert answer.status == 403, path
    assert shared.secret not in shared.ask("GET", "/", cookie=shared.cookie).text


def test_a_ticket_opens_one_path_once() -> None:
    access = Access(4321)
    word = access.ticket("/api/download/release")
    assert not access.punch(word, "/api/download/policy")
    word = access.ticket("/api/download/release")
    assert access.punch(word, "/api/download/release")
    assert not access.punch(word, "/api/download/release")
    assert not access.punch("", "/api/download/release")


HALF = {
    "head": "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ",
    "body": "POST /enter HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4000\r\n\r\n",
    "pieces": "POST /enter HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nt\r\n",
}


@pytest.mark.parametrize(("half", "many"), [("head", 1200), ("body", 300), ("pieces", 300)])
def test_half_requests_do_not_lock_the_owner_out(start: Callable[..., RunningStudio], half: str, many: int) -> None:
    studio = start()
    cookie = studio.enter()  # the session is not what is asked for: any connection could be the one that is closed
    begun = HALF[half].format(host=f"127.0.0.1:{studio.port}").encode()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    held = []
    try:
        for _ in range(many):
            one = socket.create_connection(("127.0.0.1", studio.port), timeout=60)
            one.sendall(begun)
            held.append(one)
        looked = select.poll()
        for one in held:
            looked.register(one, select.POLLIN)
        assert looked.poll(1000 * HARD_LIMIT), "some are shown out: the studio has looked at them"
        assert studio.ask("GET", "/api/session", cookie=cookie).status == 200
    finally:
        for one in held:
            one.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    said = studio.stop()
    assert len(said) < 2000, "the terminal is not flooded"


ENDLESS = {
    "head": "GET / HTTP/1.1\r\nHost: {host}\r\nX-Long: ",
    "form": "POST /enter HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9000000000\r\n\r\n",
    "upload": "POST /api/upload HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9000000000\r\n\r\n",
}


def test_what_strangers_send_without_an_end_is_not_kept(start: Callable[..., RunningStudio]) -> None:
    studio = start()
    megabyte, sent = b"x" * 1_000_000, 0
    for begun in ENDLESS.values():
        for _ in range(20):
            with (
                contextlib.suppress(OSError),  # the server has closed
                socket.create_connection(("127.0.0.1", studio.port), timeout=2) as one,
            ):
                one.sendall(begun.format(host=f"127.0.0.1:{studio.port}").encode())
                for _ in range(50):
                    sent += one.send(megabyte)
    most = int(re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{studio.process.pid}/status").read_text())[0])
    assert sent > 0
    assert most < 400_000, "kilobytes: what the libraries need, and no gigabytes"
    assert len(studio.stop()) < 2000


def test_a_studio_that_is_ended_while_it_loads_says_no_more_than_that(start: Callable[..., RunningStudio]) -> None:
    said = start().stop()
    assert "Traceback" not in said
    assert len(said.splitlines()) <= 3


def test_a_request_that_drips_in_is_cut_off(start: Callable[..., RunningStudio]) -> None:
    """A byte now and then keeps nobody in the door: the server closes, whatever is still sent."""
    studio = start()
    with socket.create_connection(("127.0.0.1", studio.port), timeout=HARD_LIMIT) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        slow.settimeout(0.5)
        closed = False
        while not closed:
            try:
                slow.sendall(b"X")
                closed = slow.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
    assert closed
