"""Evaluation protocols of thread coarsening as index splits, and what each leaks to the test rows."""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from ncc.arrays import Split
from ncc.errors import InputError
from ncc.tasks.coarsening.samples import CoarseningSamples, CoarseningUnit
from ncc_lab.leakage import LeakageReport, audit

INDEPENDENT_UNITS: dict[str, CoarseningUnit] = {
    "kernel": "kernel",
    "source": "source",
    "pair": "kernel",
    "device": "kernel",
}
"""Protocol → what may count as independent when an interval is put on its result; never pairs of a kernel and a device,
as a kernel's are alike."""
PROTOCOLS = tuple(INDEPENDENT_UNITS)


def splits(samples: CoarseningSamples, protocol: str) -> tuple[Split, ...]:
    """Split samples into training and test rows, every row being tested exactly once.

    - `kernel`, the headline: leaves out one kernel after the other, with all its devices.
    - `source`: the same, but kernels of one text together. The published tables have one pair of them, mt and mtLocal.
    - `pair`: leaves out one pair of kernel and device, so that the same kernel on the other devices is in training:
      IR2Vec's protocol. A vector that merely recognises the kernel does well.
    - `device`: leaves out one kernel, on one device, with that device's rows alone for training: Magni et al.'s,
      DeepTune's and inst2vec's protocol, a model for each device.

    Returns:
        Row indices of training and test rows, fold by fold, each (m,) int64, ascending.

    Raises:
        InputError: The protocol is unknown, or a fold would have nothing to train on.

    Reference:
        Magni et al., PACT 2014, section 6; Cummins et al., PACT 2017, case study B; Ben-Nun et al., NeurIPS 2018,
        section 6.3 (`device`). VenkataKeerthy et al., IR2Vec, TACO 2020, section 6 (`pair`).
    """
    rows = np.arange(len(samples))
    if protocol in ("kernel", "source"):
        names = samples.groups(INDEPENDENT_UNITS[protocol])
        folds = [(rows[names != name], rows[names == name]) for name in dict.fromkeys(names.tolist())]
    elif protocol == "pair":
        folds = [(np.delete(rows, row), rows[row : row + 1]) for row in rows]
    elif protocol == "device":
        same = samples.device[:, None] == samples.device[None, :]
        np.fill_diagonal(same, False)
        folds = [(rows[same[row]], rows[row : row + 1]) for row in rows]
    else:
        raise InputError(f"no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")
    if not folds or any(len(train) == 0 for train, _ in folds):
        raise InputError(f"protocol {protocol!r}: a fold has no training rows; expected two {protocol}s or more")
    return tuple(folds)


def audit_leakage(samples: CoarseningSamples, protocol: str, ir: Mapping[str, bytes] | None = None) -> LeakageReport:
    """Count the test rows that share something telling with a training row of their fold.

    Args:
        samples: The samples.
        protocol: One of `PROTOCOLS`.
        ir: Name of the kernel → its IR (see `load_kernel_ir`).

    Raises:
        InputError: As for `splits`.
    """
    columns: dict[str, Iterable[Hashable] | None] = {"kernel": samples.kernel, "source": samples.groups("source")}
    if ir is not None:
        columns["ir"] = (ir[str(name)] for name in samples.kernel)
    return audit(protocol, splits(samples, protocol), columns)
