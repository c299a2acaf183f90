"""Write the measured parts of docs/concepts: grades, methods, what a miner's scaling costs, the regulators' questions.

Run by `make tutorial`; takes about a minute.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import polars.selectors as cs
from make_guide import fill
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.auditing.grading import MEANINGS
from sfumato.datasets import demo_table
from sfumato.metrics import misclassification_rate

PAGES = Path(__file__).resolve().parent.parent / "docs" / "concepts"
KEY = sf.Key.from_insecure_seed(2003)  # a table that does not exist: nothing is protected here
CLUSTERS = (2, 3, 4, 5, 6, 7)


def table(*lines: tuple[str, ...]) -> str:
    """Return a Markdown table; the first line is its head."""
    head, *rows = lines
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows))


def percent(share: float) -> str:
    """Return a share as the reports write it."""
    return f"{100 * share:.1f} %"


def meanings() -> str:
    """Return the grades as the audit defines them."""
    return table(("grade", "meaning"), *((f"**{grade}**", text) for grade, text in MEANINGS.items()))


def verdicts() -> str:
    """Return grades and verdicts of four releases of the demo table's numbers."""
    data = demo_table().drop("branch")
    lines = [("released by", "grade", "the audit says")]
    for name in ("AtomMixing", "IndependentNoise", "AdditiveNoise", "Rotation"):
        method = getattr(sf.perturb, name)(key=KEY)
        audit = sf.audit(data, method.fit_transform(data), method=method, utility=False)
        lines.append((f"`{name}`", f"**{audit.grade}**", audit.verdict))
    return table(*lines)


def catalogue() -> str:
    """Return a line for each method: what it does, and what it takes to undo it."""
    lines = [("method", "what it does", "tier", "back", "broken by")]
    for row in sf.methods():
        least = row.known_breaks[0].cost if row.known_breaks else "what breaks the method inside" if row.wraps else "-"
        link = f"[`{row.id}`](../reference/methods.md#{row.name.lower()})"
        lines.append((link, row.summary, row.tier, "yes" if row.invertible else "no", least))
    return table(*lines)


def space(rows: pl.DataFrame, low: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Return a table as a miner clusters it: numbers and dates shifted and divided, categories as 0 and 1."""
    categories = rows.select(cs.string()).to_dummies()
    return np.hstack([(numbers(rows) - low) / width, categories.select(sorted(categories.columns)).to_numpy()])


def numbers(rows: pl.DataFrame) -> np.ndarray:
    """Return the numbers and dates of a table, with means for missing ones."""
    return rows.select(cs.numeric(), cs.date().cast(pl.Int32)).fill_null(strategy="mean").to_numpy().astype(float)


def by_deviation(rows: pl.DataFrame) -> np.ndarray:
    """Return a table in standard deviations of its own."""
    values = numbers(rows)
    return space(rows, values.mean(axis=0), values.std(axis=0))


def by_range(rows: pl.DataFrame) -> np.ndarray:
    """Return a table between its own minima and maxima."""
    values = numbers(rows)
    return space(rows, values.min(axis=0), np.ptp(values, axis=0))


def scalings(original: pl.DataFrame, released: pl.DataFrame) -> str:
    """Return how many rows change their cluster, by what the miner does before k-means."""
    few = ["age", "income", "loan"]
    tried = {
        "standardised, every column": (by_deviation(original), by_deviation(released)),
        "min-max, every column": (by_range(original), by_range(released)),
        f"standardised, {', '.join(few)} alone": (by_deviation_of(original, few), by_deviation_of(released, few)),
    }
    lines = [("the miner clusters", *(f"k = {k}" for k in CLUSTERS), "a second run on the original, worst k")]
    for name, (before, after) in tried.items():
        own = [labels(before, k, 0) for k in CLUSTERS]
        lost = [misclassification_rate(one, labels(after, k, 1)) for one, k in zip(own, CLUSTERS, strict=True)]
        again = [misclassification_rate(one, labels(before, k, 1)) for one, k in zip(own, CLUSTERS, strict=True)]
        lines.append((name, *(percent(share) for share in lost), percent(max(again))))
    return (
        table(*lines) + "\n\nShare of the demo table's customers whom k-means puts into another cluster on the release."
    )


def by_deviation_of(rows: pl.DataFrame, columns: list[str]) -> np.ndarray:
    """Return some columns of numbers in standard deviations."""
    values = numbers(rows.select(columns))
    return (values - values.mean(axis=0)) / values.std(axis=0)


def labels(rows: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the clusters that a miner finds."""
    return KMeans(k, n_init=20, random_state=seed).fit_predict(rows)


def questions(original: pl.DataFrame, released: pl.DataFrame, method: object) -> str:
    """Return what the audit answers to the regulators' three questions."""
    audit = sf.audit(original, released, method=method, utility=False)
    lines = [("question", "of people in the release", "of people who are not in it")]
    lines += [(one.question, percent(one.rate), percent(one.control)) for one in audit.questions]
    return table(*lines)


def dated(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the demo table with its dates as dates."""
    return rows.with_columns(pl.col("customer_since").str.to_date())


if __name__ == "__main__":
    whole = demo_table(mixed=True)
    exchange = sf.perturb.AtomExchange(key=KEY)
    handed_out = exchange.fit_transform(whole)
    fill(PAGES / "grades.md", "meanings", meanings())
    fill(PAGES / "grades.md", "verdicts", verdicts())
    fill(PAGES / "which-method.md", "catalogue", catalogue())
    fill(PAGES / "for-your-miner.md", "scalings", scalings(dated(whole), dated(handed_out)))
    fill(PAGES / "for-your-lawyer.md", "questions", questions(whole, handed_out, exchange))
    print("concepts: wrote docs/concepts")
