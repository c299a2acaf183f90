"""What an audit, a comparison and a search have in common: one frozen object that is JSON and a page."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from sfumato.report.blocks import Page


class Frozen(BaseModel):
    """Data that nobody changes, and that JSON can hold."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


class Reported(Frozen, ABC):
    """A result with a versioned field `schema`, and a page of its own."""

    @abstractmethod
    def _page(self, command: str | None = None) -> Page:
        """Return the page, with what to type to repeat it."""

    def to_json(self) -> str:
        """Return the result as JSON, with a versioned `schema` field."""
        return self.model_dump_json(indent=2, by_alias=True) + "\n"

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of `to_json`."""
        return cls.model_json_schema(by_alias=True, mode="serialization")

    def to_html(self, path: str | os.PathLike[str] | None = None, *, command: str | None = None) -> str:
        """Return the result as one self-contained page without scripts; write it to a path if one is given.

        Parameters
        ----------
        path : path, optional
            Where to write it. None (default) writes nothing.
        command : str, optional
            What to type to repeat it. Default: the call in Python.
        """
        from sfumato.report.page import render_page, write_page

        page = self._page(command)
        return render_page(page) if path is None else write_page(page, path)

    def _repr_html_(self) -> str:
        from sfumato.report.page import render_fragment

        return render_fragment(self._page())

    def __str__(self) -> str:
        return repr(self)
