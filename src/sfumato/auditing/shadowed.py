"""What shadow releases tell: who is in the table, and what one person changes. Made only when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato._arrays import Floats
from sfumato.attack.shadows.membership import Membership, membership
from sfumato.attack.shadows.one_row import RowDifference, one_row_difference
from sfumato.exceptions import ParameterError

_NOTICED = 0.55  # lower bound of the area under the curve from which members count as told
_PEOPLE = 20


@dataclass(frozen=True)
class Shadowed:
    """What shadow releases tell.

    Attributes
    ----------
    membership : Membership
        How well people in the table are told from others.
    difference : RowDifference
        What two releases tell that differ by one person.
    """

    membership: Membership
    difference: RowDifference

    @property
    def members_are_told(self) -> bool:
        """Whether members are told from others, all of them or the most exposed."""
        return max(self.membership.auc_low, self.membership.auc_exposed_low) > _NOTICED

    @property
    def lines(self) -> tuple[str, ...]:
        """One sentence each."""
        told, one = self.membership, self.difference
        members = (
            f"Who is in the table is told with an area under the curve of {told.auc:.2f}, and of "
            f"{told.auc_exposed:.2f} for the {told.exposed:,} people farthest out (control: {told.auc_control:.2f}); "
            f"{told.tpr:.1%} and {told.tpr_exposed:.1%} of the members are told where 1 in 100 others is taken for one."
        )
        person = (
            f"Two releases that differ by one person give away {one.cells:.0%} of this person's cells, and "
            f"{one.cells_exposed:.0%} for people far out (guessing: {one.guess:.0%} and {one.guess_exposed:.0%})."
        )
        return members, person


def measure_shadows(method: Any, table: Floats, shadows: int, *, seed: int = 0) -> Shadowed:
    """Make shadow releases of a table and return what they tell.

    Parameters
    ----------
    method : perturber
        The method of the release with its parameters; its key is not used.
    table : array of shape (n, d)
        The original.
    shadows : int
        Releases for the question of membership; a few more are made for what one person changes.
    """
    if not hasattr(method, "fit_transform"):
        raise ParameterError(
            "shadow releases need the method itself",
            hint="pass method=sf.perturb.AtomMixing(...), with the parameters of the release",
        )
    from sklearn.base import clone

    made = clone(method)
    if "columns" in made.get_params(deep=False):
        made.set_params(columns=None)  # the table holds no other columns
    return Shadowed(
        membership(made, table, shadows=shadows, seed=seed),
        one_row_difference(made, table, people=_PEOPLE, seed=seed),
    )
