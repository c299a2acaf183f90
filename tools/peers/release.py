"""Release a table of numbers with three other tools, each as its manual says; runs in an environment of its own.

python release.py TABLE.csv FOLDER NAME... writes a table for each tool, and what the tools and sdmetrics say of them;
sdmetrics is also asked about the tables NAME.csv of the folder.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import anonypy
import numpy as np
import pandas as pd
from copulas.multivariate import GaussianMultivariate
from imblearn.over_sampling import SMOTE
from sdmetrics.single_table import DCRBaselineProtection, NewRowSynthesis

K = 5  # people of a group


def gaussian_copula(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Draw rows from a Gaussian copula, as the Synthetic Data Vault does by default."""
    model = GaussianMultivariate()
    model.set_random_state(1)
    model.fit(table)
    return model.sample(len(table)), "rows are drawn from a model"


def mondrian(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Generalise all columns to intervals that at least five people share; intervals are read as their middles."""
    counted = table.assign(person=pd.Categorical(["one"] * len(table)))
    groups = anonypy.Preserver(counted, list(table.columns), "person").anonymize_k_anonymity(k=K)
    rows = [[_middle(group[name][0]) for name in table.columns] for group in groups for _ in range(group["count"])]
    return pd.DataFrame(rows, columns=table.columns), f"{min(group['count'] for group in groups)}-anonymous"


def _middle(interval: object) -> float:
    """Return the middle of an interval such as 3-9, which may begin with a minus."""
    text = str(interval)
    cut = text.find("-", 1)
    return float(text) if cut < 0 else (float(text[:cut]) + float(text[cut + 1 :])) / 2


def smote(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Draw as many rows between neighbours as there are people, and leave the people out."""
    n = len(table)
    far = table.iloc[np.arange(2 * n) % n] + 1e9  # SMOTE fills up the smaller of two classes: this one is the larger
    both = pd.concat([table, far], ignore_index=True)
    drawn, kinds = SMOTE(random_state=1).fit_resample(both, np.r_[np.zeros(n), np.ones(2 * n)])
    return drawn[kinds == 0].iloc[n:].reset_index(drop=True), "nothing; it is made for balancing classes"


TOOLS = {"copulas": gaussian_copula, "anonypy": mondrian, "imbalanced-learn": smote}


def scores(table: pd.DataFrame, made: pd.DataFrame) -> dict[str, float]:
    """Return what sdmetrics says of a release: the share of new rows, and protection by distance."""
    np.random.seed(1)  # noqa: NPY002 - sdmetrics draws from numpy's own generator
    about = {"columns": {name: {"sdtype": "numerical"} for name in table.columns}}
    whole = {"tables": {"people": about}}
    return {
        "new rows": float(NewRowSynthesis.compute(table, made, metadata=about)),
        "distance": float(DCRBaselineProtection.compute(table, made, metadata=whole, table_name="people")),
    }


def main(source: Path, folder: Path, others: list[str]) -> None:
    table = pd.read_csv(source).astype(float)
    told: dict[str, dict[str, object]] = {}
    for name, release in TOOLS.items():
        made, says = release(table)
        made.to_csv(folder / f"{name}.csv", index=False)
        how = (release.__doc__ or "").strip()
        told[name] = {"version": version(name), "how": how, "says": says, **scores(table, made)}
    for name in others:
        told[name] = {"version": "", "how": "", "says": "", **scores(table, pd.read_csv(folder / f"{name}.csv"))}
    (folder / "told.json").write_text(json.dumps({"sdmetrics": version("sdmetrics"), "tools": told}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
