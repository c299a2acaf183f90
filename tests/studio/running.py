"""A studio as a person starts it: a process of its own, with a home of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.studio.quiet import HARD_LIMIT, ended_when_quiet

START = """
import sys
from pathlib import Path
from sfumato.studio.server import serve
from sfumato.studio.uploads import Limits
serve(Path(sys.argv[1]) if sys.argv[1:] else None, open_browser=False, limits=Limits(**{limits!r}))
"""


class RunningStudio:
    """Start a studio; `limits` replaces some of its `Limits`."""

    def __init__(self, home: Path, file: Path | None = None, **limits: Any) -> None:
        self.home = home
        environment = {**os.environ, "XDG_DATA_HOME": str(home), "PYTHONUNBUFFERED": "1"}
        environment.pop("SFUMATO_KEYS", None)
        if limits:
            command = [sys.executable, "-c", START.format(limits=limits), *([str(file)] if file else [])]
        else:
            command = [sys.executable, "-m", "sfumato", "studio", "--no-browser", *([str(file)] if file else [])]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=home
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", first)
        assert found, first + self.process.stdout.read()
        self.link, self.port, self.token = found[0], int(found[1]), found[2]
        self.cookie = self.secret = ""
        self.origin = f"http://127.0.0.1:{self.port}"
        self._said = [first]
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        self._said += self.process.stdout

    @property
    def folders(self) -> list[Path]:
        """The folders of studios that are still there."""
        home = self.home / "sfumato" / "studio"
        return sorted(home.iterdir()) if home.exists() else []

    def files(self) -> list[Path]:
        """Files that the studio keeps, its lock aside."""
        return [path for folder in self.folders for path in folder.rglob("*") if path.name != "lock"]

    def stop(self, how: int = signal.SIGINT) -> str:
        """End it, and return everything that it has written to the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(timeout=HARD_LIMIT)
        self._listener.join(timeout=HARD_LIMIT)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return "".join(self._said)

    # ---- a client that is no browser -------------------------------------------------------------------

    def enter(self) -> str:
        """Exchange the token for the cookie, as the opened link does."""
        answer = self.ask("GET", f"/?token={self.token}")
        assert answer.status == 200, answer.text
        found = re.search(r'name="studio-secret" content="([^"]+)"', answer.text)
        assert found
        self.secret = found[1]
        return answer.headers["set-cookie"].split(";")[0]

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, cookie: str = ""
    ) -> Answer:
        """Send one request; other headers than the studio's own page sends are given by name, None leaves one out."""
        sent: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}"}
        if cookie:
            sent["Cookie"] = cookie
            sent["X-Sfumato-Page"] = self.secret
        if method != "GET":
            sent["Origin"] = self.origin
        sent |= headers or {}
        raw = json.dumps(body).encode() if isinstance(body, dict) else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HARD_LIMIT)
        with closing(connection), ended_when_quiet(self.process):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if raw is not None and "Content-Length" not in sent:
                sent["Content-Length"] = str(len(raw))
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(raw)
            response = connection.getresponse()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())

    def upload(self, name: str, content: bytes, cookie: str, **headers: str) -> Answer:
        """Upload a file."""
        return self.ask("POST", "/api/upload", content, {"X-File-Name": name, **headers}, cookie)


class Answer:
    """What came back."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def data(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]
