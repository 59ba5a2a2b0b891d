"""The facts of every dataset that ncc can read: paper, licence, origin, files and checksums.

This is the bottom of `ncc.data`; the registry reads it, and `datasets/` says the same in prose.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from ncc.errors import DataError

__all__ = ["CARDS", "DatasetCard", "DatasetFile"]

_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, kw_only=True)
class DatasetFile:
    """One file of a dataset.

    Args:
        path: Where the file lies below the data folder, with forward slashes.
        sha256: Checksum of the content that the project's figures were measured on, 64 hex digits.
        size_bytes: Its size in bytes.
        exact: Whether only that content will do. False for an archive that users may have packed
            themselves: other content is then accepted, and reported as such by `verify`.

    Raises:
        DataError: The path leaves the data folder or the checksum is not a SHA-256.
    """

    path: str
    sha256: str
    size_bytes: int
    exact: bool = True

    def __post_init__(self) -> None:
        parts = PurePosixPath(self.path)
        if parts.is_absolute() or ".." in parts.parts or "\\" in self.path or not parts.name:
            raise DataError(f"dataset file {self.path!r}: expected a relative path without '..'")
        if not _SHA256.fullmatch(self.sha256):
            raise DataError(f"dataset file {self.path!r}: {self.sha256!r} is not a lower-case SHA-256")

    @property
    def name(self) -> str:
        """The file's name without its folder."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    """What a dataset is, where it comes from and what may be done with it.

    Args:
        name: The registry's name for it.
        title: One line that says what it holds.
        papers: Where it was published, oldest first.
        licence: Its terms, and what follows from them.
        source: The project that publishes it, and the folder inside.
        num_samples: How many samples it holds.
        sample: What one sample is.
        files: Its files.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    licence: str
    source: str
    num_samples: int
    sample: str
    files: tuple[DatasetFile, ...]


_UNLICENSED = "no licence granted by the authors: ask them; may not be passed on"

_DEVMAP = DatasetCard(
    name="devmap",
    title="OpenCL kernels with CPU and GPU runtimes on two platforms (heterogeneous device mapping)",
    papers=(
        (
            "Grewe, Wang, O'Boyle: Portable Mapping of Data Parallel Programs to OpenCL for "
            "Heterogeneous Systems, CGO 2013"
        ),
        "Cummins, Petoumenos, Wang, Leather: Synthesizing Benchmarks for Predictive Modeling, CGO 2017",
        "Cummins, Petoumenos, Wang, Leather: End-to-End Deep Learning of Optimization Heuristics, PACT 2017",
    ),
    licence=_UNLICENSED,
    source="https://github.com/ChrisCummins/paper-end2end-dl, folder data/case-study-a",
    num_samples=680,
    sample="one OpenCL kernel at one data size, measured on either platform",
    files=(
        DatasetFile(
            path="devmap/cgo17-amd.csv",
            sha256="0076271192aa9a0a7c21aa9a637e34cd4460f8e21e756215dd23ffb2ae62dc62",
            size_bytes=2147324,
        ),
        DatasetFile(
            path="devmap/cgo17-nvidia.csv",
            sha256="095c1ccef333e0a65e0e70b3ebde0aef851b61528ec46496a5d1687905abd099",
            size_bytes=2147529,
        ),
        DatasetFile(
            path="devmap/kernels.tar.bz2",
            sha256="af920876bdb0fe9222b5325c73df4cf125cd9a033e28edf39e41756f4a88526d",
            size_bytes=59784,
        ),
    ),
)

_LEGACY_IR = DatasetCard(
    name="legacy_ir",
    title="LLVM 5 IR (typed pointers) of the kernels of devmap and coarsening",
    papers=(
        (
            "VenkataKeerthy, Aggarwal, Jain, Desarkar, Upadrasta, Srikant: IR2Vec: LLVM IR Based Scalable "
            "Program Embeddings, ACM TACO 17(4), 2020"
        ),
    ),
    licence=f"derived from the kernels of devmap and coarsening, hence theirs: {_UNLICENSED}",
    source="https://github.com/IITH-Compilers/IR2Vec, folders experiments/*/data/kernels_ir",
    num_samples=686,
    sample="one .ll file: 669 for devmap, 17 for coarsening",
    files=(
        DatasetFile(
            path="legacy_ir/devmap-kernels-llvm5.tar.xz",
            sha256="31158a3cdecb3b32f63b0166155d0086d6af9630461898ce797f7d07cc5b73b0",
            size_bytes=348900,
        ),
        DatasetFile(
            path="legacy_ir/coarsening-kernels-llvm5.tar.xz",
            sha256="ec2e5ccd5719d3ce2252d346ca0d7e46deb09bb54d42aa8335ec74ac8e98b3ec",
            size_bytes=10000,
        ),
    ),
)

_COARSENING = DatasetCard(
    name="coarsening",
    title="OpenCL kernels with runtimes at up to six thread-coarsening factors on four GPUs",
    papers=(
        ("Magni, Dubach, O'Boyle: Automatic Optimization of Thread-Coarsening for Graphics Processors, PACT 2014"),
        "Cummins, Petoumenos, Wang, Leather: End-to-End Deep Learning of Optimization Heuristics, PACT 2017",
    ),
    licence=_UNLICENSED,
    source="https://github.com/ChrisCummins/paper-end2end-dl, folder data/case-study-b",
    num_samples=17,
    sample="one OpenCL kernel, with runtimes on four GPUs",
    files=(
        DatasetFile(
            path="coarsening/pact-2014-oracles.csv",
            sha256="34f3ed943494bee8a030c5f8877ebcaa3d39a679154307f841e8c54e113005c1",
            size_bytes=1170,
        ),
        DatasetFile(
            path="coarsening/pact-2014-runtimes.csv",
            sha256="a939931e48a98fab3bf2a76079e9233f16045be39b3046288a228de88329ecaf",
            size_bytes=222162,
        ),
    ),
)

_POJ104 = DatasetCard(
    name="poj104",
    title="Student programs in C and C++ for 104 problems of an online judge (algorithm classification)",
    papers=(
        (
            "Mou, Li, Zhang, Wang, Jin: Convolutional Neural Networks over Tree Structures for Programming "
            "Language Processing, AAAI 2016"
        ),
        (
            "Lu et al.: CodeXGLUE: A Machine Learning Benchmark Dataset for Code Understanding and "
            "Generation, NeurIPS Datasets and Benchmarks 2021"
        ),
    ),
    licence="C-UDA: computational use; pass on only under the same terms",
    source="https://github.com/microsoft/CodeXGLUE, folder Code-Code/Clone-detection-POJ-104",
    num_samples=46821,
    sample="one program of the subset with this checksum; the complete POJ-104 holds 52,000",
    files=(
        DatasetFile(
            path="poj104/poj104.tar.xz",
            sha256="aa37f9dbebd2c6dee237fa82ba9de79a5449f0860865ce2b2cdf3cc6752507af",
            size_bytes=5422580,
            # Nobody publishes POJ-104 in this layout, so users pack it themselves, complete or not.
            exact=False,
        ),
    ),
)

CARDS = (_DEVMAP, _LEGACY_IR, _COARSENING, _POJ104)
