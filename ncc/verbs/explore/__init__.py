"""``ncc explore``: a code base to look at, as a page on this machine or as a folder of files."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated

from ncc.errors import InputError, OutputError
from ncc.ir.frontend.options import CompileOptions
from ncc.system.files.summaries import Summary
from ncc.system.files.writing import folder_lock
from ncc.verbs.types import Answer, Words, command

_MAX_PORT = 65_535
_PREFIX = "ncc-explore-"


@command(is_brief=True)
def explore_command(
    inputs: list[str],
    *,
    output: Annotated[Path, Words("FOLDER", option=("-o", "--output"))] | None = None,
    gpu: str | None = None,
    root: Annotated[Path, Words("FOLDER")] | None = None,
    port: Annotated[int, Words("N", minimum=0)] = 0,
    open: bool = True,
    jobs: int = 1,
    options: CompileOptions | None = None,
    progress: Callable[[str], None] | None = None,
) -> Answer:
    """Look at a code base: its functions, similar ones, and the work of each.

    Without -o, a page opens in the browser; it is served to this machine alone, until Ctrl-C.

    Example: ncc explore src --jobs 2

    Example: ncc explore code.index -o pages --gpu A100

    Args:
        inputs: Files, folders or globs; or one index, made by ncc index.
        output: Write the page and its data into a new folder instead; it needs no server.
        gpu: GPU whose roofline is drawn for kernels, such as A100.
        root: Show files below this folder even if they changed, or let them include its headers.
        port: Port of the page; default: any free one.
        open: Open the page in the browser.
    """
    from ncc.tasks.gpus.specs import find_spec
    from ncc.tasks.search.index import load_index
    from ncc.verbs.explore.facts import Explorer
    from ncc.verbs.explore.pages import check_new, export, serve
    from ncc.verbs.search import index

    card = None if gpu is None else find_spec(gpu)
    if port > _MAX_PORT:
        raise InputError(f"--port is {port}; expected at most {_MAX_PORT}")
    if output is not None:
        check_new(output)
    with ExitStack() as stack:
        if len(inputs) == 1 and (Path(inputs[0]) / "index.json").is_file():
            opened = load_index(inputs[0])
        else:
            _remove_leftovers()
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=os.name == "nt")
            )
            stack.enter_context(folder_lock(Path(folder)))  # as long as it is locked, it is in use
            opened = index(inputs, folder, options=options, jobs=jobs, progress=progress)
        below = None if root is None else str(root.resolve())
        explorer = Explorer(opened, inputs, options or CompileOptions(), card, below)
        reasons = opened.report.failures.values() if opened.report else ()
        if output is None:
            text: Iterable[Summary] = serve(explorer, port, stack.pop_all(), opens=open)
        else:
            text = [export(explorer, output, progress)]
    return Answer(text=text, failures=[reason.partition("\n")[0] for reason in reasons])


def _remove_leftovers() -> None:
    """Remove the indexes of runs that were killed; one that has just been made, and not yet locked, is empty."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError, OutputError):
            if (sys.platform == "win32" or folder.lstat().st_uid == os.getuid()) and any(folder.iterdir()):
                with folder_lock(folder, wait_s=0):
                    shutil.rmtree(folder)
