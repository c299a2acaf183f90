"""What `import sfumato` promises: names that exist, light imports, layers that hold, docs whose examples run."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import sfumato
from sfumato.perturb import methods

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])  # the guide is run page by page in tests/docs


def test_every_exported_name_exists() -> None:
    import importlib

    for package in ("sfumato", "sfumato.perturb", "sfumato.metrics", "sfumato.cluster", "sfumato.exceptions"):
        module = importlib.import_module(package)
        for name in module.__all__:
            assert getattr(module, name) is not None, f"{package}.{name}"
        assert set(module.__all__) <= set(dir(module))


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


#: run some code, and print last which libraries it has loaded, and how many modules of ours
LOADED = """
import sys
before = set(sys.modules)
{}
loaded = set(sys.modules) - before
libraries = {{name.partition(".")[0] for name in loaded}} - set(sys.stdlib_module_names) - {{"sfumato"}}
print(sorted(libraries), sum(name.partition(".")[0] == "sfumato" for name in loaded))
"""


def loaded_by(code: str) -> tuple[list[str], int]:
    """Return the libraries that a program loads, and how many modules of ours."""
    libraries, _, ours = python(LOADED.format(code)).splitlines()[-1].rpartition(" ")
    return ast.literal_eval(libraries), int(ours)


def test_importing_sfumato_loads_no_library_and_hardly_anything_of_ours() -> None:
    libraries, ours = loaded_by("import sfumato")
    assert libraries == []
    assert ours <= 3


#: what the catalogue of methods needs to say what parameters may be
_FOR_METHODS = {"click", "numpy", "threadpoolctl", "cryptography", "_cffi_backend", "_openssl"}


@pytest.mark.parametrize(
    ("argument", "needed", "most"), [("--help", {"click"}, 20), ("methods", _FOR_METHODS, 45)], ids=["help", "methods"]
)
def test_help_and_the_catalogue_load_next_to_nothing(argument: str, needed: set[str], most: int) -> None:
    code = f"sys.argv = ['sfumato', {argument!r}]\nfrom sfumato.cli import sfumato\n"
    libraries, ours = loaded_by(code + "try: sfumato()\nexcept SystemExit: pass")
    assert set(libraries) <= needed
    assert ours <= most


def test_the_import_check_passes_and_can_fail(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import check_imports
    finally:
        sys.path.pop(0)
    assert check_imports.problems() == []
    package = tmp_path / "sfumato"
    (package / "attack").mkdir(parents=True)
    (package / "core").mkdir()
    (package / "attack" / "bad.py").write_text("from sfumato.perturb import Rotation\nfrom sfumato import perturb\n")
    (package / "core" / "bad.py").write_text("import polars\n")
    original = check_imports.ROOT
    check_imports.ROOT = package
    try:
        found = check_imports.problems()
    finally:
        check_imports.ROOT = original
    assert len([line for line in found if not line.startswith("LAYERS")]) == 3
    assert "LAYERS: files does not import core" in found, "an arrow that nobody uses is a fault too"
    assert any("attack must not import perturb" in line for line in found)
    assert any("polars may be imported only from files, frames, policy" in line for line in found)


def test_generated_parts_of_the_docs_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_docs.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_design_names_only_files_that_exist() -> None:
    page = (ROOT / "DESIGN.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_/]+/[a-z_]+\.py)`", page):
        inside = any(
            (ROOT / "src" / "sfumato" / place / name).exists() for place in ("", "perturb", "pipeline", "auditing")
        )
        assert inside or (ROOT / name).exists(), name


@pytest.mark.filterwarnings("ignore::sfumato.exceptions.UnchangedCellsWarning")  # the README says that it warns
@pytest.mark.filterwarnings("ignore::sfumato.exceptions.HeldBackWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_in_the_docs_run(page: Path, monkeypatch, tmp_path: Path) -> None:
    """Blocks of a page share their names; `>>>` blocks also check their output."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        code = textwrap.dedent(block)
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
            runner.run(test, clear_globs=False)
            assert runner.summarize(verbose=False).failed == 0
            names.update(test.globs)
        else:
            exec(compile(code, f"{page.name}", "exec"), names)


def test_the_readme_lists_every_method_with_who_breaks_it() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in methods():
        line = next((line for line in text.splitlines() if f"`{row.name}`" in line), None)
        assert line is not None, f"{row.name} is missing in the README's table"
        assert f"`{row.id}`" in line


def test_the_version_is_the_same_everywhere() -> None:
    from importlib.metadata import version

    assert version("sfumato") == sfumato.__version__
    assert f"version: {sfumato.__version__}" in (ROOT / "CITATION.cff").read_text()


def test_the_old_place_of_the_demo_table_still_works_with_a_warning() -> None:
    from sfumato.demo import tour

    with pytest.warns(DeprecationWarning, match="sfumato.datasets"):
        assert tour.demo_table().shape == (2934, 7)
