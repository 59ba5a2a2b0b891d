"""One command of ncc, a script, or a program after ``-c``, in a process group of its own; its output goes to a file.

For tests that kill it, or start several. Run by ``runpy`` with ``ARGUMENTS``, ``LOG``, ``ENVIRONMENT`` and
``FILE_BYTES`` (of a file, at most, or None) in a process that has imported what takes long.
"""

import os
import resource
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    os.setsid()
    os.environ.update(ENVIRONMENT)  # noqa: F821
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        os.dup2(os.open(Path(LOG), os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream.fileno())  # noqa: F821
    if FILE_BYTES is not None:  # noqa: F821
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, resource.RLIM_INFINITY))  # noqa: F821
    if ARGUMENTS[0] == "-c":  # noqa: F821
        sys.argv = ["-c", *ARGUMENTS[2:]]  # noqa: F821
        exec(ARGUMENTS[1], {"__name__": "__main__"})  # noqa: F821
    elif ARGUMENTS[0].endswith(".py"):  # noqa: F821
        sys.argv = ARGUMENTS  # noqa: F821
        runpy.run_path(ARGUMENTS[0], run_name="__main__")  # noqa: F821
    else:
        sys.argv = ["ncc", *ARGUMENTS]  # noqa: F821
        from ncc.cli.main import main

        main()
