"""Clusterers by name and the miner's own pipelines: what is kept of them, and that it is made once."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

from sfumato.cluster import by_name
from sfumato.cluster.by_name import CLUSTERERS, find_labels
from sfumato.cluster.labelled import label_prototypes
from sfumato.core.keys import Key
from sfumato.core.passes import Facts, fill, survey
from sfumato.core.stream import STREAM_VERSION, RowHasher, Streams
from sfumato.core.travel import learnt_of, pack, unpack
from sfumato.exceptions import ParameterError
from sfumato.frames.frame import read_frame
from sfumato.metrics import misclassification_rate
from sfumato.perturb import AdditiveNoise, AtomExchange, AtomMixing, Guarded
from sfumato.perturb.guard.foreign import _usual
from sfumato.perturb.guard.refound import Refound
from sfumato.perturb.mechanism.recipe import Replay

pytestmark = pytest.mark.usefixtures("everybody")


@pytest.fixture(scope="module")
def people() -> np.ndarray:
    """Two long bodies side by side, and a ball."""
    rng = np.random.default_rng(4)
    long = rng.normal(size=(500, 3)) * [1.5, 0.4, 0.4]
    other = rng.normal(size=(400, 3)) * [1.5, 0.4, 0.4] + [0.0, 4.0, 0.0]
    ball = rng.normal(size=(300, 3)) * 0.5 + [0.0, 0.0, 6.0]
    return rng.permutation(np.concatenate([long, other, ball])) @ rng.normal(size=(3, 3))


@pytest.fixture(scope="module")
def bodies() -> np.ndarray:
    """Three bodies far apart, one long, one flat: whoever clusters them finds them."""
    rng = np.random.default_rng(5)
    long = rng.normal(size=(300, 3)) * [1.2, 0.3, 0.3]
    flat = rng.normal(size=(250, 3)) * [0.8, 0.8, 0.2] + [7.0, 7.0, 0.0]
    ball = rng.normal(size=(250, 3)) * 0.5 + [0.0, 7.0, 7.0]
    return rng.permutation(np.concatenate([long, flat, ball]))


def atoms_of(method) -> object:
    state = method._fitted_state().fitted
    return getattr(state, "found", state).atoms


def inside(rows: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return rows in the standard deviations of a table."""
    return (rows - like.mean(axis=0)) / like.std(axis=0)


@pytest.mark.parametrize("row", CLUSTERERS, ids=lambda row: row.name)
def test_who_runs_a_named_clusterer_on_the_release_finds_its_clusters(bodies, row) -> None:
    name = "dbscan 0.6" if row.name == "dbscan" else row.example.replace(" 5", " 3")
    method = AtomMixing([2, name], draws=1, insecure_seed=1, exposed="publish")
    released = method.fit_transform(bodies)
    (note,) = method._notes(method._fitted_state().fitted)
    assert re.fullmatch(rf"{name} finds \d clusters( and \d+ % noise)?: rows of different clusters are not mixed", note)
    (tree,) = atoms_of(method).named.marks
    space = atoms_of(method).named.space
    given = tree.whole(space.steps(space.enter(np.ascontiguousarray(bodies.T))))
    before, after = (find_labels(name, inside(rows, bodies), 0, len(bodies)) for rows in (bodies, released))
    assert misclassification_rate(before, given) < 0.02
    assert misclassification_rate(before, after) < 0.02


@pytest.mark.parametrize("method", [AtomMixing, AtomExchange])
def test_the_ladder_takes_other_clusterers_along(bodies, method) -> None:
    made = method(["ladder", "ward 3"], draws=1, insecure_seed=1, exposed="publish")
    released = made.fit_transform(bodies)
    named = atoms_of(made).named
    assert (len(named.sizes), len(named.all_sizes)) == (11, 12)  # 2 to 12, and Ward
    before, after = (AgglomerativeClustering(3).fit(inside(rows, bodies)).labels_ for rows in (bodies, released))
    assert misclassification_rate(before, after) < 0.02


@pytest.mark.parametrize("method", [AtomMixing, AtomExchange])
def test_a_mixture_beside_the_ladder_keeps_its_spikes(method) -> None:
    """A value that all rows of a component share is what the mixture finds it by: others must not be mixed in."""
    rng = np.random.default_rng(8)
    table = rng.normal(size=(900, 4))
    table[:400, 2] = 0.0
    table[400:600, 3] = 1.0
    name = "gaussian mixture 3"
    released = method(["ladder", name], draws=1, insecure_seed=1, exposed="publish").fit_transform(table)
    before, after = (find_labels(name, inside(rows, table), 0, len(table)) for rows in (table, released))
    assert misclassification_rate(before, np.repeat([0, 1, 2], [400, 200, 300])) < 0.01
    assert misclassification_rate(before, after) < 0.05
    not_named = method("ladder", draws=1, insecure_seed=1, exposed="publish").fit_transform(table)
    assert misclassification_rate(before, find_labels(name, inside(not_named, table), 0, len(table))) > 0.1


