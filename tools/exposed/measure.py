"""The measurements: each is a list of releases to make, which anybody may make, and what to say of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attack import run_attack
from sfumato.attack.linkage.farthest import farthest_rows
from sfumato.attack.shadows.membership import membership
from sfumato.attack.shadows.one_row import one_row_difference
from sfumato.perturb import AtomExchange, AtomMixing
from tools.exposed.tables import table
from tools.frontier.miner import Miner

__all__ = ["Asked", "Measured", "company", "differencing", "made", "planted", "shadows"]

Floats = NDArray[np.float64]
METHODS = {"mix": AtomMixing, "exchange": AtomExchange}
UNPROTECTED: dict[str, Any] = {"exposed": "publish", "detail": {"people": 0.0}}
KEYS, PLANTED = 6, 18
COSINE, LENGTHS = 0.9, (0.5, 1.5)  # a released row that is taken for a person's
SMALL = 10  # rows of a small atom
KS = (2, 3, 5, 8, 12)
ONE_DRAW = 4_000  # rows from which one draw is made of each shadow, unless more is said

# (method, parameters, seed, rows) of a release, whether more than its rows is told
Asked = tuple[str, dict[str, Any], int, Floats, bool]
# asks for releases, is sent them, returns the cells of a line
Measured = Generator[list[Asked], list[Any], list[str]]


def made(asked: Asked) -> Any:
    """Return a release; with what its owner knows of it where that is asked for."""
    warnings.simplefilter("ignore")
    method, parameters, seed, rows, more = asked
    perturber = METHODS[method](insecure_seed=seed, **parameters)
    released = np.asarray(perturber.fit_transform(rows, threads=1), dtype=np.float64)
    return _told(perturber, rows, released) if more else released


def _told(perturber: Any, rows: Floats, released: Floats) -> dict[str, Any]:
    held = np.asarray(perturber.held_back_rows(), dtype=np.int64)
    left = np.delete(rows, held, axis=0)
    state = perturber._fitted_state().fitted  # noqa: SLF001 - atoms are for the owner and for us
    found = getattr(state, "found", state)
    inside = found.space.enter(np.ascontiguousarray(left.T))
    labels, named, of = found.atoms.named.labels(inside), found.atoms.named, found.atoms.of(inside)
    counts = [np.bincount(own, minlength=size) for own, size in zip(labels, named.sizes, strict=False)]
    miner = Miner(left, seeds=2, n_init=10)
    return {
        "held": len(held),
        "smallest": int(min(count.min() for count in counts)),
        "linked": _linked(left, released, of),
        "span": _span(left, released, of) if found is not state else (0, 0.0, 0.0),  # values of others span nothing
        "residual": found.joined.residual,
        "excess": float(np.mean(miner.excess(released, KS, "std", own=False, signed=True))),
    }


def asked_of(measure: Callable[[Any], Any]) -> list[tuple[Floats, int]]:
    """Return the tables that a measurement by shadows wants to be released, and their numbers."""
    wanted: list[tuple[Floats, int]] = []

    def note(rows: Floats, number: int) -> Floats:
        wanted.append((np.array(rows), number))
        return rows

    measure(note)
    return wanted


def _by_shadows(method: str, measure: Callable[[Any], Any], **more: Any) -> Generator[list[Asked], list[Any], Any]:
    wanted = asked_of(measure)
    released = yield [(method, more, number, rows, False) for rows, number in wanted]
    left = iter(released)
    return measure(lambda _rows, _number: next(left))


def shadows(method: str, name: str, rows: int, count: int, one_draw: int = ONE_DRAW) -> Measured:
    """Measure membership; tables of so many rows are released with one draw, because twelve would take hours."""
    values = table(name, rows)
    more = {"draws": 1} if rows >= one_draw else {}
    found = yield from _by_shadows(method, lambda release: membership(release, values, shadows=count), **more)
    return [
        f"{len(values):,}",
        f"{found.auc:.2f}",
        f"{found.tpr:.1%}",
        f"{found.auc_exposed:.2f}",
        f"{found.tpr_exposed:.1%}",
        f"{found.auc_control:.2f} / {found.tpr_control:.1%}",
    ]


def differencing(method: str, name: str, rows: int) -> Measured:
    """Measure what two releases tell that differ by one person."""
    values = table(name, rows)
    found = yield from _by_shadows(method, lambda release: one_row_difference(release, values, people=30))
    figures = (found.cells, found.guess, found.cells_exposed, found.guess_exposed)
    return [f"{len(values):,}", *(f"{figure:.1%}" for figure in figures)]


def planted(method: str, name: str, rows: int) -> Measured:
    """Plant outliers and look for them among the farthest released rows; the same in releases without them."""
    values = table(name, rows)
    mean, unit = values.mean(axis=0), values.std(axis=0)
    draw = np.random.default_rng(7)
    ways = draw.normal(size=(PLANTED, values.shape[1]))
    people = mean + unit * ways * (draw.uniform(8, 16, PLANTED) / np.linalg.norm(ways, axis=1))[:, None]
    each = PLANTED // KEYS
    among = [np.vstack([values, people[each * key : each * (key + 1)]]) for key in range(KEYS)]
    asked: list[Asked] = [(method, {}, key + 1, one, False) for key, one in enumerate(among)]
    releases = yield asked + [(method, {}, key + 1, values, False) for key in range(KEYS)]
    found = [0, 0]
    for number, release in enumerate(releases):
        key = number % KEYS
        points = (release - mean) / unit
        far = points[farthest_rows(points)]
        for person in (people[each * key : each * (key + 1)] - mean) / unit:
            found[number // KEYS] += _recognised(person, far)
    held = np.mean([len(rows) - len(release) for rows, release in zip(among, releases, strict=False)])
    return [f"{len(values):,}", f"{found[0]} of {PLANTED}", f"{found[1]} of {PLANTED}", f"{held:.1f}"]


def _recognised(person: Floats, far: Floats) -> bool:
    lengths, own = np.linalg.norm(far, axis=1), float(np.linalg.norm(person))
    cosines = far @ person / np.maximum(lengths * own, 1e-12)
    ratio = lengths / own
    return bool(((cosines >= COSINE) & (ratio >= LENGTHS[0]) & (ratio <= LENGTHS[1])).any())


def company(method: str, name: str, rows: int, keys: Sequence[int]) -> Measured:
    """Measure who is held back, the smallest kept cluster, linkage in small atoms, spans, and what it all costs."""
    values = table(name, rows)
    asked: list[Asked] = [(method, {}, key, values, True) for key in keys]
    releases = yield asked + [(method, UNPROTECTED, key, values, True) for key in keys]
    with_it, without = releases[: len(keys)], releases[len(keys) :]
    linked = np.sum([one["linked"] for one in with_it], axis=0)
    reached, got, guessed = np.sum([one["span"] for one in with_it], axis=0)
    held = float(np.mean([one["held"] for one in with_it]))
    return [
        f"{len(values):,}",
        f"{held:.1f} ({held / len(values):.2%})",
        str(min(one["smallest"] for one in with_it)),
        f"{_rate(*linked[:3])} / {_rate(*linked[3:])}",
        "nobody" if not reached else f"{got / reached:.1%} / {guessed / reached:.1%} of {int(reached)}",
        *(f"{np.mean([one['excess'] for one in some]):.1%}" for some in (without, with_it)),
        *(f"{np.mean([one['residual'] for one in some]):.2f}" for some in (without, with_it)),
    ]


def _rate(found: float, chance: float, people: float) -> str:
    return "nobody" if not people else f"{found / people:.1%} ({chance / people:.1%}) of {int(people):,}"


def _linked(left: Floats, released: Floats, of: NDArray[np.int64]) -> list[float]:
    """Return how many people of small atoms are linked to their row, by guessing in their atom, and how many they are.

    Then the same of all others.
    """
    unit = np.where(left.std(axis=0) > 0, left.std(axis=0), 1.0)
    before, after = left / unit, released / unit
    squares = (after**2).sum(axis=1)
    own = np.array([int(np.argmin(squares - 2 * after @ row)) for row in before]) == np.arange(len(before))
    sizes = np.bincount(of)[of]
    groups = (sizes < SMALL, sizes >= SMALL)
    return [float(one) for some in groups for one in (own[some].sum(), (1.0 / sizes[some]).sum(), some.sum())]


def _span(left: Floats, released: Floats, of: NDArray[np.int64]) -> tuple[int, float, float]:
    """Return whom half a record reaches in the span of their atom, how many it completes, and how many a regression."""
    result = run_attack("span", left, released, labels={int(of.max()) + 1: of}, parameters={"min_atom": 5})
    if result.scores is None:
        return 0, 0.0, 0.0
    there = result.scores.answered
    return int(there.sum()), float(result.scores.attack[there].sum()), float(result.scores.baseline[there].sum())
