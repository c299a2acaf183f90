"""Attacks on releases that keep named clusterings: what mixing and the guard must withstand, and what they cannot."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import KMeans

import sfumato as sf
from sfumato.attack import Referee, best_linkage, run_attack
from sfumato.attack.atoms.regions import atoms_of, clusterings_of, label_table, name_clusterings
from sfumato.auditing.whole.company import nearest_of_all
from sfumato.exceptions import DataError, ParameterError


def clustered(n=900, d=4, seed=0):
    draw = np.random.default_rng([seed, n, d])
    centres = 2.5 * draw.normal(size=(5, d))
    return centres[draw.integers(0, 5, n)] + draw.normal(size=(n, d)) @ draw.normal(size=(d, d)) * 0.6


def named(x, clusters=(2, 3, 5)):
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return {k: KMeans(k, n_init=3, tol=0, random_state=0).fit(z).labels_ for k in clusters}


def mixed(x, labels, seed=0, strength=1.0):
    """Haar mixing inside every atom; strength below 1 leaves part of each row where it was."""
    draw = np.random.default_rng(seed)
    atoms = atoms_of(label_table(labels, len(x)))
    released = np.array(x)
    for atom in range(len(atoms.sizes)):
        rows = np.flatnonzero(atoms.of_row == atom)
        n = len(rows)
        if n < 2:
            continue
        basis = np.linalg.qr(np.column_stack([np.ones(n), draw.normal(size=(n, n - 1))]))[0][:, 1:]
        turn, upper = np.linalg.qr(draw.normal(size=(n - 1, n - 1)))
        centred = x[rows] - x[rows].mean(axis=0)
        turned = basis @ (turn * np.sign(np.diag(upper))) @ basis.T @ centred
        released[rows] = x[rows].mean(axis=0) + strength * turned + np.sqrt(1 - strength**2) * centred
    return released


def clipped(x, y, labels, anchor):
    """Rows pulled back into their cells, towards their originals ("row") or towards their atom's mean ("mean")."""
    table = label_table(labels, len(x))
    named_centres, atoms = clusterings_of(x, table), atoms_of(table)
    begin, end = named_centres.place(x), named_centres.place(y)
    if anchor == "mean":
        begin = atoms.means(begin)[atoms.of_row]
    for atom, code in enumerate(atoms.codes):
        rows = np.flatnonzero(atoms.of_row == atom)
        inside, after = (named_centres.slacks(p[rows], code) for p in (begin, end))
        step = np.where(inside > after, inside / np.where(inside > after, inside - after, 1.0), np.inf).min(axis=1)
        end[rows] = begin[rows] + np.minimum(1.0, 0.97 * step)[:, None] * (end[rows] - begin[rows])
    return end * named_centres.scale + named_centres.shift


@pytest.mark.parametrize(
    "labels",
    [[0.0, np.nan, 1.0], [0.5, 1.0, 1.0], np.array([1, "1", 2], object), np.ma.masked_array([0, 1, 1], [0, 0, 1])],
)
def test_labels_that_no_clustering_gives_are_refused(labels):
    with pytest.raises(DataError, match="label"):
        label_table({2: labels}, 3)


def test_codes_are_the_labels_of_k_means():
    x = clustered()
    labels = named(x)
    found = clusterings_of(x, label_table(labels, len(x))).codes(x)
    assert (found == label_table(labels, len(x))).mean() > 0.999  # a row on a border may fall on either side


def test_slacks_are_positive_exactly_inside_the_cell():
    x = clustered()
    table = label_table(named(x), len(x))
    centres = clusterings_of(x, table)
    codes = centres.codes(x)
    slack = centres.slacks(centres.place(x), codes[0])
    assert slack.shape == (len(x), 1 + 2 + 4)
    assert np.array_equal((slack >= 0).all(axis=1), (codes == codes[0]).all(axis=1))


def test_atoms_are_found_again_by_their_codes():
    codes = np.array([[0, 1], [1, 1], [0, 1], [0, 0]])
    atoms = atoms_of(codes)
    assert atoms.find(np.array([[0, 1], [7, 7]])).tolist() == [atoms.of_row[0], -1]
    assert sorted(atoms.sizes.tolist()) == [1, 1, 2]
    assert np.array_equal(atoms.codes[atoms.of_row], codes)


