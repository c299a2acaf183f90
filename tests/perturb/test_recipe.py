"""Methods that travel: rounds replayed elsewhere from packed summaries end in the same release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.core.passes import Facts, fill, survey
from sfumato.core.rows import RowRange
from sfumato.core.stream import table_hasher
from sfumato.core.travel import filled_summary, learnt_of, pack, unpack
from sfumato.exceptions import DataError, ParameterError
from sfumato.frames.frame import read_frame
from sfumato.perturb import AtomMixing, Enhanced, Guarded, IndependentNoise
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.perturb.mechanism.recipe import Replay, perturber_of, recipe_of

KEY = sf.Key.from_insecure_seed(4)
SETTINGS: dict[str, dict[str, Any]] = {
    "chaotic": {"source": "keyed"},
    "mix": {"clusterings": (2, 3), "min_atom": 5},
    "exchange": {"clusterings": (2, 3), "draws": 2},
    "rp": {"n_components": 2},
    "dp": {"bounds": (-100.0, 100.0), "count": "public"},
    "hdp": {"operations": [("add", 3.0), ("mult", 2.0), ("add", 1.0), ("mult", 0.5)]},
}
CASES = [(row.id, row.load()(**SETTINGS.get(row.id, {}))) for row in sf.methods() if not row.wraps]
CASES += [
    ("+rho", Enhanced(IndependentNoise(), fraction=0.3)),
    ("guard", Guarded(IndependentNoise(), clusterings=(2, 3))),
]
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.SfumatoWarning")


def table() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=(220, 4)) + centre for centre in (0.0, 8.0, 20.0)])


def released_groups(grouping: Any, tile: np.ndarray) -> np.ndarray:
    """Release the groups one after the other, the last one first, each with its rows in another order."""
    labels, out = np.arange(tile.shape[1], dtype=np.uint64), np.empty_like(tile)
    groups = grouping.groups(tile, labels)
    for group in np.unique(groups)[::-1]:
        rows = np.random.default_rng(int(group)).permutation(np.flatnonzero(groups == group))
        out[:, rows] = grouping.release(tile[:, rows], labels[rows], groups[rows])[0]
    return out


@pytest.mark.parametrize(("name", "perturber"), CASES, ids=[name for name, _ in CASES])
def test_a_replay_of_packed_rounds_releases_the_same_rows(name: str, perturber: Any) -> None:
    frame = read_frame(table(), None)
    keyed = KeyedMethod(perturber, KEY)
    facts = survey([frame], frame.names, frame.kinds, table_hasher(KEY, frame.names))
    rounds = keyed.rounds(facts)
    sent: list[Any] = []
    blocks = [read_frame(table()[start : start + 150], None, row_start=start) for start in range(0, 660, 150)]
    fitted, wanted = None, None
    try:
        wanted = next(rounds)
        while True:
            parts = [unpack(pack(learnt_of(fill(wanted, [block])[0]))) for block in blocks]  # as from five executors
            filled = wanted.fresh()
            for part in reversed(parts):
                filled.merge(filled_summary(wanted, part))
            sent.append(filled)
            wanted = rounds.send(filled)
    except StopIteration as over:
        fitted = over.value
    packed = [pack(learnt_of(one)) for one in sent]  # they travel after the round, noisy where a method adds noise
    there = Facts(facts.names, facts.kinds, facts.n_rows, facts.low, facts.high, b"")
    recipe = unpack(pack(recipe_of(keyed.perturber)))
    replay = Replay(perturber_of(recipe), there, type(keyed._streams)(keyed.streams_root(facts)))  # type: ignore[call-arg]
    for position in range(len(packed) + 1):  # an executor sees the rounds one by one, and some not at all
        if position % 2 == len(packed) % 2:
            replay.advance([unpack(one) for one in packed[:position]])
    rows = RowRange(0, 660)
    if keyed.meets:
        expected, found = (released_groups(one, frame.tile(0, 660)) for one in (fitted, replay.fitted))
    else:
        expected, found = keyed.kernel(fitted)(frame.tile(0, 660), rows), replay.kernel(frame.tile(0, 660), rows)
    assert found.tobytes() == expected.tobytes()
    in_memory = type(perturber)(**{**perturber.get_params(deep=False), "key": KEY}).fit_transform(table())
    assert name in ("pca", "rp", "dp") or expected.T.tobytes() == np.ascontiguousarray(in_memory).tobytes()


def test_fitted_clusterers_do_not_travel() -> None:
    from sklearn.cluster import KMeans

    with pytest.raises(ParameterError, match="cannot travel"):
        recipe_of(AtomMixing(clusterings=[KMeans(2, n_init=1).fit(table())]))


@pytest.mark.parametrize("damaged", [b"", b"sfumato-values-1\n", b"\x80\x04pickle", pack([1.5])[:-3], pack("a") + b""])
def test_packed_values_are_read_whole_or_not_at_all(damaged: bytes) -> None:
    if damaged == pack("a"):
        assert unpack(damaged) == "a"
        return
    with pytest.raises(DataError, match="cannot be read"):
        unpack(damaged)


def test_values_of_every_kind_come_back_as_they_were() -> None:
    value = {
        "numbers": [0, -1, 2**53, -(2**80), 0.1, float("inf"), -0.0, True, None],
        "bytes": b"\0\xff",
        3: (np.array([1, 2**63], dtype=np.uint64), np.array([[True], [False]]), np.array([2**70, 1], dtype=object)),
        "empty": np.empty((0, 3)),
    }
    back = unpack(pack(value))
    assert back["numbers"] == value["numbers"]
    assert str(back["numbers"][6]) == "-0.0"
    assert back["bytes"] == b"\0\xff"
    for mine, theirs in zip(back[3], value[3], strict=True):
        assert mine.dtype == theirs.dtype
        assert (mine == theirs).all()
    assert back["empty"].shape == (0, 3)
    assert np.isnan(unpack(pack(float("nan"))))
    with pytest.raises(TypeError):
        pack(object())
