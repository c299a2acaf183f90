"""Broken releases that once got a good grade: each hides the rows from a glance and gives them away to a simple attack.

Each function makes a release of a table; rows stand in their order unless its name says that they are shuffled.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.cluster import KMeans

Table = NDArray[np.float64]
Draw = np.random.Generator
Maker = Callable[[Table, Draw], Table]


def skewed(rows: int = 1500, seed: int = 0) -> Table:
    """Return eight correlated, skewed columns with two decimals, in groups of people."""
    draw = np.random.default_rng([seed, 1])
    centres = draw.gamma(2.0, 8.0, size=(8, 8)) + 3
    spread = draw.normal(size=(8, 8)) * 0.4 + np.eye(8)
    table = centres[draw.integers(0, 8, rows)] + draw.gamma(2.0, 1.0, size=(rows, 8)) @ np.abs(spread)
    return np.asarray(np.round(table, 2))


def counted(rows: int = 1500, seed: int = 0) -> Table:
    """Return six columns of whole numbers of few values, as of a survey."""
    draw = np.random.default_rng([seed, 2])
    kind = draw.integers(0, 4, rows)
    levels = np.array([20, 45, 70, 95])[kind][:, None] + draw.normal(0, 9, size=(rows, 6))
    return np.asarray(np.clip(np.round(levels * [1, 0.6, 0.5, 0.9, 0.3, 0.7]), 1, None))


def turn(d: int, draw: Draw) -> Table:
    """Return a random rotation."""
    return np.asarray(np.linalg.qr(draw.normal(size=(d, d)))[0])


def _sd(x: Table) -> Table:
    return np.asarray(np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0))


def _z(x: Table) -> Table:
    return np.asarray((x - x.mean(axis=0)) / _sd(x))


def _fresh(x: Table, draw: Draw) -> Table:
    """Return rows that say nothing of anybody: normal draws with the table's covariance."""
    return np.asarray(draw.multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False), len(x)))


def jitter(size: float, share: float = 1.0, *, shuffled: bool = True) -> Maker:
    """Return a maker of copies with noise, shuffled; other rows are fresh."""

    def make(x: Table, draw: Draw) -> Table:
        copies = x + size * _sd(x) * draw.normal(size=x.shape)
        released = np.where((draw.permutation(len(x)) < share * len(x))[:, None], copies, _fresh(x, draw))
        return draw.permutation(released) if shuffled else released

    return make


def outliers(size: float = 1e-3, share: float = 0.01) -> Maker:
    """Return a maker that hides everybody but the farthest rows."""

    def make(x: Table, draw: Draw) -> Table:
        released = _fresh(x, draw)
        far = np.argsort(-(_z(x) ** 2).sum(axis=1))[: int(share * len(x))]
        released[far] = x[far] + size * _sd(x) * draw.normal(size=(len(far), x.shape[1]))
        return released

    return make


def verbatim_with_gaps(share: float = 0.4, gaps: int = 1) -> Maker:
    """Return a maker of untouched rows that miss some cells."""

    def make(x: Table, draw: Draw) -> Table:
        released = _fresh(x, draw)
        for row in draw.permutation(len(x))[: int(share * len(x))]:
            released[row] = x[row]
            released[row, draw.permutation(x.shape[1])[:gaps]] = np.nan
        return released

    return make


def changed_cells(share: float = 0.4, cells: int = 2) -> Maker:
    """Return a maker of untouched rows with some cells of somebody else."""

    def make(x: Table, draw: Draw) -> Table:
        fresh = _fresh(x, draw)
        released = fresh.copy()
        for row in draw.permutation(len(x))[: int(share * len(x))]:
            released[row] = x[row]
            other = draw.permutation(x.shape[1])[:cells]
            released[row, other] = fresh[row, other]
        return released

    return make