def test_a_large_table_is_clustered_by_a_sample_and_labelled_whole():
    x = clustered(30_000, 3)
    found = name_clusterings(x, seed=1)
    assert [len(centres) for centres in found.centres] == list(range(2, 9))
    assert found.codes(x).shape == (30_000, 7)


def test_labels_that_do_not_fit_are_refused():
    x = clustered(50)
    with pytest.raises(DataError, match="labels"):
        Referee(x, x, labels={2: np.zeros(49)})
    with pytest.raises(ParameterError, match="scaling"):
        Referee(x, x, labels={2: np.arange(50) % 2}, scaling="log").run("clip-slack")
    with pytest.raises(ParameterError, match="linkage"):
        best_linkage(x, x, {2: np.arange(50) % 2}, names=["affine"])


def test_the_mean_of_the_atom_is_what_mixing_cannot_hide():
    x = clustered()
    labels = named(x)
    released = mixed(x, labels)
    atoms = atoms_of(label_table(labels, len(x)))
    within = x - atoms.means(x)[atoms.of_row]
    expected = within.var(axis=0) / x.var(axis=0)
    result = run_attack("atom-mean", x, released, labels=labels)
    assert result.residual == pytest.approx(expected.tolist())
    assert min(run_attack("as-released", x, released).residual) > max(expected)


def test_atoms_are_estimated_from_the_release_when_no_labels_are_published():
    x = clustered()
    labels = named(x, range(2, 9))
    released = mixed(x, labels)
    told = run_attack("atom-mean", x, released, labels=labels).residual
    blind = run_attack("atom-mean", x, released).residual
    assert np.median(blind) < 1.5 * np.median(told)


def test_clipping_from_the_row_is_linked_and_clipping_from_the_mean_stays_at_chance():
    x = clustered(1200)
    labels = named(x, range(2, 9))
    atoms = atoms_of(label_table(labels, len(x)))
    means = atoms.means(x)[atoms.of_row]
    far = means + 3.0 * (mixed(x, labels) - means)  # so far out that most rows are clipped
    from_row = best_linkage(x, clipped(x, far, labels, "row"), labels, names=["clip-slack"])
    from_mean = best_linkage(x, clipped(x, far, labels, "mean"), labels, names=["clip-slack"])
    assert from_row.rate > 5 * from_row.chance
    assert from_mean.rate <= 1.3 * from_mean.chance + 0.01


def test_no_linkage_attack_beats_chance_on_full_mixing_but_a_partial_move_is_linked():
    x = clustered(1200)
    labels = named(x)
    full = best_linkage(x, mixed(x, labels), labels)
    part = best_linkage(x, mixed(x, labels, strength=0.5), labels)
    assert full.chance == pytest.approx(full.atoms / 1200)
    assert full.rate <= 1.3 * full.chance + 0.01
    assert part.rate > 10 * part.chance
    assert set(part.rates) >= {"clip-slack", "atom-likelihood", "nearest", "ranks"}


def test_true_moments_link_better_than_distances_when_columns_are_correlated():
    draw = np.random.default_rng(3)
    x = draw.normal(size=(800, 6)) @ (draw.normal(size=(6, 6)) * np.array([3, 1, 0.3, 0.1, 0.1, 0.05])[:, None])
    labels = named(x, (2, 3))
    released = mixed(x, labels, strength=0.8)
    rates = best_linkage(x, released, labels).rates
    assert rates["atom-likelihood"] > 1.5 * max(rates["nearest"], rates["ranks"])


def test_half_a_record_gives_the_other_half_in_small_atoms_only():
    draw = np.random.default_rng(4)
    x = draw.normal(size=(400, 10))
    small, large = np.arange(400) // 5, np.arange(400) // 20
    assert run_attack("span", x, mixed(x, {80: small}), labels={80: small}).rate > 0.95
    result = run_attack("span", x, mixed(x, {20: large}), labels={20: large})
    assert (result.status, result.rate) == ("ineffective", None)
    assert "more rows than the 5 known columns" in result.reason


