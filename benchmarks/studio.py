"""The studio on large files: memory while 500 MB go through it, and how long a person waits.

Writes benchmarks/studio.json, and the table in docs/studio.md from it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sfumato.perturb.catalogue import method as find_method  # noqa: E402
from sfumato.studio.preview import MANY_PASSES  # noqa: E402
from tests.conftest import CHROMIUM_FLAGS as FLAGS  # noqa: E402
from tests.studio.running import RunningStudio  # noqa: E402

MB = 1_000_000
MOVE = """([name, steps, paints]) => new Promise((resolve) => {
  const slider = document.querySelector(`input[type=range][aria-label="${name}"]`);
  const after = document.querySelectorAll(".first .plot")[1];
  const start = performance.now();
  let painted = 0;
  const done = () => {
    if (painted < paints || document.querySelector(".tile-value").textContent === "…") return;
    clearInterval(timer);
    resolve(performance.now() - start);
  };
  after.addEventListener("painted", () => { painted += 1; });
  const timer = setInterval(done, 5);
  slider.value = Number(slider.value) + steps;
  slider.dispatchEvent(new Event("input"));
})"""


def people(path: Path, n_rows: int) -> None:
    """Write a table of people in pieces, so that the benchmark itself stays small."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 5))
    with path.open("wb") as file:
        for start in range(0, n_rows, 200_000):
            n = min(200_000, n_rows - start)
            kind = rng.integers(0, 5, n)
            columns: dict[str, Any] = {"id": np.arange(start, start + n) + 10_000_000}
            columns["age"] = 20 + 9 * kind + rng.integers(0, 9, n)
            for name, centre in zip(("balance", "income", "spend", "tenure", "score"), centres, strict=False):
                columns[name] = np.round(1000 * centre[kind] + rng.normal(0, 200, n), 2)
            pl.DataFrame(columns).write_csv(file, include_header=start == 0)


def peak_memory(studio: RunningStudio) -> float:
    """Return the largest memory of the studio's process so far, in MB."""
    text = Path(f"/proc/{studio.process.pid}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", text)[0]) * 1024 / MB


def through(home: Path, n_rows: int) -> dict[str, Any]:
    """Upload, preview, release, audit and download one large file; return memory after each."""
    path = home / "large.csv"
    people(path, n_rows)
    studio = RunningStudio(home)
    cookie = studio.enter()
    found: dict[str, Any] = {
        "file": round(path.stat().st_size / MB),
        "rows": n_rows,
        "niceness": os.nice(0),
        "peak": {},
    }

    def note(what: str, started: float) -> None:
        found["peak"][what] = round(peak_memory(studio))
        found.setdefault("seconds", {})[what] = round(time.monotonic() - started, 1)
        print(f"{what}: {found['peak'][what]} MB, {found['seconds'][what]} s", flush=True)

    started = time.monotonic()
    note("start", started)
    dataset = json.loads(_upload(studio, path, cookie))["id"]
    path.unlink()
    note("uploaded and read", started)
    started = time.monotonic()
    asked = {"dataset": dataset, "settings": {"method": "adp"}, "k": 5}
    assert studio.ask("POST", "/api/preview", asked, cookie=cookie).lines[-1]["type"] == "verdict"
    note("previewed", started)
    started = time.monotonic()
    assert studio.ask("POST", "/api/release", asked, cookie=cookie).status == 202
    _wait(studio, cookie, lambda job: job["status"] == "done")
    note("released", started)
    started = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", studio.port)
    connection.request("GET", "/api/download/release", headers={"Cookie": cookie})
    response, size = connection.getresponse(), 0
    while chunk := response.read(1 << 20):
        size += len(chunk)
    found["released"] = round(size / MB)
    note("downloaded", started)
    started = time.monotonic()
    _wait(studio, cookie, lambda job: "grade" in (job["audit"] or {}))
    note("audited", started)
    studio.stop()
    return found


def _upload(studio: RunningStudio, path: Path, cookie: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port)
    headers = {"Cookie": cookie, "Origin": studio.origin, "X-File-Name": "large.csv"}
    with path.open("rb") as file:
        connection.request("POST", "/api/upload", file, {**headers, "Content-Length": str(path.stat().st_size)})
        return connection.getresponse().read()


def _wait(studio: RunningStudio, cookie: str, ready: Callable[[dict[str, Any]], bool]) -> None:
    while True:
        job = studio.ask("GET", "/api/session", cookie=cookie).data["job"]
        assert job["status"] in {"running", "done"}, job
        if job["status"] == "done" and ready(job):
            return
        time.sleep(0.5)


