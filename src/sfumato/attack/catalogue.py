"""The catalogue of attacks: one row of plain data each; the code is loaded when an attack is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from sfumato.exceptions import ParameterError, nearest_name

if TYPE_CHECKING:
    from sfumato.attack.engine.interface import Attack

Cost = Literal[
    "nothing", "sample", "few records", "many records", "half record", "full record", "most records", "kept columns"
]
Goal = Literal["values", "links"]
Need = Literal[
    "marginals",
    "sample",
    "records",
    "pairs",
    "attributes",
    "clusterings",
    "atom_moments",
    "releases",
    "decimals",
    "kinds",
    "places",
]
Known = Literal["none", "one", "few", "some", "many", "tenth", "persons", "lookups"]


@dataclass(frozen=True)
class Entry:
    """A row of the catalogue.

    Parameters
    ----------
    id : str
        Short name, used on the command line and in reports.
    name : str
        What the attacker does, in words.
    rung : int
        Ladder of knowledge: 0 nothing, 1 public figures, 2 a sample, 3 people's records, 4 known rows.
    cost : str
        What that costs with the default number of known people.
    needs : tuple of str
        Fields of `Knowledge` that the referee must fill.
    summary : str
        One sentence for a reader who does not know the attack.
    module, class_name : str
        Where the code is.
    goal : {'values', 'links'}
        Guess original values of rows, or find the rows of known people. Default: "values".
    known : str
        Default number of known people: none, one, few (d + 2), some (few, at least 8), many (3d + 6), tenth (of the
        table), persons, lookups.
    whole : bool
        Whether it reads whole rows: categories and kept columns, too, where a table has some. Default: False.
    """

    id: str
    name: str
    rung: int
    cost: Cost
    needs: tuple[Need, ...]
    summary: str
    module: str
    class_name: str
    goal: Goal = "values"
    known: Known = "none"
    whole: bool = False

    def load(self) -> Attack:
        """Return a new attack object of this row."""
        made = getattr(import_module(f"sfumato.attack.{self.module}"), self.class_name)()
        assert made.entry is self
        return made  # type: ignore[no-any-return]


_ROWS: tuple[Entry, ...] = (
    Entry("as-released", "take the release as it is", 0, "nothing", (),
          "The released value itself is the guess: the floor that every release has.",
          "blind.as_released", "AsReleased"),
    Entry("lattice", "find the decimal grid", 0, "nothing", ("decimals",),
          "Data have few decimals: the step of the released grid tells the factor of a scaling, "
          "and whole squared lengths tell the angle of a rotation.", "blind.lattice", "Lattice"),
    Entry("orbit", "enumerate a chaotic orbit", 0, "nothing", ("decimals",),
          "Noise that is a deterministic orbit is found by trying the column's range and one value.",
          "orbit.attacks", "BlindOrbit"),
    Entry("seed", "replay small seeds", 0, "nothing", (),
          "Noise of a common generator with a small integer seed is drawn again and subtracted.",
          "blind.seed_replay", "SeedReplay"),
    Entry("spectral", "filter by random matrix theory", 0, "nothing", (),
          "Directions whose variance noise alone could explain are removed (Marchenko-Pastur).",
          "blind.spectral_filter", "SpectralFilter"),
    Entry("pca-dr", "keep the principal directions", 0, "nothing", (),
          "Correlated columns are rebuilt from the main directions of the data's estimated covariance.",
          "blind.pca_reconstruction", "PrincipalReconstruction"),
    Entry("bayes", "estimate with the noise's covariance", 0, "nothing", (),
          "The best linear estimate under the public size of the noise.", "blind.bayes_estimate", "BayesEstimate"),
    Entry("em", "rebuild each column's distribution", 0, "nothing", (),
          "The original distribution of a column is rebuilt by EM; every value moves to its most probable place.",
          "blind.em_marginal", "MarginalReconstruction"),
    Entry("contraction", "undo a partial move", 0, "nothing", (),
          "Rows moved part of the way to their group's mean are moved back.", "blind.contraction", "Contraction"),
    Entry("atom-mean", "take the mean of the cell", 0, "nothing", (),
          "The release is clustered again; rows that share all labels are guessed by their mean.",
          "atoms.atom_mean", "AtomMean"),
    Entry("releases", "combine several releases", 0, "nothing", ("releases",),
          "Noise that is drawn again for each release averages out.", "blind.several_releases", "SeveralReleases"),
    Entry("moments", "match mean and deviation", 1, "nothing", ("marginals",),
          "Each column is shifted and stretched to its public mean and standard deviation.",
          "public.moments", "Moments"),
    Entry("quantiles", "match ranks to quantiles", 1, "nothing", ("marginals",),
          "Each released value becomes the public quantile of its rank.", "public.quantile_mapping", "QuantileMapping"),
    Entry("orbit-range", "enumerate an orbit of known range", 1, "nothing", ("decimals", "marginals"),
          "With the column's range public, an orbit is found by trying one value.", "orbit.attacks", "RangedOrbit"),
    Entry("sample-pca", "match principal axes with a sample", 2, "sample", ("sample",),
          "Principal axes of a sample and of the release are matched, signs by the shape of the distributions.",
          "public.sample_pca", "SamplePCA"),
    Entry("ak-ica", "match independent components with a sample", 2, "sample", ("sample",),
          "Independent components of a sample and of the release are matched by their distributions.",
          "public.ak_ica", "IndependentComponents"),
    Entry("projection", "invert a known projection", 2, "sample", ("sample",),
          "A projection whose matrix is public is inverted as well as the sample's covariance allows.",
          "public.projection", "ProjectionEstimate"),
    Entry("distances", "recognise mutual distances", 3, "few records", ("records",),
          "Known people are found by their mutual distances, then the rest is solved for.",
          "known.distance_signature", "DistanceSignature", known="few"),
    Entry("kept-columns", "join on the kept columns", 3, "kept columns", ("records", "kinds"),
          "Each known person is looked up by the columns that are released as they are.",
          "linkage.kept_columns", "KeptColumns", "links", "lookups", whole=True),
    Entry("nearest", "link to the nearest row", 3, "full record", ("records", "marginals"),
          "Each known person is linked to the nearest released row.",
          "linkage.nearest_row", "NearestRow", "links", "persons", whole=True),
    Entry("gower", "link by Gower's distance", 3, "full record", ("records", "kinds"),
          "Each known person is linked to the row nearest in all columns, numbers by range, categories by mismatch.",
          "linkage.gower", "Gower", "links", "persons", whole=True),
    Entry("equal-cells", "link by identical cells", 3, "full record", ("records",),
          "Each known person is linked to the row that shares the rarest values with them.",
          "linkage.equal_cells", "EqualCells", "links", "persons", whole=True),
    Entry("fellegi-sunter", "link by agreement of columns", 3, "full record", ("records", "marginals"),
          "Columns that agree count for or against a link, with weights estimated by EM.",
          "linkage.fellegi_sunter", "FellegiSunter", "links", "persons", whole=True),
    Entry("ranks", "link by ranks", 3, "full record", ("records", "marginals"),
          "Each known person is linked to the row with the most similar ranks.",
          "linkage.rank_linkage", "RankLinkage", "links", "persons"),
    Entry("near-copies", "look for near copies", 3, "full record", ("records", "marginals"),
          "Each known person is linked only to a row that is far nearer to them than the next one.",
          "linkage.twins", "NearCopies", "links", "persons"),
    Entry("views", "link by another view of the rows", 3, "full record", ("records", "marginals"),
          "Each known person is linked by ranks, size, direction or sorted cells, whichever makes rows stand out most.",
          "linkage.views", "Views", "links", "persons"),
    Entry("farthest", "recognise the farthest rows", 3, "full record", ("records", "marginals"),
          "Known people are looked for among the rows that stand farthest out, by direction rather than distance.",
          "linkage.farthest", "FarthestRow", "links", "persons"),
    Entry("likelihood", "link by the method's own noise", 3, "full record", ("records", "marginals"),
          "Each known person is linked to the row that the public noise law makes most probable.",
          "linkage.likelihood_linkage", "LikelihoodLinkage", "links", "persons"),
    Entry("clip-slack", "link by the distance to the cells' borders", 3, "full record", ("records", "clusterings"),
          "A row that was pulled back from a border to where it came from keeps a fixed share of its distance.",
          "atoms.clip_slack", "ClipSlack", "links", "persons"),
    Entry("atom-likelihood", "link by the true moments of the cells", 3, "full record",
          ("records", "clusterings", "atom_moments"),
          "Within the rows that share all labels each known person is linked to the most probable one.",
          "atoms.atom_likelihood", "AtomLikelihood", "links", "persons"),
    Entry("span", "complete half a record", 3, "half record", ("attributes", "marginals"),
          "Few rows that were mixed among each other span what they were: some values of a person give the others.",
          "atoms.span", "Span", known="persons"),
    Entry("orbit-known", "follow a chaotic orbit", 4, "few records", ("pairs", "decimals", "marginals"),
          "One known row starts the orbit; it then yields the whole column.",
          "orbit.attacks", "KnownOrbit", known="one"),
    Entry("affine", "solve for the linear map", 4, "few records", ("pairs",),
          "Any mixture of shifts, scalings and rotations is solved from d + 1 known rows.",
          "known.affine", "Affine", known="few"),
    Entry("shaped-affine", "solve for functions and a linear map", 4, "few records", ("pairs", "marginals"),
          "Functions of the cells (powers, logarithms, ranks, scores) are tried on both sides of a linear map.",
          "known.shaped_affine", "ShapedAffine", known="few"),
    Entry("affine-columns", "solve each column's line", 4, "few records", ("pairs",),
          "A shift and a scaling per column are solved from two known rows.",
          "known.affine_columns", "AffineColumns", known="few"),
    Entry("ransac", "solve for the map of most rows", 4, "many records", ("pairs",),
          "The linear map is solved from the known rows that agree; noisy ones are left out.",
          "known.ransac", "RansacAffine", known="many"),
    Entry("group-affine", "solve a linear map for each group", 4, "many records", ("pairs",),
          "Known rows that stand together agree on a linear map of their own; others use that of the nearest one.",
          "known.group_affine", "GroupAffine", known="tenth"),
    Entry("chains", "go from row to row", 4, "many records", ("pairs",),
          "Sums, differences and moving means over rows are undone from one row to the next.",
          "known.chains", "Chains", known="many"),
    Entry("look-up", "look values up", 4, "many records", ("pairs",),
          "Known rows tell what each released value stands for.", "known.look_up", "LookUp", known="tenth"),
    Entry("bit-sums", "solve for sums of bits", 4, "many records", ("pairs",),
          "Bits of an original column are sums, modulo 2, of released bits and of those of the row's number: an "
          "exclusive or, a mask, a Gray code.", "known.bit_sums", "BitSums", known="tenth"),
    Entry("digit-sums", "add up what digits stand for", 4, "many records", ("pairs",),
          "Known rows tell what single digits or bits stand for: an original that was written backwards, in ciphers of "
          "digits or spread over columns is their sum.", "known.digit_sums", "DigitSums", known="tenth"),
    Entry("congruences", "solve for multiples in a modulus", 4, "few records", ("pairs", "marginals"),
          "A column that was multiplied, moved by the row's number and written in a modulus is read back; known rows "
          "tell the modulus.", "known.congruences", "Congruences", known="some"),
    Entry("lags", "look for columns at other rows", 4, "many records", ("pairs",),
          "Columns that were rolled down the file, or turned upside down, are found by a correlation with known rows.",
          "known.lags", "Lags", known="tenth"),
    Entry("row-noise", "subtract noise that comes again", 4, "many records", ("pairs",),
          "Noise of known rows that comes again every so many rows, with one released value or from row to row is "
          "subtracted from others.", "known.row_noise", "RowNoise", known="tenth"),
    Entry("curves", "draw a curve for each column", 4, "many records", ("pairs",),
          "Known rows draw each column as a curve of a released column, or of the direction that suits it best.",
          "known.curves", "Curves", known="tenth"),
    Entry("low-digits", "read the low digits", 4, "few records", ("pairs", "marginals"),
          "Digits that noise did not reach, in any usual base, are held against what known people have.",
          "known.low_digits", "LowDigits", known="some"),
    Entry("row-numbers", "read places from digits", 4, "kept columns", ("places",),
          "Digits that follow the places of known rows in the original file tell everybody's place.",
          "places.row_numbers", "RowNumbers", "links", "lookups"),
    Entry("directions", "solve for directions", 4, "full record", ("records", "pairs"),
          "Rows times factors of their own keep their direction, even after a linear map that known rows give away.",
          "linkage.directions", "Directions", "links", "persons"),
    Entry("forward", "say what a record becomes", 4, "full record", ("records", "pairs"),
          "Known rows show what values become, as a dictionary, a curve or a line; a person is linked to the row that "
          "theirs become.", "linkage.forward", "Forward", "links", "persons", whole=True),
    Entry("traces", "put small traces together", 4, "full record", ("records", "pairs", "marginals"),
          "Known rows show what last digits, remainders and gaps of a release go with; together they find a row.",
          "linkage.traces", "Traces", "links", "persons"),
    Entry("remainders", "link by sums in a modulus", 4, "full record", ("records", "pairs"),
          "Known rows show released digits or bits that are sums of a record's cells in some modulus; a person is "
          "linked to the rows that hold theirs.", "linkage.remainders", "Remainders", "links", "persons"),
    Entry("invariants", "look for what noise leaves alone", 4, "full record", ("records", "pairs", "marginals"),
          "Known rows show sums, differences, lengths or products that noise in every column leaves as they are.",
          "linkage.invariants", "Invariants", "links", "persons"),
    Entry("trilateration", "locate by distances", 4, "few records", ("pairs",),
          "Distances to known rows, up to one unknown scale, fix every other row.",
          "known.trilateration", "Trilateration", known="few"),
    Entry("ridge", "learn from known rows", 4, "many records", ("pairs",),
          "A regularised regression from released to original values.", "known.ridge", "Ridge", known="many"),
    Entry("stacked-releases", "learn from several releases", 4, "many records", ("pairs", "releases"),
          "Known rows tell how much each of several releases with other settings is worth.",
          "known.stacked_releases", "StackedReleases", known="tenth"),
    Entry("differencing", "subtract known members", 4, "many records", ("pairs",),
          "A group's mean minus its known members leaves the others.",
          "known.differencing", "Differencing", known="tenth"),
    Entry("cluster-sums", "subtract known members from clusters", 4, "many records", ("pairs",),
          "Exact sums of clusters, and of their differences, minus the known members leave the others.",
          "atoms.cluster_sums", "ClusterSums", known="tenth"),
)  # fmt: skip
_SOME = 8  # known people are few, however few the columns
_BY_ID = {row.id: row for row in _ROWS}


def attacks() -> tuple[Entry, ...]:
    """Return all rows of the catalogue, by rung.

    Returns
    -------
    tuple of Entry
        Every attack of the package.

    Examples
    --------
    >>> [row.id for row in attacks() if row.rung == 1]
    ['moments', 'quantiles', 'orbit-range']
    """
    return _ROWS


def entry(identifier: str) -> Entry:
    """Return the catalogue row of an attack.

    Parameters
    ----------
    identifier : str
        Id of the attack.

    Returns
    -------
    Entry
        The row.

    Examples
    --------
    >>> entry("affine").rung
    4
    """
    if identifier in _BY_ID:
        return _BY_ID[identifier]
    raise ParameterError(
        f"no attack {identifier!r}; attacks are: {', '.join(_BY_ID)}", hint=nearest_name(identifier, _BY_ID)
    )


def load(identifier: str) -> Attack:
    """Return a new attack object.

    Parameters
    ----------
    identifier : str
        Id of the attack.

    Returns
    -------
    Attack
        An object with `applies` and `run`.

    Examples
    --------
    >>> load("affine").cost
    'few records'
    """
    return entry(identifier).load()


def default_known(row: Entry, n_rows: int, n_columns: int) -> int:
    """Return how many people an attack knows when nothing else is said.

    Parameters
    ----------
    row : Entry
        The attack.
    n_rows, n_columns : int
        Size of the original.

    Returns
    -------
    int
        At most a quarter of the rows, except where every known person is a question of its own (linkage).

    Examples
    --------
    >>> default_known(entry("affine"), 178, 13), default_known(entry("ransac"), 178, 13)
    (15, 44)
    """
    quarter = n_rows // 4
    if row.known == "lookups":  # a table in order is searched, not compared
        return min(n_rows, 1000)
    if row.known == "persons":
        # linkage compares every person with every row: keep persons x rows near 8 million
        return min(n_rows, 1000, max(50, 8_000_000 // max(n_rows, 1)))
    wanted = {
        "none": 0,
        "one": 1,
        "few": n_columns + 2,
        "some": max(n_columns + 2, _SOME),
        "many": 3 * n_columns + 6,
        "tenth": max(3 * n_columns + 6, n_rows // 10),
    }
    return min(wanted[row.known], quarter)


def cost_of_known(row: Entry, known: int, n_rows: int, n_columns: int) -> Cost:
    """Return what an attack costs with this many known people.

    Parameters
    ----------
    row : Entry
        The attack.
    known : int
        Number of known people.
    n_rows, n_columns : int
        Size of the original.

    Returns
    -------
    str
        For attacks on rungs 3 and 4 that learn from people: few up to d + 2, many up to 3d + 6 or a tenth of the
        table, most beyond; the catalogue's own cost otherwise.

    Examples
    --------
    >>> cost_of_known(entry("affine"), 15, 178, 13), cost_of_known(entry("affine"), 16, 178, 13)
    ('few records', 'many records')
    """
    if row.known in {"persons", "lookups"} or row.rung < 3:
        return row.cost
    if known <= (max(n_columns + 2, _SOME) if row.known == "some" else n_columns + 2):
        return "few records"
    return "many records" if known <= max(3 * n_columns + 6, n_rows // 10) else "most records"
