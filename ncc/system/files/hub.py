"""Finds models by name, those that ship, folders and repositories on the Hugging Face hub, and publishes models there.

Every loader asks `resolve` for a folder, and reads that as a stranger's: a repository's files are no more trusted than
a folder's. Of a repository, two files are loaded, by the names that a model has, after a look at their sizes.
"""

import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from ncc.errors import AssetError, OutputError, naming_extras
from ncc.system.files.text import escape_control
from ncc.system.files.writing import write_atomically
from ncc.system.sandbox.limits import refuse_size

ASSETS = Path(__file__).parents[2] / "assets"
"""Folder of the models that ship: of each kind a default, and others below it by name."""
DEFAULT = "shipped"
_PAGE = "README.md"
_ANSWER_S = 3.0
"""Time for a connection to the hub, and for an answer; an encoder is looked for twice, under either of its names."""
_NAME = re.compile(r"\w{1,40}", re.ASCII)
_REPOSITORY = re.compile(
    r"(?P<repository>(?P<owner>[\w.-]{1,96})/[\w.-]{1,96})(?:@(?P<revision>[\w./-]{1,96}))?", re.ASCII
)


def resolve(name: str | os.PathLike[str] | None, kind: str, *stems: str) -> Path:
    """Return the folder of a model: its files are STEM.json and STEM.safetensors, of one of the stems.

    Text names a model of that kind that ships, such as "lstm", else a folder, else a repository on the hub. A name in
    a folder that exists is a path, unless it has a revision; None is the default that ships.
    """
    if name is None or name == DEFAULT:
        return ASSETS / kind
    if isinstance(name, str):
        if _NAME.fullmatch(name) and (ASSETS / kind / name).is_dir():
            return ASSETS / kind / name
        on_hub = _REPOSITORY.fullmatch(name)
        if on_hub and not Path(name).exists() and (on_hub["revision"] or not Path(on_hub["owner"]).exists()):
            return _fetch(name, on_hub["repository"], on_hub["revision"], stems)
    return Path(name)


def _fetch(name: str, repository: str, revision: str | None, stems: Sequence[str]) -> Path:
    """Return the folder in the hub's cache that has a repository's model, after a look for a newer one."""
    with naming_extras(f"{name}: no such folder; to look for it on the Hugging Face hub, "):
        from huggingface_hub import errors
    failure: Exception | None = None
    for stem in stems:
        try:
            commit = revision
            for file in (f"{stem}.json", f"{stem}.safetensors"):
                path = _fetch_file(repository, file, commit)
                commit = path.parent.name  # not mixed with what its author adds meanwhile
            return path.parent
        except errors.EntryNotFoundError as error:
            failure = error
        except Exception as error:  # of several HTTP clients, depending on the hub's version
            failure = error
            break
    files = " or ".join(f"{stem}.json and {stem}.safetensors" for stem in stems)
    match failure:
        case errors.LocalEntryNotFoundError():
            problem = "is neither a folder nor in the hub's cache, and the hub is out of reach or HF_HUB_OFFLINE is set"
        case errors.EntryNotFoundError():
            problem = f"has no {files}; no other files are read, least of all pickles"
        case errors.RepositoryNotFoundError() | errors.RevisionNotFoundError():
            problem = "neither a folder nor a repository or revision on the hub; `hf auth login` to see private ones"
        case _:
            problem = f"can't be loaded from the hub: {failure}"
    raise AssetError(f"{name}: {problem}") from failure


def _fetch_file(repository: str, file: str, revision: str | None) -> Path:
    """Return a file in the hub's cache; the library itself would retry for half a minute."""
    from huggingface_hub import errors, get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache

    cached = try_to_load_from_cache(repository, file, revision=revision)
    kept = Path(cached) if isinstance(cached, str) else None
    if kept and kept.parent.name == revision:  # a commit, which does not change
        return kept
    try:
        found = get_hf_file_metadata(hf_hub_url(repository, file, revision=revision), timeout=_ANSWER_S)
    except (errors.RevisionNotFoundError, errors.EntryNotFoundError):
        raise
    except Exception as error:  # of several HTTP clients, depending on the hub's version
        if kept:
            return kept
        if isinstance(error, errors.HfHubHTTPError):
            raise
        raise errors.LocalEntryNotFoundError(str(error)) from error
    if found.size is None:
        raise AssetError(f"{file} is of unknown size")
    refuse_size(file, found.size)
    return Path(hf_hub_download(repository, file, revision=revision))


class Shareable(ABC):
    """Writes a model, alone or with a page about it, and publishes both."""

    _noun: ClassVar[str]  # of the public function load_NOUN
    card: dict[str, Any]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the model: its tensors in safetensors, everything else in JSON.

        Args:
            folder: Output folder for ``head.safetensors`` and ``head.json``; an embedding's files and an encoder's are
                called ``embedding``, ``encoder`` or, of an LSTM, ``lstm``.

        Raises:
            OutputError: The folder can't be written.
        """
        self._save(Path(folder))

    @abstractmethod
    def _save(self, folder: Path) -> None: ...

    def save_pretrained(self, folder: str | os.PathLike[str]) -> None:
        """Write the model, and README.md, a page made of its card, unless the folder has one.

        Args:
            folder: Output folder.

        Raises:
            OutputError: The folder can't be written.
        """
        self._write(Path(folder), "FOLDER")

    def push_to_hub(self, repository: str, *, private: bool = False) -> str:
        """Publish the model on the Hugging Face hub, whose name can then be passed instead of a folder.

        Args:
            repository: Name, such as "org/name". The repository is made if there is none; it keeps its README.md.
            private: Make a new repository private.

        Returns:
            Address of the commit.

        Raises:
            MissingExtraError: The extra ``hub`` is not installed.
            OutputError: The hub is out of reach, or refuses; `hf auth login` says who you are.
        """
        with naming_extras():
            from huggingface_hub import HfApi
        with TemporaryDirectory() as folder:
            self._write(Path(folder), repository)
            try:
                api = HfApi(library_name="ncc")
                api.create_repo(repository, private=private, exist_ok=True)
                kept = [_PAGE] if api.file_exists(repository, _PAGE) else []
                commit = api.upload_folder(
                    repo_id=repository, folder_path=folder, ignore_patterns=kept, commit_message=f"{self!r}"
                )
            except Exception as error:  # of several HTTP clients, depending on the hub's version
                raise OutputError(f"{repository}: can't be published: {error}; `hf auth login`?") from error
        return commit.commit_url

    def _write(self, folder: Path, name: str) -> None:
        self.save(folder)
        if (folder / _PAGE).exists():
            return
        card = json.dumps(self.card, indent=1)  # its newlines are escaped, so that nothing in it ends the block
        page = f"""---
library_name: ncc
tags: [llvm-ir, ncc-ir]
---

# {escape_control(repr(self), lines=False)}

A model of ncc (`pip install ncc-ir`), in safetensors and JSON:

```python
import ncc

model = ncc.load_{self._noun}({json.dumps(name)})
```

How it was made, and its scores:

```json
{card}
```
"""
        write_atomically(folder / _PAGE, page.encode())