def test_of_several_runs_the_usual_one_is_kept() -> None:
    usual, other = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 1, 0, 2])
    assert _usual([other, usual, usual[::-1] * -1 + 2]) is usual


def test_nobody_is_marked_with_fewer_than_nine_others() -> None:
    rng = np.random.default_rng(2)
    table = np.concatenate([rng.normal(size=(300, 2)), rng.normal(size=(300, 2)) + 9.0, rng.normal(size=(4, 2)) + 40.0])
    method = AtomMixing(["ward 3"], draws=1, insecure_seed=1, exposed="publish")
    method.fit(table)
    atoms = atoms_of(method)
    (tree,) = atoms.named.marks
    assert np.bincount(atoms.marks[:, 0], weights=atoms.counts).min() >= 10
    assert sorted(np.bincount(tree.clusters[atoms.marks[:, 0]], weights=atoms.counts).tolist()) == [300.0, 304.0]


def test_a_guard_of_noise_holds_labels_by_prototypes(people) -> None:
    """Noise moves rows one by one: that they are not mixed with others keeps nothing there, walls do."""
    method = Guarded(AdditiveNoise(), clusterings=[2, "ward 3"], insecure_seed=1, exposed="publish")
    released = method.fit_transform(people)
    named = atoms_of(method).named
    assert not named.marks
    labels = [named.labels(named.space.enter(np.ascontiguousarray(rows.T)))[-1] for rows in (people, released)]
    before, after = (named.clusters[-1][one] for one in labels)
    assert np.mean(before == after) > 0.99
    assert misclassification_rate(AgglomerativeClustering(3).fit(inside(people, people)).labels_, before) < 0.03


def test_k_means_has_a_name_too(people) -> None:
    by_name, by_number = (AtomMixing(one, draws=1, insecure_seed=1) for one in (["k-means 3"], [3]))
    assert [len(one) for one in (by_name.fit(people), by_number.fit(people))[0].named_centres()] == [3]
    assert np.array_equal(by_name.named_centres()[0].round(3).shape, by_number.named_centres()[0].shape)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (["wrad 5"], "did you mean 'ward'"),
        (["ward"], "a number of clusters"),
        (["ward 1"], "a number of clusters"),
        (["ward 2.5"], "a number of clusters"),
        (["dbscan 0"], "a distance above 0"),
        (["gaussian mixture"], "for example 'gaussian mixture 5'"),
        ([make_pipeline(StandardScaler(), PCA(2))], "must end in a clusterer"),
    ],
)
def test_what_does_not_exist_is_refused_with_a_hint(people, wanted, said) -> None:
    with pytest.raises(ParameterError) as error:
        AtomMixing(wanted).fit(people)
    assert said in str(error.value)


def test_labels_are_made_once_and_travel(people, monkeypatch) -> None:
    """An executor that has other libraries, or none, reaches the same state: it is sent the trees."""
    method = AtomMixing(["ladder", "ward 3"], draws=1, insecure_seed=1, exposed="publish")
    frame = read_frame(people)
    key = Key.from_insecure_seed(1)
    hasher = RowHasher(key.derive("fingerprint", STREAM_VERSION), frame.names)
    facts = survey([frame], frame.names, frame.kinds, hasher)
    streams = method._streams_for(key, facts.fingerprint)
    driver = Replay(method, facts, Streams(streams.root))
    filled, _ = fill(driver.wanted, [frame])
    filled.conclude()
    learnt = [unpack(pack(learnt_of(filled)))]

    def elsewhere(*_: object) -> None:
        raise AssertionError("labels were made again")

    monkeypatch.setattr(by_name, "find_labels", elsewhere)
    monkeypatch.setattr("sfumato.perturb.guard.foreign.find_labels", elsewhere)
    plain = Facts(facts.names, facts.kinds, facts.n_rows, facts.low, facts.high, b"")
    executor = Replay(AtomMixing(["ladder", "ward 3"], draws=1, exposed="publish"), plain, Streams(streams.root))
    executor.advance(learnt)
    wanted = executor.wanted
    monkeypatch.undo()
    driver.advance(learnt)
    assert np.array_equal(wanted._named.stacked, driver.wanted._named.stacked)
    rows = wanted._named.space.steps(inside(people, people).T)
    labels = [one._named.marks[0].whole(rows) for one in (wanted, driver.wanted)]
    assert np.array_equal(*labels)
    assert len(np.unique(labels[0])) == 3


