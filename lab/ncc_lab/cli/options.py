"""Options that several of the lab's commands share."""

from pathlib import Path
from typing import Annotated

from ncc.verbs.types import Words

Seed = Annotated[int, Words(help="Random seed.")]
OneJson = Annotated[bool, Words(option=("--json",), help="Print the answer as JSON.")]
EmbeddingFolder = Annotated[Path, Words(metavar="FOLDER", help="Embedding to use; default: the shipped one.")]
DataFolder = Annotated[str, Words(metavar="FOLDER", help="Folder of the datasets; default: NCC_DATA, then the cache.")]
ProgramFolder = Annotated[
    Path, Words(metavar="[FOLDER]", help="Folder with a sub-folder of programs for each class; default: POJ-104.")
]
Levels = Annotated[str, Words(metavar="LEVELS", help="Optimization levels to compile programs at, such as '0,1,2'.")]
ProgramsCache = Annotated[
    Path, Words(metavar="FOLDER", help="Where to cache parsed programs; default: the user's cache.")
]
ResultFile = Annotated[Path, Words(metavar="FILE", option=("-o", "--output"), help="Also write the figures as JSON.")]
ReportFile = Annotated[Path, Words(metavar="FILE.html", help="Write a report with pictures.")]
Compilers = Annotated[int, Words(minimum=1, help="Files to compile in parallel.")]
Into = Annotated[Path, Words(metavar="FOLDER", help="Add the scores to the card of the model in this folder.")]
