"""The lab's verbs, which the command finds by entry points: ``ncc evaluate`` and ``ncc bench``."""

from ncc.cli.main import VerbGroup

_EVALUATED = (*("embedding", "coverage", "devmap", "times", "gpu", "coarsening", "classify", "retrieval", "functions"),)

evaluate = VerbGroup(
    "evaluate",
    {name: f"ncc_lab.cli.evaluation:evaluate_{name}" for name in _EVALUATED},
    "Measure methods beside their controls.",
)
bench = VerbGroup("bench", {"scaling": "ncc_lab.cli.scaling:bench_scaling"}, "Time what ncc does.")
