"""Install sfumato in editable mode with all extras and groups of pyproject.toml: `dev`, `site`, and those named.

pip learnt `--group` only in version 25.1, and a fresh machine may have an older one.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

root = Path(__file__).resolve().parent.parent
groups = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", f"{root}[all]"]
wanted = [line for name in ("dev", "site", *sys.argv[1:]) for line in groups[name]]
sys.exit(subprocess.call([*command, *wanted]))
