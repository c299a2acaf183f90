"""Make the table that ships with sfumato: 3,000 customers of a bank that does not exist.

Five kinds of customers, so that clusters are there to be kept: students, families, professionals, business
owners and pensioners. Run once; the file is part of the package. The columns of numbers come first, from a
generator of their own; texts, codes and dates follow.
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
REGIONS = {"Harbour": "Coast", "Old Town": "Centre", "Station": "Centre", "University": "Hills", "West": "Hills"}
JOBS = [  # of each kind: what they do, and how often
    (["student", "shop assistant", "nurse", "unemployed"], [0.7, 0.15, 0.08, 0.07]),
    (["nurse", "teacher", "clerk", "mechanic", "shop assistant", "farmer"], [0.2, 0.2, 0.25, 0.15, 0.12, 0.08]),
    (["engineer", "lawyer", "doctor", "clerk", "teacher"], [0.35, 0.2, 0.2, 0.15, 0.1]),
    (["owner of a business", "lawyer", "doctor"], [0.75, 0.15, 0.1]),
    (["retired", "farmer", "teacher"], [0.92, 0.05, 0.03]),
]
MARITAL = ["single", "married", "divorced", "widowed"]
MARRIED = [(90, 10, 0, 0), (20, 65, 14, 1), (25, 60, 14, 1), (15, 65, 18, 2), (10, 50, 10, 30)]  # percent
ACCOUNTS = [(11, 12), (20, 21), (20, 30, 31), (40, 41), (20, 22)]  # codes of accounts
SINCE = [(2019, 5), (2008, 12), (2006, 12), (2004, 14), (1988, 18)]  # the first year of each kind, and how many more


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
    table = table.with_columns(**others(kind, table["branch"].to_list()))
    table.write_csv(Path(__file__).resolve().parent.parent / "src" / "sfumato" / "datasets" / "customers.csv")
    print(table.describe())


def others(kind: np.ndarray, branches: list[str]) -> dict[str, pl.Series]:
    """Return the columns that hold no numbers, or codes, for the kinds of the customers."""
    rng = np.random.default_rng(SEED + 1)
    jobs = [rng.choice(JOBS[k][0], p=JOBS[k][1]) for k in kind]
    marital = [rng.choice(MARITAL, p=np.array(MARRIED[k]) / 100) for k in kind]
    accounts = [int(rng.choice(ACCOUNTS[k])) for k in kind]
    years = [SINCE[k][0] + int(rng.integers(0, SINCE[k][1])) for k in kind]
    since = [f"{y}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}" for y in years]
    unknown = rng.random(len(kind)) < 0.03
    return {
        "region": pl.Series([REGIONS[branch] for branch in branches]),
        "job": pl.Series([None if gap else str(job) for job, gap in zip(jobs, unknown, strict=True)]),
        "marital_status": pl.Series([str(one) for one in marital]),
        "account_code": pl.Series(accounts),
        "customer_since": pl.Series(since),
    }


if __name__ == "__main__":
    main()
