"""Who may talk to the studio: nobody but the browser that opened its link."""

from __future__ import annotations

import socket

import pytest

from sfumato.studio.security import Access
from tests.studio.running import RunningStudio

PATHS = ["/", "/static/style.css", "/api/session", "/api/events", "/api/download/release", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_shown_without_the_cookie(shared: RunningStudio, path: str) -> None:
    answer = shared.ask("GET", path)
    assert answer.status == 403
    assert "link that the terminal shows" in answer.text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost:1", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_is_refused_even_with_the_cookie(shared: RunningStudio, host: str) -> None:
    answer = shared.ask("GET", "/api/session", headers={"Host": host}, cookie=shared.cookie)
    assert answer.status in {400, 421}
    assert "methods" not in answer.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused_even_with_the_cookie(shared: RunningStudio, origin: str, method: str) -> None:
    path = "/api/session" if method == "GET" else "/api/demo"
    answer = shared.ask(method, path, headers={"Origin": origin}, cookie=shared.cookie)
    assert answer.status == 403


def test_a_change_without_an_origin_is_refused(shared: RunningStudio) -> None:
    answer = shared.ask("POST", "/api/demo", {}, headers={"Origin": None}, cookie=shared.cookie)  # type: ignore[dict-item]
    assert answer.status == 403


def test_a_request_that_another_site_caused_is_refused(shared: RunningStudio) -> None:
    cookie = shared.cookie
    for site in ("cross-site", "same-site"):
        assert shared.ask("GET", "/", headers={"Sec-Fetch-Site": site}, cookie=cookie).status == 403


def test_the_token_works_once(studio: RunningStudio) -> None:
    cookie = studio.enter()
    assert cookie.startswith(f"sfumato-studio-{studio.port}=")
    again = studio.ask("GET", f"/?token={studio.token}")
    assert again.status == 403
    assert "used already" in again.text
    assert studio.ask("GET", f"/?token={studio.token}", cookie=cookie).status == 303, "the same browser may reload it"
    assert studio.ask("GET", "/?token=guessed").status == 403


def test_the_cookie_is_strict_and_out_of_reach_of_scripts() -> None:
    access = Access(4321)
    found = access.exchange(access.link().partition("token=")[2])
    assert found is not None
    cookie = found[0]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert access.link() == "http://127.0.0.1:4321", "the link no longer carries a token"
    assert repr(access) == "Access(port=4321)"


def test_a_wrong_cookie_is_refused(shared: RunningStudio) -> None:
    name = shared.cookie.partition("=")[0]
    for cookie in (f"{name}=guessed", f"{name}=", "other=1", f"{name}"):
        assert shared.ask("GET", "/api/session", cookie=cookie).status == 403


def test_every_answer_forbids_scripts_and_frames_from_elsewhere(shared: RunningStudio) -> None:
    cookie = shared.cookie
    answers = [shared.ask("GET", path, cookie=cookie) for path in PATHS if path != "/api/events"]
    answers += [shared.ask("GET", "/"), shared.ask("GET", "/api/session", headers={"Host": "evil.example"})]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_websockets_are_refused(shared: RunningStudio) -> None:
    cookie = shared.cookie
    for origin in (shared.origin, "https://evil.example"):
        answer = shared.ask(
            "GET",
            "/api/events-socket",
            headers={
                "Upgrade": "websocket",
                "Connection": "Upgrade",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Version": "13",
                "Origin": origin,
            },
            cookie=cookie,
        )
        assert answer.status in {400, 403, 404, 426}


def test_it_listens_on_this_computer_only(shared: RunningStudio) -> None:
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}
    others |= {"127.0.0.2"}
    for address in others:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((address, shared.port)) != 0, address


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2f..%2f..%2fpyproject.toml",
        "/static//etc/passwd",
        "/api/download/..%2f..%2fetc%2fpasswd",
        "/api/download/%2fetc%2fpasswd",
        "/api/download/key",
    ],
)
def test_no_path_leads_out(shared: RunningStudio, path: str) -> None:
    answer = shared.ask("GET", path, cookie=shared.cookie)
    assert answer.status == 404
    assert b"root:" not in answer.body
    assert b"import" not in answer.body
