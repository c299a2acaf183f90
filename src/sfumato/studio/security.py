"""The gate: who may talk to the studio at all.

A web page on the internet can make a browser send requests to 127.0.0.1, and a name on the internet can be made to
point there. So every request must name this host and port, must not come from another origin, and must carry the
cookie that was exchanged for the one-time token of the opened link. Browsers send cookies to every port of a computer,
so what tells anything also needs a secret that only pages of this port hold. Written as plain ASGI, so that nothing
(no WebSocket, no static file, no error page) goes around it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from sfumato.studio.entrance import entered_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_READ_ONLY = {"GET", "HEAD"}
_MOST_TICKETS = 100
_MOST_FORM = 4096
PAGE_HEADER = "x-sfumato-page"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}

_ENTRANCE, _TICKET = "/enter", "/api/ticket"


class Access:
    """The one-time token of the link, and the secret of the cookie it is exchanged for.

    Parameters
    ----------
    port : int
        Browsers send cookies to every port of a host, so the cookie carries the port in its name.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie_name = f"sfumato-studio-{port}"
        self._token: str | None = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._secret = secrets.token_urlsafe(32)
        self._tickets: dict[str, str] = {}

    @property
    def token(self) -> str:
        """The token, while it has not been used."""
        return self._token or ""

    def link(self) -> str:
        """Return the link to open; it works once."""
        return f"{self.origin}/?token={self._token}" if self._token else self.origin

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://127.0.0.1:{self.port}"

    def exchange(self, token: str) -> tuple[str, str] | None:
        """Return the cookie and the page's secret for a token that was not used yet, else None."""
        if self._token is None or not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        self._token = None
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict", self._secret

    def is_page(self, secret: str) -> bool:
        """Tell whether a request comes from a page of this port."""
        return hmac.compare_digest(secret.encode(), self._secret.encode())

    def ticket(self, path: str) -> str:
        """Return a word that opens one path once: a browser downloads without headers of ours."""
        if len(self._tickets) >= _MOST_TICKETS:
            self._tickets.pop(next(iter(self._tickets)))
        word = secrets.token_urlsafe(32)
        self._tickets[word] = path
        return word

    def punch(self, word: str, path: str) -> bool:
        """Tell whether a ticket is for this path; it is used up."""
        return bool(word) and self._tickets.pop(word, None) == path

    def knows(self, cookie_header: str) -> bool:
        """Tell whether a Cookie header holds the session's cookie."""
        try:
            held = SimpleCookie(cookie_header).get(self.cookie_name)
        except CookieError:
            return False
        return held is not None and hmac.compare_digest(held.value.encode(), self._cookie.encode())

    def __repr__(self) -> str:
        return f"Access(port={self.port})"


class Gate:
    """Refuse what is not the studio's own page, and put the security headers on every answer."""

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access
        self._host = access.origin.removeprefix("http://")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # the studio has no WebSockets: a handshake is refused before it begins
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = _headers_of(scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        path, query = scope["path"], parse_qs(scope["query_string"].decode("latin-1"))
        token = query.get("token", [""])[0]
        known = self._access.knows(headers.get("cookie", ""))
        if path == _ENTRANCE and scope["method"] == "POST":
            await self._enter(parse_qs(await _form(receive)).get("token", [""])[0], send)
        elif path == "/" and token and not known and scope["method"] == "GET":
            await self._enter(token, send)
        elif not known:
            await _answer(send, 403, "This page belongs to another session. Open the link that the terminal shows.")
        elif path == "/" and token:
            await _answer(send, 303, "", {"location": "/"})  # the link again, by the browser that has used it
        elif path.startswith("/api/") and not self._from_page(path, headers, query):
            await _answer(send, 403, "This was not asked by the studio's own page. Open the link in the terminal.")
        elif path == _TICKET and scope["method"] == "POST":
            wanted = parse_qs(await _form(receive)).get("path", [""])[0]
            await _answer(send, 200, self._access.ticket(wanted))
        else:
            await self._app(scope, receive, _with_headers(send))

    def is_of_session(self, scope: Scope) -> bool:
        """Tell whether a request carries the session's cookie."""
        return self._access.knows(_headers_of(scope).get("cookie", ""))

    def _from_page(self, path: str, headers: dict[str, str], query: dict[str, list[str]]) -> bool:
        ticket = query.get("ticket", [""])[0]
        return self._access.is_page(headers.get(PAGE_HEADER, "")) or self._access.punch(ticket, path)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host") != self._host:
            return 421, f"The studio answers at {self._access.origin} only."
        if (
            scope["path"] == _ENTRANCE
        ):  # posted by a page on the disk, which has no origin: the token is all that counts
            return None
        origin = headers.get("origin")
        if origin is not None and origin != self._access.origin:
            return 403, "Requests from other pages are refused."
        if scope["method"] not in _READ_ONLY and origin is None:
            return 403, "Requests without an origin are refused."
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return 403, "Requests from other sites are refused."
        return None

    async def _enter(self, token: str, send: Send) -> None:
        found = self._access.exchange(token)
        if found is None:
            await _answer(send, 403, "This link was used already or is not right. Start sfumato studio again.")
        else:
            # no redirect: a strict cookie does not go along with one that another page has begun
            told = {"content-type": "text/html; charset=utf-8", "set-cookie": found[0]}
            await _answer(send, 200, entered_page(found[1]), told)


async def _form(receive: Receive) -> str:
    """Return a short form, or nothing if it is not short."""
    body = b""
    while len(body) <= _MOST_FORM:
        message = await receive()
        body += bytes(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return body.decode("latin-1")
    return ""


def _headers_of(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        # two Host or Origin headers never agree with what is allowed; cookies may come in several
        found[name] = f"{found[name]}; {value}" if name in found else value
    return found


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *_raw(_HEADERS)]
        await send(message)

    return sending


async def _answer(send: Send, status: int, text: str, headers: dict[str, str] | None = None) -> None:
    body = text.encode()
    told = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **(headers or {})}
    await send({"type": "http.response.start", "status": status, "headers": _raw({**told, **_HEADERS})})
    await send({"type": "http.response.body", "body": body})


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
