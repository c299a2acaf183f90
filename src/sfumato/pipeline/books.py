"""What a release leaves besides its rows: key, receipt, report, a line in the owner's books. All of them, or none.

The books lie beside the keys: the history of the people who were released, and the ledger of differential privacy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sfumato.core.secret import Hidden
from sfumato.exceptions import RepeatedReleaseError, RepeatedReleaseWarning, SfumatoError
from sfumato.perturb.mechanism.checks import warn_caller
from sfumato.pipeline.budget import Claim, PrivacyLedger
from sfumato.pipeline.fit import Fit
from sfumato.pipeline.keys import ReleaseKey
from sfumato.pipeline.lookback import LookBack, notes_of, problems_of, warning_of
from sfumato.pipeline.plan import Plan
from sfumato.receipts.body import write_private


class Books(Hidden):
    """The history and the ledger of one owner, for one release.

    Parameters
    ----------
    lookback : LookBack, optional
        Is asked for earlier releases of the same people, and told of this one when it stands.
    """

    def __init__(self, plan: Plan, owner: ReleaseKey, lookback: LookBack | None) -> None:
        self._release, self._owner, self._lookback = plan.policy.release, owner, lookback
        self._claim = _claim(plan)
        self._written: list[Callable[[], None]] = []  # what takes the lines back again

    def afford(self) -> list[str]:
        """Refuse a private release that the policy's budget does not cover; return what to say of the budget."""
        if self._claim is None:
            return []
        return [PrivacyLedger(self._owner.folder).require(self._claim, self._release.budget).words]

    def look_back(self, fitted: Fit, noises: set[bytes]) -> list[str]:
        """Return which earlier releases hold the same people; warn, or refuse them if the policy says so.

        Parameters
        ----------
        noises : set of bytes
            Identities of releases with the same noise, which tell nothing new.
        """
        if self._lookback is None:
            return []
        past = self._lookback.past(fitted.people, fitted.known_as, noises)
        notes = self._repeated(problems_of(past.problems)) if past.problems else []
        said = warning_of(past)
        return notes if said is None else [*notes, *self._repeated(said), *notes_of(past)]

    def write(self, fitted: Fit, identity: bytes, name: str) -> list[str]:
        """Write a release into the books, and return what to say if the history cannot take it.

        Parameters
        ----------
        identity : bytes
            Of the release.
        name : str
            Of its receipt.
        """
        notes = self._write_history(fitted, identity, name)
        if self._claim is not None:
            ledger = PrivacyLedger(self._owner.folder)
            line = ledger.note(name, self._claim, self._release.budget)
            self._written.append(lambda: ledger.forget(line))
        return notes

    def take_back(self) -> None:
        """Take out again what was written."""
        for take_out in reversed(self._written):
            take_out()

    def _write_history(self, fitted: Fit, identity: bytes, name: str) -> list[str]:
        lookback, table = self._lookback, fitted.known_as
        if lookback is None:
            return []
        problem = "its key cannot be read"
        if table is not None:
            try:
                if lookback.note(table, identity, fitted.people, name):  # it did not know it yet
                    self._written.append(lambda: lookback.forget(table, identity))
            except (OSError, SfumatoError) as error:
                problem = getattr(error, "message", None) or str(getattr(error, "strerror", None))
            else:
                return []
        return self._repeated(f"the history does not know this release: {problem}")

    def _repeated(self, said: str) -> list[str]:
        if self._release.repeated == "error":
            raise RepeatedReleaseError(
                f"nothing was released: {said}", hint='repeated = "warn" in the policy releases it all the same'
            )
        warn_caller(said, RepeatedReleaseWarning)
        return [said]


def _claim(plan: Plan) -> Claim | None:
    """Return what a method with a formal guarantee promises."""
    keyed = plan.keyed
    if keyed.claim is None:
        return None
    public = getattr(keyed.perturber, "count", "private") == "public"
    return Claim(*keyed.claim, replaced=public, person=plan.roles.record_id is not None)


@contextmanager
def all_or_nothing(
    owner: ReleaseKey, books: Books, files: Mapping[Path, bytes], stands: Callable[[], bool]
) -> Iterator[None]:
    """Save the key and write files; if they or what is done inside fails, take all of it back, and the books' lines.

    Parameters
    ----------
    stands : callable
        Tells whether the release is in its place, however that ended: then what belongs to it stays.
    """
    earlier = {path: path.read_bytes() if path.exists() else None for path in files}
    try:
        owner.save()
        for path, content in files.items():
            write_private(path, content)
        yield
    except BaseException:
        if not stands():
            owner.forget()
            for path, before in earlier.items():
                _put_back(path, before)
            books.take_back()
        raise


def _put_back(path: Path, content: bytes | None) -> None:
    """Leave a file as it was: as it stood, or not at all."""
    with contextlib.suppress(OSError, SfumatoError):
        if content is None:
            path.unlink(missing_ok=True)
        elif path.read_bytes() != content:
            write_private(path, content)