def test_of_several_draws_the_one_is_kept_in_which_the_clusterer_finds_most(bodies, monkeypatch) -> None:
    seen, asked = [], []
    wrong = Refound.wrong

    def remembered(self, original, released) -> float:
        asked.append((self, original))
        seen.append(wrong(self, original, released))
        return seen[-1]

    monkeypatch.setattr(Refound, "wrong", remembered)
    table = bodies[:300] * [1.0, 0.2, 0.2]  # hardly any clusters: every draw is found otherwise
    released = AtomMixing(["ward 6"], draws=3, insecure_seed=1, exposed="publish").fit_transform(table)
    assert len(seen) == 3
    assert max(seen) > min(seen) + 0.02
    assert wrong(*asked[0], inside(released, table).T) == min(seen)


@pytest.mark.parametrize("method", [AtomMixing, AtomExchange])
def test_what_a_clusterer_finds_in_a_draw_is_asked_once_and_travels(bodies, method, monkeypatch) -> None:
    table = bodies[:300]
    made = [method(["ward 3"], draws=2, insecure_seed=1, exposed="publish") for _ in range(2)]
    frame, key = read_frame(table), Key.from_insecure_seed(1)
    facts = survey([frame], frame.names, frame.kinds, RowHasher(key.derive("fingerprint", STREAM_VERSION), frame.names))
    driver, executor = (Replay(one, facts, made[0]._streams_for(key, facts.fingerprint)) for one in made)
    learnt, asked = [], []
    monkeypatch.setattr(Refound, "wrong", lambda *_: asked.append(1) or 0.5 / len(asked))
    while driver._fitting.wanted is not None:
        filled, _ = fill(driver.wanted, [frame])
        filled.conclude()
        learnt.append(unpack(pack(learnt_of(filled))))
        count = len(asked)
        driver.advance(learnt)
        executor.advance(learnt)
        assert len(asked) == count  # only where the rows were merged
    assert len(asked) == 2
    chosen = [one.fitted.draw if method is AtomMixing else one.fitted.subkey for one in (driver, executor)]
    assert chosen[0] == chosen[1]


def test_batches_and_threads_change_no_byte(people) -> None:
    made = [AtomMixing(["ladder", "gaussian mixture 3"], draws=1, insecure_seed=1) for _ in range(2)]
    whole = made[0].fit_transform(people)
    parts = [people[:311], people[311:900], people[900:]]
    made[1].fit_batches(parts, threads=2)
    assert np.array_equal(made[1].transform(people), whole)


def test_a_pipeline_of_linear_steps_is_part_of_the_space(people) -> None:
    """Walls of k-means after scaling and turning the columns are half-spaces: every label is kept."""
    pipeline = make_pipeline(MinMaxScaler(), PCA(2, whiten=True), KMeans(4, n_init=5, random_state=0))
    labels = pipeline.fit_predict(people)
    for given in (pipeline, make_pipeline(MinMaxScaler(), PCA(2, whiten=True), KMeans(4, n_init=5, random_state=0))):
        method = AtomMixing([given], draws=1, insecure_seed=1, exposed="publish")
        released = method.fit_transform(people)
        assert np.mean(pipeline.predict(released) == labels) > 0.98  # centres move a little with the rows
        atoms = atoms_of(method)
        assert atoms.named.weights[-1].shape == (3, 3)
        assert len(atoms.named.centres[-1]) == 4


def test_a_pipeline_of_other_steps_is_kept_by_its_labels(bodies) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.cbrt), AgglomerativeClustering(3)).fit(bodies)
    method = AtomMixing([2, pipeline], draws=1, insecure_seed=1)
    released = method.fit_transform(bodies)
    assert len(released) == len(bodies)  # labels belong to rows: nobody is held back
    assert len(np.unique(atoms_of(method).marks[:, 0])) == 3
    before, after = (AgglomerativeClustering(3).fit_predict(np.cbrt(rows)) for rows in (bodies, released))
    assert misclassification_rate(before, after) < 0.03
    with pytest.raises(ParameterError, match="fit it on this table"):
        AtomMixing([2, pipeline], draws=1, insecure_seed=1).fit(bodies[:600])


def test_prototypes_of_rings_grow_until_they_give_the_labels() -> None:
    rng = np.random.default_rng(0)
    angle, ring = rng.uniform(0, 2 * np.pi, 2000), rng.integers(0, 2, 2000)
    steps = np.rint(1000 * (1 + 2 * ring) * np.stack([np.cos(angle), np.sin(angle)]))
    streams = Streams(bytes(32))
    centres, clusters, right = label_prototypes(steps, ring, lambda name, n: streams.scalars("k-means", name, n))
    assert right > 0.99
    assert 3 <= np.count_nonzero(clusters == 1) <= 48
    assert len(centres) == len(clusters)
