"""Make sure that the studio's tests have their browser: Chromium from Debian's packages.

Installs it where that is possible without asking (root on a machine with apt), otherwise says how.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = ["chromium", "fonts-dejavu-core"]


def main() -> int:
    if shutil.which("chromium"):
        return 0
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(
            "The studio's tests drive a real Chromium, and there is none on the path.\n"
            f"Debian and Ubuntu: sudo apt-get install {' '.join(PACKAGES)}\n"
            "elsewhere: install Chromium so that `chromium` starts it",
            file=sys.stderr,
        )
        return 1
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True, env=quiet)
    install = ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", *PACKAGES]
    subprocess.run(install, check=True, env=quiet, stdout=subprocess.DEVNULL)
    return 0 if shutil.which("chromium") else 1


if __name__ == "__main__":
    sys.exit(main())
