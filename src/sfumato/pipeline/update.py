"""Updates: a release that keeps the noise of every row that has not changed since an earlier one.

Whoever has both releases finds the same values for everybody who stayed the same, and so nothing to average or to
subtract. It takes persons (a record id) and a method that adds noise to each row by itself; then three things of the
earlier release are used again: its stream, what it had fitted (another scale of the same noise would tell the noise),
and what stood for missing cells.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._arrays import Floats
from sfumato.core.keys import Key, canonical_bytes
from sfumato.core.marks import Marker
from sfumato.core.secret import Hidden
from sfumato.exceptions import ParameterError
from sfumato.perturb.mechanism.keyed import KeyedMethod
from sfumato.pipeline.plan import Plan
from sfumato.receipts.body import ReceiptBody

_MOST_ROWS = 10_000_000  # whose marks a receipt holds, 8 bytes each
_INSTEAD = "hand out the update instead of the earlier release, or release the new people alone"


@dataclass(frozen=True, repr=False)
class Update(Hidden):
    """What an update takes from the releases before it.

    Attributes
    ----------
    table : bytes
        Fingerprint of the first table, which decides the stream.
    fitted : plain values
        The fitted state of its method.
    marks : array, uint64
        Marks of its rows, rising.
    chain : tuple of bytes
        Identities of all releases that share their noise.
    fills : array of shape (d,), optional
        What stood for missing cells.
    """

    table: bytes
    fitted: Any
    marks: NDArray[np.uint64]
    chain: tuple[bytes, ...]
    fills: Floats | None

    @classmethod
    def of(cls, body: ReceiptBody) -> Update:
        """Return what a receipt says for updates."""
        saved = body.update
        if not saved:
            raise ParameterError(
                "this receipt cannot be updated: it is not of a release of persons by noise for each row, is of more "
                "rows than a receipt knows, or was made before updates were known",
                hint=_INSTEAD,
            )
        marks = np.frombuffer(base64.b64decode(saved["marks"]), dtype="<u8").astype(np.uint64)
        chain = (*(bytes.fromhex(one) for one in saved["chain"]), bytes.fromhex(body.identity))
        fills = None if body.fills is None else np.array(body.fills)
        return cls(bytes.fromhex(saved["table"]), saved["fitted"], marks, chain, fills)

    def saved(self) -> dict[str, Any]:
        """Return what the receipt of the update says for the next one."""
        return saved_update(self.table, self.fitted, self.marks, self.chain)


def saved_update(table: bytes, fitted: Any, marks: NDArray[np.uint64], chain: tuple[bytes, ...]) -> dict[str, Any]:
    """Return what a receipt says for updates, as JSON values; nothing for tables of too many rows."""
    if len(marks) > _MOST_ROWS:
        return {}
    return {
        "table": table.hex(),
        "fitted": fitted,
        "marks": base64.b64encode(marks.astype("<u8").tobytes()).decode(),
        "chain": [one.hex() for one in chain],
    }


def can_be_updated(plan: Plan) -> bool:
    """Tell whether releases of a plan can be updated."""
    return plan.roles.record_id is not None and plan.keyed.noise_by_row


def check_update(plan: Plan, body: ReceiptBody) -> None:
    """Raise unless a plan updates the release of a receipt.

    Parameters
    ----------
    body : ReceiptBody
        Of the earlier release.
    """
    keyed = plan.keyed
    if not keyed.noise_by_row:
        raise ParameterError(
            f"{type(keyed.perturber).__name__} cannot release an update: {_why_not(keyed)}", hint=_INSTEAD
        )
    if plan.roles.record_id is None:
        raise ParameterError(
            "an update needs a column that names persons, by whom the noise of unchanged rows is found again",
            hint="record_id='customer_id' in the first release and in every update",
        )
    same: Mapping[str, tuple[Any, Any]] = {
        "name": (plan.policy.release.name, body.release),
        "method": (keyed.method, body.method),
        "parameters": (keyed.parameters, body.parameters),
        "record id": (plan.roles.record_id, body.record_id),
        "perturbed columns": (list(plan.roles.confidential), [column["name"] for column in body.columns]),
    }
    for what, (mine, theirs) in same.items():
        if canonical_bytes(mine) != canonical_bytes(theirs):
            raise ParameterError(
                f"an update has the same {what} as the earlier release, and here they differ: noise can be kept only "
                "where everything that decides it is the same",
                hint="use the policy of the earlier release",
            )


def with_decimals(plan: Plan, body: ReceiptBody) -> Plan:
    """Return a plan whose release has no more decimals than an earlier one: unchanged rows are to look the same."""
    rules = dict(plan.cells.rules)
    for column in body.columns:
        own, before = rules[column["name"]], column["decimals"]
        if before is not None and (own.decimals is None or own.decimals > before):
            rules[column["name"]] = replace(own, decimals=before)
    return replace(plan, cells=replace(plan.cells, rules=rules))


def marker_of(key: Key, plan: Plan) -> Marker:
    """Return what marks the rows of a release."""
    return Marker(key.derive("marks", plan.policy.release.name), plan.roles.confidential)


def _why_not(keyed: KeyedMethod) -> str:
    if keyed.invertible:
        return "it moves all rows by one map, and the same map for a changed row tells the change"
    if keyed.tier == "row" and not keyed.exchanges:
        return "its rows depend on what the whole table is like, and one new person changes those of others"
    return "its rows depend on one another, and one new person changes those of others"
