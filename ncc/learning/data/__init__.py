"""Dataset registry: what the datasets are, where their files lie, and whether they are intact."""

from ncc.learning.data.archives import iter_members
from ncc.learning.data.cards import DatasetCard, DatasetFile
from ncc.learning.data.folders import cache_folder, data_folder
from ncc.learning.data.registry import DatasetStatus, FileState, FileStatus, Registry

__all__ = [
    "DatasetCard",
    "DatasetFile",
    "DatasetStatus",
    "FileState",
    "FileStatus",
    "Registry",
    "cache_folder",
    "data_folder",
    "dataset_names",
    "describe",
    "extracted",
    "fetch",
    "iter_members",
    "locate",
    "verify",
]

_REGISTRY = Registry()

dataset_names = _REGISTRY.dataset_names
describe = _REGISTRY.describe
extracted = _REGISTRY.extracted
fetch = _REGISTRY.fetch
locate = _REGISTRY.locate
verify = _REGISTRY.verify
