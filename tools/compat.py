"""Smoke test with the oldest and with the newest supported libraries, each in a clean environment.

The oldest are the lower bounds of pyproject.toml; the newest are whatever the index has today.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SMOKE = """
import importlib.metadata as m, warnings
import numpy as np, pandas as pd, polars as pl
import sfumato as sf
rng = np.random.default_rng(0)
values = rng.normal(size=(300, 4)) + 5 * rng.integers(0, 3, 300)[:, None]
names = list("abcd")
tables = [values, pd.DataFrame(values, columns=names), pl.DataFrame({n: values[:, i] for i, n in enumerate(names)})]
for row in sf.methods():
    out = []
    for table in tables:
        settings = {"perturber": sf.perturb.Translation()} if row.wraps else {}
        settings |= {"min_radius": 0.1} if row.id == "one-d" else {}
        if row.draws_rows:
            continue  # needs a library that is not of the core, and no two of its releases agree
        perturber = row.load()(insecure_seed=1, columns=[0, 1, 2, 3], **settings)
        released = perturber.fit_transform(table)
        assert type(released) is type(table), (row.id, type(released))
        out.append(np.asarray(released))
        if row.invertible:
            assert np.allclose(np.asarray(perturber.inverse_transform(released)), values)
    assert out[1].tobytes() == out[2].tobytes() or np.array_equal(out[1], out[2]), row.id
labels = sf.cluster.FuzzyCMeans(3).fit_predict(values)
assert sf.metrics.misclassification_rate(labels, labels) == 0.0
names = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "narwhals")
print("ok:", ", ".join(f"{n} {m.version(n)}" for n in names))
"""


def oldest() -> list[str]:
    """Return `name==lower bound` for every dependency of the core and of the dataframes extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dataframes"]]
    return [re.sub(r">=\s*", "==", line) for line in wanted]


def smoke(name: str, requirements: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements, str(ROOT)], check=True)
        done = subprocess.run(
            [python, "-W", "ignore", "-c", SMOKE], check=True, cwd=folder, capture_output=True, text=True
        )
        print(f"{name}: {done.stdout.strip()}")


if __name__ == "__main__":
    try:
        smoke("oldest", oldest())
        smoke("newest", ["pandas", "pyarrow"])
    except subprocess.CalledProcessError as error:
        print(error.stderr or "", file=sys.stderr)
        sys.exit(f"compat: {error}")