def test_half_a_record_is_worth_nothing_when_rows_got_noise_of_their_own():
    draw = np.random.default_rng(4)
    x = draw.normal(size=(400, 10))
    small = np.arange(400) // 5
    noisy = mixed(x, {80: small}) + 0.1 * draw.normal(size=x.shape)
    assert (run_attack("span", x, noisy, labels={80: small}).rate or 0.0) < 0.05


def test_half_a_record_completes_people_of_small_atoms_of_exact_means_and_nobody_by_default():
    draw = np.random.default_rng(1)
    x = draw.lognormal(0, 0.6, (300, 5)) @ draw.normal(size=(5, 16))
    x = np.round(10 * (x + 0.5 * draw.normal(size=x.shape)), 1)

    def attacked(min_atom: int, *, exact: bool):
        made = {"exact_centres": exact, "min_atom": min_atom, "exposed": "publish"}
        method = sf.perturb.AtomMixing(clusterings=range(2, 9), draws=1, insecure_seed=2, **made)
        released = method.fit_transform(x)
        atoms = nearest_of_all(released, method.named_centres(), x.std(axis=0))
        return run_attack("span", x, released, atoms=atoms, parameters={"min_atom": min_atom})

    scores = attacked(5, exact=True).scores
    assert scores.answered.sum() >= 15
    assert scores.attack[scores.answered].mean() > 0.25
    assert scores.baseline[scores.answered].mean() < 0.05  # what a regression on others gets of them
    scores = attacked(5, exact=False).scores  # small atoms are mixed across one another, and columns are shrunk
    if scores is not None:  # with this key no small atom is left for it
        assert scores.attack[scores.answered].mean() <= scores.baseline[scores.answered].mean() + 0.02
    large = attacked(18, exact=False)  # two more than columns
    assert (large.status, large.rate) == ("ineffective", None)
    assert "more rows than the 8 known columns can fix" in large.reason


def test_only_columns_that_were_not_known_are_scored():
    x = np.random.default_rng(0).normal(size=(200, 4))
    referee = Referee(x, x)
    held = referee.knowledge("span")
    assert held.attributes.values.shape == (200, 2)
    assert held.records is None
    known = set(held.attributes.columns.tolist())
    result = referee.run("span")
    assert {j for j, value in enumerate(result.residual) if value == 1.0} >= known


def test_the_last_member_of_a_cluster_follows_from_its_sum():
    x = clustered(300, 3)
    labels = named(x)
    released = mixed(x, labels)
    atoms = atoms_of(label_table(labels, len(x)))
    last = np.array([np.flatnonzero(atoms.of_row == atom)[-1] for atom in range(len(atoms.sizes))])
    known = np.setdiff1d(np.arange(300), last)
    result = run_attack("cluster-sums", x, released, known=known, labels=labels)
    assert (result.rate, result.scored) == (1.0, len(last))
    assert max(result.residual) < 1e-12


def test_sums_of_clusters_disclose_a_row_although_its_atom_was_moved():
    x = np.random.default_rng(0).normal(size=(40, 3))
    left, top = np.arange(40) // 20, np.arange(40) // 10 % 2
    released = x + np.where(left == top, 0.5, -0.5)[:, None]  # every cluster keeps its sum, no atom does
    for labels in (left, top):
        for cluster in (0, 1):
            assert np.allclose(released[labels == cluster].sum(axis=0), x[labels == cluster].sum(axis=0))
    known = [*range(1, 10), *range(30, 40)]  # all of one atom, all but row 0 of another
    referee = Referee(x, released, labels=np.column_stack([left, top]))
    scores = referee.run("cluster-sums", known).scores
    assert scores.attack[scores.rows == 0] == 1.0


def test_cluster_sums_of_a_release_that_keeps_no_sums_say_nothing():
    x = clustered(300, 3)
    labels = named(x)
    noisy = x + 2.0 * np.random.default_rng(0).normal(size=x.shape) * x.std(axis=0)
    assert run_attack("cluster-sums", x, noisy, labels=labels).lift_low < 0.05
