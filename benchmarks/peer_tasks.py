"""One task of one tool on the tables of a folder: python benchmarks/peer_tasks.py TOOL FOLDER.

Runs in the tool's own environment, so nothing but the tool and pandas may be imported here.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd

warnings.simplefilter("ignore")
K = 3


def anonymeter(original: pd.DataFrame, released: pd.DataFrame) -> None:
    from anonymeter.evaluators import LinkabilityEvaluator, SinglingOutEvaluator

    half = len(original) // 2
    known, control = original.iloc[:half], original.iloc[half:]
    names = list(original.columns)
    columns = (names[: len(names) // 2], names[len(names) // 2 :])
    attacks = min(2000, half)
    SinglingOutEvaluator(ori=known, syn=released, control=control, n_attacks=min(500, half)).evaluate(mode="univariate")
    LinkabilityEvaluator(
        ori=known, syn=released, control=control, aux_cols=columns, n_attacks=attacks, n_neighbors=10
    ).evaluate(n_jobs=1)


def sdmetrics(original: pd.DataFrame, released: pd.DataFrame) -> None:
    from sdmetrics.single_table import NewRowSynthesis

    metadata = {"columns": {name: {"sdtype": "numerical"} for name in original.columns}}
    NewRowSynthesis.compute(original, released, metadata, numerical_match_tolerance=0.01)


def diffprivlib(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=1.0, sensitivity=1.0)
    original.map(mechanism.randomise)


def pycanon(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from pycanon.anonymity import k_anonymity

    coarse = original.round(0)
    k_anonymity(coarse, list(coarse.columns[:5]))


def anjana(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from anjana.anonymity import k_anonymity

    table = original.round(0)
    names = list(table.columns[:5])
    levels = {
        name: {0: table[name].to_numpy(), 1: table[name].round(-1).to_numpy(), 2: (table[name] * 0).to_numpy()}
        for name in names
    }
    k_anonymity(table, [], names, K, 50, levels)


def our_audit(original: pd.DataFrame, released: pd.DataFrame) -> None:
    import sfumato as sf

    sf.audit(original, released)


def our_noise(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from sfumato.perturb import AdditiveNoise

    AdditiveNoise(distribution="laplace", insecure_seed=1).fit_transform(original)


def our_anonymity(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from sfumato.metrics import equivalence_class_sizes

    equivalence_class_sizes(original.round(0).iloc[:, :5]).min()


def our_groups(original: pd.DataFrame, _released: pd.DataFrame) -> None:
    from sfumato.perturb import Microaggregation

    Microaggregation(group_size=K, insecure_seed=1).fit_transform(original.iloc[:, :5])


TASKS: dict[str, Callable[[pd.DataFrame, pd.DataFrame], None]] = {
    task.__name__: task
    for task in (
        anonymeter, sdmetrics, diffprivlib, pycanon, anjana, our_audit, our_noise, our_anonymity, our_groups,
    )
}  # fmt: skip


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    tables = [pd.read_csv(folder / name) for name in ("original.csv", "released.csv")]
    TASKS[sys.argv[1]](*(table.head(300) for table in tables))  # imports are not the task
    start = time.process_time()
    TASKS[sys.argv[1]](*tables)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"seconds": time.process_time() - start, "peak MB": peak}))
