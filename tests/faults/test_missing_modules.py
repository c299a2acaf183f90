"""Systems without fcntl, modes and some signals: emulated, because none of them is at hand here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EMULATED = """
import os, sys, signal
import platformdirs, polars, sklearn  # of other people: they have their own ways on each system
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
for name in ("fchmod", "getuid", "geteuid", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "sysconf",
             "sched_getaffinity", "mkfifo", "fork"):
    if hasattr(os, name):
        delattr(os, name)
del signal.SIGHUP
import warnings
warnings.simplefilter("ignore")
import pathlib
import sfumato as sf
import sfumato.cli
from sfumato.core import system
assert system._fcntl is None and system.address_space() is None
assert system.memory() > 1 << 30 and system.processors() >= 1
assert system.ending_signals() == [signal.SIGINT, signal.SIGTERM]
folder = pathlib.Path(sys.argv[1])
rows = "".join(f"{i},{20 + i % 50},{i * 7 % 90}.5\\n" for i in range(99))
(folder / "in.csv").write_text("id,age,wage\\n" + rows)
for key in ("my.key", "my.key", "other.key"):
    sf.release(folder / "in.csv", folder / "out.csv", method="adp", identifier=["id"], key=folder / key, force=True)
print(sorted(path.name for path in folder.iterdir() if not path.name.endswith((".receipt", ".people"))))
"""


def test_a_release_works_without_what_windows_does_not_have(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EMULATED, str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == [
        ".history.lock", "history", "history.secret", "in.csv", "my.key", "other.key", "out.csv",
    ]  # fmt: skip
