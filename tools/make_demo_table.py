"""Make the table that ships with sfumato: 3,000 customers of a bank that does not exist.

Five kinds of customers, so that clusters are there to be kept: students, families, professionals, business
owners and pensioners. Run once; the file is part of the package.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

SEED = 20_031
KINDS = [  # share, (age, sd), (income, sd), (balance, sd), (card spending, sd), (visits), loan share
    (0.18, (23, 2.5), (14_000, 3_000), (1_500, 900), (350, 90), 1.0, 0.15),
    (0.30, (38, 5.0), (42_000, 7_000), (9_000, 4_000), (1_150, 230), 2.0, 0.80),
    (0.22, (44, 6.0), (78_000, 12_000), (38_000, 12_000), (2_300, 420), 0.8, 0.45),
    (0.08, (51, 6.0), (135_000, 24_000), (95_000, 28_000), (4_600, 900), 5.0, 0.60),
    (0.22, (71, 5.0), (27_000, 5_000), (52_000, 15_000), (720, 170), 4.0, 0.05),
]
BRANCHES = ["Harbour", "Old Town", "Station", "University", "West"]


def main() -> None:
    rng = np.random.default_rng(SEED)
    n = 3_000
    kind = rng.choice(len(KINDS), size=n, p=[k[0] for k in KINDS])
    draw = lambda i: np.array([rng.normal(*KINDS[k][i]) for k in kind])  # noqa: E731
    age = np.clip(np.rint(draw(1)), 18, 99).astype(int)
    income = np.clip(np.rint(draw(2) / 100) * 100, 0, None).astype(int)
    balance = np.round(draw(3), 2)
    spending = np.round(np.clip(draw(4), 0, None), 2)
    visits = rng.poisson([KINDS[k][5] for k in kind])
    has_loan = rng.random(n) < [KINDS[k][6] for k in kind]
    loan = np.where(has_loan, np.round(rng.gamma(3.0, 9_000.0, n), 2), 0.0)
    table = pl.DataFrame(
        {
            "customer_id": [f"C{i:05d}" for i in rng.permutation(np.arange(10_000, 10_000 + n))],
            "branch": rng.choice(BRANCHES, size=n, p=[0.2, 0.25, 0.15, 0.15, 0.25]),
            "age": age,
            "income": income,
            "balance": balance,
            "card_spending": spending,
            "branch_visits": visits,
            "loan": loan,
        }
    )
    missing = rng.random(n) < 0.02
    table = table.with_columns(pl.when(pl.Series(missing)).then(None).otherwise(pl.col("income")).alias("income"))
    table.write_csv(Path(__file__).resolve().parent.parent / "src" / "sfumato" / "demo" / "customers.csv")
    print(table.describe())


if __name__ == "__main__":
    main()
