"""Draw docs/img/guard.svg: a table, its noisy twin, and its atoms mixed inside their regions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.perturb import AdditiveNoise, AtomMixing
from sfumato.report.chart import drawing, stand_alone, text

ROOT = Path(__file__).resolve().parent.parent
SIZE, GAP, TOP = 250.0, 24.0, 56.0
COLOURS = ("#0b5cad", "#b0562a", "#0a6b4f", "#7a3e9d")
Floats = NDArray[np.float64]


def main() -> None:
    """Write the picture."""
    rng = np.random.default_rng(4)
    centres = np.array([[0.0, 0.0], [3.2, 0.6], [1.2, 3.0], [4.4, 3.6]])
    table = centres[rng.integers(0, 4, 260)] + rng.normal(size=(260, 2)) * 0.75
    mixing = AtomMixing(clusterings=(4,), insecure_seed=3, spread=1.0)
    mixed = mixing.fit_transform(table)
    noisy = AdditiveNoise(scale=0.6, insecure_seed=3).fit_transform(table)
    named = mixing.named_centres()[0]
    labels = _nearest(table, named)
    body = "".join(
        _panel(index, title, below, rows, labels, named)
        for index, (title, below, rows) in enumerate(
            (
                ("The table", "regions of the named clusters", table),
                ("Noise", "rows cross the walls, clusters swell", noisy),
                ("Atom mixing", "other rows, same regions and means", mixed),
            )
        )
    )
    description = "Three plots of the same clusters: the original, with noise, and with atoms mixed in their regions."
    svg = drawing(3 * SIZE + 2 * GAP + 20, SIZE + TOP + 20, "Atom mixing in one picture", description, body)
    target = ROOT / "docs" / "img" / "guard.svg"
    target.write_text(stand_alone(svg))
    print(f"wrote {target.name}")


def _nearest(rows: Floats, centres: Floats) -> NDArray[np.intp]:
    return ((rows[:, None] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def _panel(index: int, title: str, below: str, rows: Floats, labels: NDArray[np.intp], named: Floats) -> str:
    left = 10 + index * (SIZE + GAP)
    low, high = np.array([-2.6, -2.6]), np.array([7.0, 7.0])

    def place(point: Floats) -> tuple[float, float]:
        x, y = (point - low) / (high - low) * SIZE
        return left + float(x), TOP + SIZE - float(y)

    grid = 50
    parts = [text(left, 22, title, bold=True), text(left, 40, below)]
    step = (high - low) / grid
    side = SIZE / grid
    for j in range(grid):
        middle = np.stack([low[0] + step[0] * (np.arange(grid) + 0.5), np.full(grid, low[1] + step[1] * (j + 0.5))])
        owners = _nearest(middle.T, named)
        ends = [*(np.flatnonzero(owners[1:] != owners[:-1]) + 1).tolist(), grid]
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            parts.append(
                f'<rect x="{left + start * side:.1f}" y="{TOP + SIZE - (j + 1) * side:.1f}" '
                f'width="{(end - start) * side:.1f}" height="{side:.1f}" '
                f'fill="{COLOURS[owners[start]]}" opacity="0.1"/>'
            )
    for row, label in zip(rows, labels, strict=True):
        if (row > low).all() and (row < high).all():
            x, y = place(row)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{COLOURS[int(label)]}"/>')
    return "".join(parts)


if __name__ == "__main__":
    main()
