"""The groups of an exchange, each by itself: smear, stand in, order, sweep into the regions, make different."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Flags, Floats, Integers
from sfumato.core.secret import Hidden
from sfumato.perturb.exchange.drawn_in import draw_in
from sfumato.perturb.exchange.order import order_groups
from sfumato.perturb.exchange.setting import Setting
from sfumato.perturb.exchange.small_rows import Met
from sfumato.perturb.exchange.smear import smear_columns
from sfumato.perturb.exchange.stand_ins import stand_in
from sfumato.perturb.exchange.swaps import Dice, Swaps
from sfumato.perturb.exchange.sweeps import Sweeps

_FEW_TIMES = 4  # groups below so many times `min_atom` may find no exchange that keeps them in their region
_TURNS = 4  # rounds of sweeps
_RARE = 16  # counter of the exchanges that take rare categories from their owners
_DIFFER = 3  # times that rows are looked at which hold what they had


@dataclass(frozen=True, repr=False)
class Released(Hidden):
    """What becomes of some rows.

    Attributes
    ----------
    rows : array of shape (d, n)
    outside : array of shape (n,)
        Which rows could not be kept in their regions.
    """

    rows: Floats
    outside: Flags


def release_groups(
    setting: Setting, met: Met, labels: NDArray[np.uint64], tile: Floats, groups: Integers, subkey: bytes
) -> Released:
    """Release whole groups of rows; nothing outside a group matters to it.

    Parameters
    ----------
    labels : array of shape (n,), uint64
        The names of the rows.
    tile : array of shape (d, n)
    groups : array of shape (n,)
        The group of each row; all rows of each group are here.
    """
    order = np.lexsort((labels, groups))
    here, at = met.find(labels[order])
    start = tile[:, order]
    start[:, here] = met.rows[:, at]
    done, outside = np.zeros(len(order), dtype=bool), np.zeros(len(order), dtype=bool)
    done[here], outside[here] = met.done[at], met.outside[at]
    open_rows = np.flatnonzero(~done)
    if len(open_rows):
        mine = order[open_rows]
        rows, lost = _exchanged(
            setting, met, labels[mine], tile[:, mine], start[:, open_rows], ~here[open_rows], groups[mine], subkey
        )
        start[:, open_rows], outside[open_rows] = rows, lost
    out, flags = np.empty_like(tile), np.empty(len(order), dtype=bool)
    out[:, order], flags[order] = start, outside
    return Released(out, flags)


def _exchanged(
    setting: Setting,
    met: Met,
    labels: NDArray[np.uint64],
    original: Floats,
    values: Floats,
    free: Flags,
    groups: Integers,
    subkey: bytes,
) -> tuple[Floats, Flags]:
    """Return what rows of groups hold in the end, and which are outside; rows come group by group."""
    _smear(setting, values, labels, groups, free, subkey)
    if not setting.exact:
        draw_in(setting, values, groups, Dice(subkey, labels))
        stand_in(setting, values, groups, Dice(subkey, labels))
    begins = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    out, lost = np.empty_like(values), np.empty(len(groups), dtype=bool)
    for begin, end in zip(begins, np.r_[begins[1:], len(groups)], strict=True):
        members = slice(int(begin), int(end))
        atom = int(setting.atom_of(groups[begin : begin + 1])[0])
        out[:, members], lost[members] = _exchanged_in_group(
            setting, met, Dice(subkey, labels[members]), original[:, members], values[:, members], atom
        )
    return out, lost


def _exchanged_in_group(
    setting: Setting, met: Met, dice: Dice, original: Floats, values: Floats, atom: int
) -> tuple[Floats, Flags]:
    """Return what the rows of one group hold in the end, and which are outside."""
    size = values.shape[1]
    swaps = setting.swaps_in(values, atom, met.centres)
    everyone = np.arange(size)
    order_groups(swaps, setting.space, [everyone], dice)
    sweeps = Sweeps(swaps, np.zeros(size, dtype=np.int64), np.full(size, size), everyone, dice)
    left = sweeps.run(everyone)
    for turn in range(1, _TURNS):  # few groups need another look
        if len(left):
            left = sweeps.run(everyone, turn)
    _make_different(setting, values, original, swaps, sweeps)
    lost = swaps.state(everyone)[1] > 0
    if setting.exact and size < _FEW_TIMES * setting.min_atom and lost.any():
        # exact centres come first for whoever asks for them: such rows are listed as disclosed
        return original, np.zeros(size, dtype=bool)
    return setting.taken(values, swaps), lost


def _smear(
    setting: Setting, values: Floats, labels: NDArray[np.uint64], groups: Integers, free: Flags, subkey: bytes
) -> None:
    """Smear the rows of each group that have not met others before, and are smeared already."""
    dice, pool = Dice(subkey, labels[free]), groups[free]
    part = values[:, free]
    smear_columns(setting, part, pool, dice)
    values[:, free] = part


def _make_different(setting: Setting, values: Floats, original: Floats, swaps: Swaps, sweeps: Sweeps) -> None:
    """Let no row keep all it had, nor a combination of categories and counts that is rare, nor a rare category."""
    rare = setting.rare(original, np.zeros(swaps.n, dtype=np.int64))
    for turn in range(_DIFFER):
        same = setting.same(values, swaps, original, setting.everything)
        sweeps.differ(same, setting.everything, 2 * turn)
        pointed = np.empty(0, dtype=np.int64)
        if len(setting.telling):
            pointed = np.intersect1d(rare, setting.same(values, swaps, original, setting.telling))
            sweeps.differ(pointed, setting.telling, 2 * turn + 1)
        if not len(same) and not len(pointed):
            break
    for unit, rows in setting.give_away(values, swaps, original):
        sweeps.differ(rows, np.array([unit]), _RARE + 2 * unit, at_any_price=not setting.exact)
