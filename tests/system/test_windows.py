"""On Windows ncc uses no module and no function that POSIX alone has; docs/releasing.md says how it is tried there."""

import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).parents[1] / "data" / "ir" / "tree.clang22.ll"
ANSWER = """
import os, signal, sys
from types import ModuleType

def answer():
    import ncc
    for name in ncc.__all__:
        getattr(ncc, name)
    from ncc.cli.main import VERBS
    from ncc.verbs.types import load_command
    for place in VERBS.values():
        load_command(place)
    return ncc.embed(sys.argv[1]).vector.tolist()

before = answer()  # imports what is not ncc's, too
for name in [name for name in sys.modules if name.partition(".")[0] == "ncc"]:
    del sys.modules[name]
sys.platform, os.O_BINARY = "win32", 0
sys.modules |= dict.fromkeys(("fcntl", "pwd", "resource", "select"))
sys.modules |= {name: ModuleType(name) for name in ("_winapi", "msvcrt")}
names = "getuid killpg O_NONBLOCK O_DIRECTORY O_NOFOLLOW pidfd_open pread register_at_fork set_blocking sysconf"
for name in names.split():
    delattr(os, name)
for name in "alarm pthread_sigmask SIGXFSZ".split():
    delattr(signal, name)
assert answer() == before
"""


def test_answers_need_nothing_that_windows_lacks():
    command = [sys.executable, "-c", ANSWER, str(TREE)]
    finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
