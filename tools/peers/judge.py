"""Ask Anonymeter about released tables; runs in an environment of its own.

python judge.py TABLE.csv FOLDER NAME... writes the risks that it reports into FOLDER/judged.json.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

ATTACKS = 500


def risks(known: pd.DataFrame, control: pd.DataFrame, released: pd.DataFrame) -> dict[str, float]:
    """Return the risk of each of the regulators' questions, beyond the control."""
    np.random.seed(1)  # noqa: NPY002 - Anonymeter draws from numpy's own generator
    names, told = list(known.columns), {"ori": known, "syn": released, "control": control, "n_attacks": ATTACKS}
    halves = names[: len(names) // 2], names[len(names) // 2 :]
    asked = {
        "singling out": SinglingOutEvaluator(**told).evaluate(mode="multivariate"),
        "linkability": LinkabilityEvaluator(**told, aux_cols=halves, n_neighbors=10).evaluate(n_jobs=1),
        "inference": InferenceEvaluator(**told, secret=names[-1], aux_cols=names[:-1], regression=True).evaluate(
            n_jobs=1
        ),
    }
    return {question: float(one.risk().value) for question, one in asked.items()}


def main(source: Path, folder: Path, names: list[str]) -> None:
    table = pd.read_csv(source).astype(float).sample(frac=1, random_state=1)
    half = len(table) // 2
    judged: dict[str, object] = {"anonymeter": version("anonymeter")}
    for name in names:
        judged[name] = risks(table.iloc[:half], table.iloc[half:], pd.read_csv(folder / f"{name}.csv").astype(float))
    (folder / "judged.json").write_text(json.dumps(judged))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
