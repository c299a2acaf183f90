"""The commands as a person types them, without a new interpreter for each: one of each kind is started for real."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from sfumato.cli import main
from sfumato.core.system import ending_signals


def typed(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `sfumato ARGUMENTS` in this process; return what `subprocess.run` would."""
    out, err = io.StringIO(), io.StringIO()

    def show(message: Any, category: type[Warning], file: str, line: int, *_more: Any) -> None:
        err.write(warnings.formatwarning(message, category, file, line))

    handlers = {number: signal.getsignal(number) for number in ending_signals()}
    code: Any = 0
    try:
        with (
            pytest.MonkeyPatch.context() as patch,
            warnings.catch_warnings(),
            contextlib.chdir(cwd or Path.cwd()),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.setattr(sys, "argv", ["sfumato", *arguments])
            warnings.resetwarnings()
            warnings.simplefilter("ignore", DeprecationWarning)
            patch.setattr(warnings, "showwarning", show)
            main()
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())