def digits(first: int = 3, many: int = 4, base: int = 10) -> Maker:
    """Return a maker of noise that holds the original in its low digits."""

    def make(x: Table, draw: Draw) -> Table:
        unit, steps = float(base) ** -first, base**many
        low, width = x.min(axis=0), np.ptp(x, axis=0)
        coded = np.round((x - low) / np.where(width > 0, width, 1) * (steps - 1))
        noise = np.round(_fresh(x, draw) / unit) * unit
        return np.asarray(noise + coded * unit / steps)

    return make


def hidden_column(first: int = 3, many: int = 4) -> Maker:
    """Return a maker of noise whose first column holds the last original one in its low digits."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), first)
        last = x[:, -1]
        coded = np.round((last - last.min()) / np.ptp(last) * (10**many - 1))
        released[:, 0] += coded * 10.0 ** -(first + many)
        return released

    return make


def row_number(column: int = 0, first: int = 3, base: int = 10) -> Maker:
    """Return a maker of noise that holds the row's number in the low digits of one column; shuffled."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), 2)
        places = 1
        while base**places < len(x):
            places += 1
        unit = float(base) ** -first
        released[:, column] = np.round(released[:, column] / unit) * unit + np.arange(len(x)) * unit / base**places
        return released

    return make


def row_code(code: Callable[[NDArray[np.int64]], list[NDArray[np.int64]]], unit: float = 1e-6) -> Maker:
    """Return a maker of noise that holds codes of the row's number in the low digits of the first columns."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.round(_fresh(x, draw), 2)
        for j, digits_ in enumerate(code(np.arange(len(x)))):
            released[:, j] += digits_ * unit
        return released

    return make


def groups(size: int = 3, noise: float = 0.0) -> Maker:
    """Return a maker of the means of so many people who are alike, shuffled."""

    def make(x: Table, draw: Draw) -> Table:
        z, left, released = _z(x), np.arange(len(x)), np.empty_like(x)
        while len(left):
            near = left[np.argsort(((z[left] - z[left[0]]) ** 2).sum(axis=1), kind="stable")[:size]]
            released[near] = x[near].mean(axis=0)
            left = np.setdiff1d(left, near)
        return draw.permutation(released + noise * _sd(x) * draw.normal(size=x.shape))

    return make


def normal_scores(x: Table) -> Table:
    levels = (rankdata(x, axis=0) - 0.5) / len(x)
    return np.asarray(np.vectorize(NormalDist().inv_cdf)(levels))


def after(function: Callable[[Table], Table]) -> Maker:
    """Return a maker of a rotation after a function of the cells."""

    def make(x: Table, draw: Draw) -> Table:
        return np.asarray(_z(function(x)) @ turn(x.shape[1], draw))

    return make


def before(function: Callable[[Table], Table]) -> Maker:
    """Return a maker of a rotation before a function of the cells."""

    def make(x: Table, draw: Draw) -> Table:
        return np.asarray(function(_z(x) @ turn(x.shape[1], draw)))

    return make


def each_its_own() -> Maker:
    """Return: another function for each column, then a rotation."""

    def make(x: Table, draw: Draw) -> Table:
        functions = (np.cbrt, np.tanh, np.exp, np.arcsinh, lambda c: c**3, lambda c: c)
        cells = np.column_stack([functions[j % 6](column) for j, column in enumerate(_z(x).T)])
        return _z(cells) @ turn(x.shape[1], draw)

    return make


def intervals(count: int = 20) -> Maker:
    """Return: the intervals of each column in another order, values drawn anew inside them."""

    def make(x: Table, draw: Draw) -> Table:
        columns = []
        for column in x.T:
            ranks = np.searchsorted(np.sort(column), column)
            columns.append(draw.permutation(count)[ranks * count // len(column)] + draw.uniform(0, 0.9, len(column)))
        return np.column_stack(columns)

    return make


def folded(function: Callable[[Table], Table]) -> Maker:
    """Return a maker of a function of the cells that has several ways back."""
    return lambda x, _: np.asarray(function(_z(x)))


def by_cluster(clusters: int = 8, what: str = "turn", noise: float = 0.0) -> Maker:
    """Return a maker that turns or scales each cluster by itself."""

    def make(x: Table, draw: Draw) -> Table:
        z, d = _z(x), x.shape[1]
        labels = KMeans(clusters, n_init=2, random_state=0).fit_predict(z)
        released = np.empty_like(z)
        for k in range(clusters):
            inside = labels == k
            centre = z[inside].mean(axis=0)
            own = turn(d, draw) if what == "turn" else np.diag(draw.uniform(0.5, 2, d) * draw.choice([-1, 1], d))
            released[inside] = (z[inside] - centre) @ own + centre
        return released + noise * draw.normal(size=z.shape)

    return make


def cipher(rounding: float = 0.0, *, permuted: bool = False) -> Maker:
    """Return a maker that replaces every value of a column by another one, always the same."""

    def make(x: Table, draw: Draw) -> Table:
        released = np.empty_like(x)
        for j, column in enumerate(x.T):
            coarse = np.round(column / rounding) * rounding if rounding else column
            values, codes = np.unique(coarse, return_inverse=True)
            released[:, j] = draw.permutation(values)[codes.reshape(-1)]
        return released[:, draw.permutation(x.shape[1])] if permuted else released

    return make


def row_factor(low: float = 0.2, high: float = 5.0, *, turned: bool = False) -> Maker:
    """Return a maker that multiplies each row by a factor of its own."""

    def make(x: Table, draw: Draw) -> Table:
        released = x * draw.uniform(low, high, size=(len(x), 1))
        return np.asarray(released @ turn(x.shape[1], draw)) if turned else released

    return make


def row_order(noise: float = 0.0, *, scaled: bool = False) -> Maker:
    """Return a maker that puts the cells of each row in random order."""

    def make(x: Table, draw: Draw) -> Table:
        x = _z(x) if scaled else x
        return np.asarray(draw.permuted(x + noise * _sd(x) * draw.normal(size=x.shape), axis=1))

    return make


def _shuffled(make: Maker) -> Maker:
    return lambda x, draw: draw.permutation(make(x, draw))


def _additive(x: Table, draw: Draw) -> Table:
    return np.asarray(x + 0.1 * _sd(x) * draw.normal(size=x.shape))


TABLES: dict[str, Callable[..., Table]] = {"skewed": skewed, "counted": counted}

#: name -> (maker, the best grade it may get on each table); values of a column without repeats are no cipher to solve
BROKEN: dict[str, tuple[Maker, dict[str, str]]] = {
    "shuffled noise": (_shuffled(_additive), {"counted": "D"}),
    "shuffled copy with jitter": (jitter(1e-3), {"skewed": "F", "counted": "F"}),
    "original in digits 4 to 7": (digits(), {"skewed": "F", "counted": "F"}),
    "verbatim with a gap": (verbatim_with_gaps(), {"skewed": "D", "counted": "D"}),
    "rotation of normal scores": (after(normal_scores), {"skewed": "F", "counted": "F"}),
    "rotation after log": (after(np.log), {"skewed": "F", "counted": "F"}),
    "rotation by cluster": (by_cluster(), {"skewed": "D", "counted": "D"}),
    "cipher": (cipher(), {"counted": "D"}),
    "row factor": (row_factor(), {"skewed": "C", "counted": "C"}),
    "row order": (row_order(), {"skewed": "C", "counted": "C"}),
    "outliers nearly verbatim": (outliers(), {"skewed": "B", "counted": "B"}),
    "few copies with jitter": (jitter(1e-4, 0.03, shuffled=False), {"skewed": "B", "counted": "B"}),
    "row number in low digits": (row_number(), {"skewed": "F", "counted": "F"}),
    "row number in a congruence": (row_code(lambda i: [(7919 * i + 13) % 10007]), {"skewed": "D", "counted": "D"}),
    "folded columns": (folded(lambda z: (1.3 * z + 5) % 2), {"skewed": "C", "counted": "C"}),
    "rotation by cluster with noise": (by_cluster(5, noise=0.01), {"skewed": "D", "counted": "D"}),
    "shuffled means of three": (groups(), {"skewed": "B", "counted": "B"}),
}

#: name -> five variants, made last
VARIANTS: dict[str, list[Maker]] = {
    "shuffled noise": [_shuffled(jitter(s, shuffled=False)) for s in (0.02, 0.05, 0.08, 0.12, 0.15)],
    "shuffled copy with jitter": [jitter(1e-2), jitter(1e-5), jitter(0.0), jitter(3e-2), jitter(1e-3, 0.7)],
    "original in digits 4 to 7": [digits(2, 4), digits(4, 5), digits(8, 10, 2), digits(3, 5, 7), hidden_column()],
    "verbatim with a gap": [
        verbatim_with_gaps(0.4, 2), verbatim_with_gaps(0.25), verbatim_with_gaps(0.6, 2), changed_cells(0.4, 2),
        changed_cells(0.3, 1),
    ],
    "rotation of normal scores": [
        after(lambda x: rankdata(x, axis=0)), after(lambda x: normal_scores(x) ** 3), before(np.tanh),
        before(lambda z: np.exp(z / 2)), after(lambda x: np.tanh(normal_scores(x))),
    ],
    "rotation after log": [
        after(np.sqrt), after(np.cbrt), after(lambda x: 1 / (1 + x)), after(lambda x: x**2), after(np.log1p),
    ],
    "rotation by cluster": [
        by_cluster(4), by_cluster(6), by_cluster(8, "scale"), by_cluster(3), by_cluster(5, "scale"),
    ],
    "cipher": [cipher(1.0), cipher(2.0), cipher(permuted=True), cipher(1.0, permuted=True), cipher(0.5)],
    "row factor": [
        row_factor(0.01, 100), row_factor(0.9, 1.1), row_factor(-3, -0.5), row_factor(turned=True), row_factor(1, 1000),
    ],
    "row order": [
        row_order(0.01), row_order(0.001), row_order(scaled=True), _shuffled(row_order()), row_order(0.01, scaled=True),
    ],
    "outliers nearly verbatim": [outliers(0.0), outliers(1e-2), outliers(1e-5), outliers(1e-3, 0.02), outliers(0.03)],
    "few copies with jitter": [
        jitter(1e-4, 0.02), jitter(1e-3, 0.03), jitter(0.0, 0.01), jitter(1e-2, 0.03), jitter(1e-6, 0.05),
    ],
    "row number in low digits": [
        row_number(1), row_number(2, 4), row_number(0, 8, 2), row_number(1, 5, 7), _shuffled(row_number(0)),
    ],
    "row number in a congruence": [
        row_code(lambda i: [i // 50, i % 50], 1e-5), row_code(lambda i: [(1103 * i + 7) % 2048]),
        row_code(lambda i: [(99 - 12345 * i) % 65537], 1e-7),
        row_code(lambda i: [i % 12, i // 12 % 12, i // 144], 1e-4),
        row_code(lambda i: [(7919 * i + 13) % 10007 // 100, (7919 * i + 13) % 10007 % 100], 1e-5),
    ],
    "folded columns": [
        folded(lambda z: np.abs((z + 50) % 2 - 1)), folded(lambda z: np.sin(3 * z)), folded(lambda z: (z - 0.3) ** 2),
        folded(lambda z: (2.2 * z + 5) % 1), folded(np.abs),
    ],
    "rotation by cluster with noise": [
        by_cluster(3, noise=0.02), by_cluster(4, noise=0.01), by_cluster(4, "scale", 0.01), by_cluster(6, noise=0.005),
        by_cluster(2, noise=0.02),
    ],
    "shuffled means of three": [groups(2), groups(4), groups(3, 0.002), groups(2, 0.01), groups(3, 0.005)],
}  # fmt: skip
