"""All methods at their defaults on the sample, one after the other, each told as soon as it is known.

On a table with texts, flags or dates most methods say why they do not take it.
"""

from __future__ import annotations

from typing import Any

from sfumato.core.keys import Key
from sfumato.exceptions import SfumatoError
from sfumato.perturb.catalogue import methods
from sfumato.studio.events import Stream, error_data
from sfumato.studio.preview import preview
from sfumato.studio.session import Dataset

COMPARE_CLUSTERS = 4


def compare(dataset: Dataset, key: Key, stream: Stream) -> None:
    """Preview every method and send its figures; one that refuses the table says why."""
    rows = [row for row in methods() if not row.wraps]
    prepared = dataset.prepared()
    for done, row in enumerate(rows):
        stream.send({"type": "trying", "method": row.id, "done": done, "of": len(rows)})
        inner = Stream(lambda _item: stream.check())  # its figures count here, not its pictures
        settings: dict[str, Any] = {"method": row.id, "parameters": {}, "extras": {}}
        try:
            dataset.require_method(settings)
            found = preview(prepared, settings, key, None, COMPARE_CLUSTERS, inner)
        except SfumatoError as error:
            stream.send({"type": "refused", "method": row.id, **error_data(error)})
        else:
            stream.send({"type": "compared", **(found or {})})
    stream.send({"type": "trying", "method": None, "done": len(rows), "of": len(rows)})
