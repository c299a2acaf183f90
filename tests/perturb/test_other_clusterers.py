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
from sfumato.perturb import AtomExchange, AtomMixing
from sfumato.perturb.mechanism.recipe import Replay


@pytest.fixture(scope="module")
def people() -> np.ndarray:
    """Two long bodies side by side, and a ball."""
    rng = np.random.default_rng(4)
    long = rng.normal(size=(500, 3)) * [1.5, 0.4, 0.4]
    other = rng.normal(size=(400, 3)) * [1.5, 0.4, 0.4] + [0.0, 4.0, 0.0]
    ball = rng.normal(size=(300, 3)) * 0.5 + [0.0, 0.0, 6.0]
    return rng.permutation(np.concatenate([long, other, ball])) @ rng.normal(size=(3, 3))


def kept(method) -> tuple[np.ndarray, object]:
    """Return the labels that rows have by the last kept clustering, and the clusterings."""
    state = method._fitted_state().fitted
    atoms = getattr(state, "found", state).atoms
    return atoms.named.merged(atoms.labels)[:, -1], atoms


@pytest.mark.parametrize("row", CLUSTERERS, ids=lambda row: row.name)
def test_every_clusterer_is_kept_by_its_name(people, row) -> None:
    name = "dbscan 0.4" if row.name == "dbscan" else row.example.replace(" 5", " 3")
    method = AtomMixing([2, name], draws=1, insecure_seed=1, exposed="publish")
    released = method.fit_transform(people)
    atoms = kept(method)[1]
    space = atoms.named.space
    before, after = (atoms.named.labels(space.enter(np.ascontiguousarray(rows.T)))[-1] for rows in (people, released))
    clusters = atoms.named.clusters[-1]
    assert np.mean(clusters[before] == clusters[after]) > 0.99
    (note,) = method._notes(method._fitted_state().fitted)
    told = re.fullmatch(
        rf"{name} finds \d clusters( and \d+ % noise)?: \d+ prototypes give (\d+) % of its labels", note
    )
    assert int(told[2]) >= 95
    if row.name != "chameleon":  # METIS cuts rows in another order otherwise
        original = find_labels(name, (people - people.mean(axis=0)) / people.std(axis=0), 0, len(people))
        assert misclassification_rate(original, clusters[before]) < 0.05


@pytest.mark.parametrize("method", [AtomMixing, AtomExchange])
def test_the_ladder_takes_other_clusterers_along(people, method) -> None:
    made = method(["ladder", "ward 3"], draws=1, insecure_seed=1, exposed="publish")
    released = made.fit_transform(people)
    named = kept(made)[1].named
    assert len(named.sizes) == 12  # 2 to 12, and Ward
    labels = [named.labels(named.space.enter(np.ascontiguousarray(rows.T)))[-1] for rows in (people, released)]
    before, after = (named.clusters[-1][one] for one in labels)
    assert np.mean(before == after) > 0.93  # a few labels are given up where atoms have joined
    found = AgglomerativeClustering(3).fit((people - people.mean(axis=0)) / people.std(axis=0)).labels_
    assert misclassification_rate(found, before) < 0.03


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
    """An executor that has other libraries, or none, reaches the same state: it is sent the prototypes."""
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
    assert len(wanted._named.sizes) == 12


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
        atoms = kept(method)[1]
        assert atoms.named.weights[-1].shape == (3, 3)
        assert len(atoms.named.centres[-1]) == 4


def test_a_pipeline_of_other_steps_is_kept_by_prototypes(people) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.cbrt), AgglomerativeClustering(3)).fit(people)
    method = AtomMixing([2, pipeline], draws=1, insecure_seed=1)
    assert len(method.fit_transform(people)) == len(people)  # labels belong to rows: nobody is held back
    labels, atoms = kept(method)
    assert atoms.named.weights[-1] is None
    assert len(np.unique(labels)) == 3
    with pytest.raises(ParameterError, match="fit it on this table"):
        AtomMixing([2, pipeline], draws=1, insecure_seed=1).fit(people[:800])


def test_prototypes_of_rings_grow_until_they_give_the_labels() -> None:
    rng = np.random.default_rng(0)
    angle, ring = rng.uniform(0, 2 * np.pi, 2000), rng.integers(0, 2, 2000)
    steps = np.rint(1000 * (1 + 2 * ring) * np.stack([np.cos(angle), np.sin(angle)]))
    streams = Streams(bytes(32))
    centres, clusters, right = label_prototypes(steps, ring, lambda name, n: streams.scalars("k-means", name, n))
    assert right > 0.99
    assert 3 <= np.count_nonzero(clusters == 1) <= 48
    assert len(centres) == len(clusters)
