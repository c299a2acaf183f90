"""The checklist of a release, done: build twice and compare, check, install in clean environments, list what is inside.

python tools/release_check.py                          everything, with this interpreter
python tools/release_check.py python3.12 python3.13    and with these

Writes dist/ (wheel, sdist, SBOM). Exits with 1 at the first point that does not hold.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
LARGEST_WHEEL = 3_000_000
EPOCH = "315619200"  # files in the archives carry this time, whenever they are built
SMOKE = """
import pathlib, sys, sfumato as sf
here = pathlib.Path(sys.argv[1])
rows = "".join(f"{i},{20 + i % 50},{i * 7 % 90}.5\\n" for i in range(99))
(here / "people.csv").write_text("id,age,wage\\n" + rows)
done = sf.release(here / "people.csv", here / "out.csv", identifier=["id"], method="adp", key=here / "my.key")
assert done.n_rows == 99 and (pathlib.Path(sf.__file__).parent / "py.typed").exists()
print("ok", sf.__version__, sys.version.split()[0])
"""


def run(*command: str, **more: object) -> str:
    """Run a command and return what it prints; stop if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"failed: {' '.join(command[:6])}\n{done.stdout}{done.stderr}")
    return str(done.stdout).strip()


def version() -> str:
    """Return the version, from its one place."""
    text = (ROOT / "src" / "sfumato" / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__version__":
            return str(ast.literal_eval(node.value))
    sys.exit("src/sfumato/__init__.py: no __version__")


def check_texts(number: str) -> None:
    """Stop unless citation and changelog know the version."""
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE)
    if cited is None or cited[1].strip() != number:
        sys.exit(f"CITATION.cff: its version is not {number}")
    heads = re.findall(r"^## \[?([\w.]+)\]?", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    if "Unreleased" not in heads and number not in heads:
        sys.exit(f"CHANGELOG.md: neither [Unreleased] nor [{number}]")


def build(folder: Path) -> dict[str, str]:
    """Build wheel and sdist into a folder; return the hash of each."""
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT), env=env)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def install(python: str, archive: Path) -> str:
    """Install an archive into a clean environment, use it there, and return what it says."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", f"{folder}/env")
        run(f"{folder}/env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(archive))
        run(f"{folder}/env/bin/sfumato", "--version", cwd=folder)
        return run(f"{folder}/env/bin/python", "-c", SMOKE, folder, cwd=folder)


def bill_of_materials(wheel: Path) -> Path:
    """Write what an installed wheel consists of, as CycloneDX."""
    out = DIST / "sbom.json"
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", "--without-pip", f"{folder}/env")
        place = f"{folder}/env/bin/python"
        run(sys.executable, "-m", "pip", "--python", place, "install", "--quiet", str(wheel))
        run(sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "-o", str(out), place)
    return out


def check_examples() -> int:
    """Stop unless the programs of the README and the guide are clean for pyright; return of how many pages."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            blocks = re.findall(
                r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
            )
            code = "\n".join(block for block in blocks if ">>>" not in block)
            if code:
                (Path(folder) / f"{page.stem.replace('-', '_').lower()}.py").write_text(code, encoding="utf-8")
        count = len(list(Path(folder).iterdir()))
        # libraries without types of their own are not guessed at, and a notebook shows its last line
        options = {"useLibraryCodeForTypes": False, "reportMissingModuleSource": False, "reportUnusedExpression": False}
        (Path(folder) / "pyrightconfig.json").write_text(json.dumps(options), encoding="utf-8")
        run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", folder, cwd=folder)
    return count


def main(pythons: list[str]) -> None:
    """Do the checklist."""
    number = version()
    check_texts(number)
    print(f"version {number}: in __init__.py alone; citation and changelog agree")
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as again:
        if build(DIST) != build(Path(again)):
            sys.exit("two builds differ")
    wheel, sdist = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    print(f"two builds are equal, byte for byte: {wheel.name}, {sdist.name}")
    if wheel.stat().st_size > LARGEST_WHEEL:
        sys.exit(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
    print(f"the wheel has {wheel.stat().st_size:,} bytes, the sdist {sdist.stat().st_size:,}")
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist))
    run(sys.executable, "-m", "check_wheel_contents", str(wheel))
    print("twine and check-wheel-contents have nothing to say")
    for python in dict.fromkeys([sys.executable, *pythons]):
        for archive in (wheel, sdist):
            print(f"{archive.suffix.lstrip('.')} in a clean environment: {install(python, archive)}")
    parts = json.loads(bill_of_materials(wheel).read_text(encoding="utf-8"))["components"]
    print(f"dist/sbom.json: {len(parts)} components")
    print(f"pyright has nothing to say about the examples of {check_examples()} pages")


if __name__ == "__main__":
    main(sys.argv[1:])