def waiting(home: Path, n_rows: int, moves: int) -> dict[str, Any]:
    """Return how long a person waits for the first page, and for the picture after a slider has stopped."""
    path = home / "people.csv"
    people(path, n_rows)
    studio = RunningStudio(home, path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.set_default_timeout(600_000)
        page.goto(studio.link)
        page.wait_for_selector("table.columns")
        sizes: list[int] = []
        page.on("response", lambda answer: sizes.append(int(answer.headers.get("content-length", "0"))))
        ready = [_ready(page, studio) for _ in range(5)]
        found: dict[str, Any] = {
            "rows": n_rows,
            "first_page_kb": round(sum(sizes) / len(ready) / 1000),
            "first_page_seconds": round(statistics.median(ready), 2),
            "slider_seconds": {},
            "load": round(os.getloadavg()[0], 1),
            "niceness": os.nice(0),
        }
        page.goto(f"{studio.origin}/#results")
        for method, slider in (("adp", "Scale"), ("ina", "Beta"), ("one-d", "Clusters"), ("mix", "Spread")):
            page.locator("#method").select_option(method)
            page.wait_for_selector(".tried .chosen")  # what is worked out once for a table has been worked out
            looks = 2 if find_method(method).passes >= MANY_PASSES else 1
            for paints in range(1, looks + 1):
                waits = [page.evaluate(MOVE, [slider, 3 if i % 2 else -3, paints]) / 1000 for i in range(moves)]
                name = method if paints == looks else f"{method}, first look"
                found["slider_seconds"][name] = round(statistics.median(waits), 2)
                print(f"{name}: {found['slider_seconds'][name]} s", flush=True)
        browser.close()
    studio.stop()
    return found


def _ready(page: Page, studio: RunningStudio) -> float:
    page.goto("about:blank")
    started = time.monotonic()
    page.goto(studio.origin)
    page.wait_for_selector("html[data-ready]")
    return time.monotonic() - started


def table(found: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    wait, memory = found["waiting"], found["memory"]
    lines = ["| | measured | promised |", "|---|---|---|"]
    lines.append(f"| first page | {wait['first_page_kb']} KB | below 300 KB |")
    lines.append(f"| first page ready, median | {wait['first_page_seconds']} s | 1 s |")
    for case, seconds in wait["slider_seconds"].items():
        # a method of many passes shows some hundred rows first, and all sampled rows later
        method, first, _ = case.partition(", first look")
        name = f"slider to {'first look' if first else 'picture'} and one k, {wait['rows']:,} rows, `{method}`, median"
        lines.append(f"| {name} | {seconds} s | 1.5 s |")
    peak = max(memory["peak"].values())
    name = f"largest memory while a file of {memory['file']} MB is uploaded, previewed, released, audited, downloaded"
    lines.append(f"| {name} | {peak} MB | 500 MB |")
    return "\n".join([*lines, "", _machine(found)])


def _machine(found: dict[str, Any]) -> str:
    wait, memory = found["waiting"], found["memory"]
    return (
        f"Measured on {found['machine']}; load of the machine meanwhile: {wait['load']} of {os.cpu_count()}; niceness "
        f"{wait['niceness']} (waiting) and {memory['niceness']} (memory)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of the large file; 10,000,000 are 540 MB")
    parser.add_argument("--moves", type=int, default=9, help="of a slider")
    parser.add_argument("--only", choices=["waiting", "memory"], help="one of the two; the other keeps its figures")
    options = parser.parse_args()
    path = ROOT / "benchmarks" / "studio.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    with tempfile.TemporaryDirectory(dir=Path.home()) as home:
        if options.only != "memory":
            found["waiting"] = waiting(Path(home), 1_000_000, options.moves)
        if options.only != "waiting":
            found["memory"] = through(Path(home), options.rows)
    found["machine"] = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if not {"waiting", "memory"} <= set(found):
        return
    page = ROOT / "docs" / "studio.md"
    pattern = re.compile(r"(<!-- figures -->\n).*?(\n<!-- /figures -->)", flags=re.DOTALL)
    text = pattern.sub(lambda part: part[1] + table(found) + part[2], page.read_text(encoding="utf-8"))
    page.write_text(text, encoding="utf-8")
    print(table(found))


if __name__ == "__main__":
    main()
