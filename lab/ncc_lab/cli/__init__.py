"""The lab's verbs, which the command finds by entry points: ``ncc evaluate`` and ``ncc bench``."""

from ncc.cli.main import VerbGroup

evaluate = VerbGroup(
    "evaluate",
    {
        name: f"ncc_lab.cli.evaluate_{name}:evaluate_{name}"
        for name in (
            *("embedding", "coverage", "devmap", "times", "gpu", "coarsening", "classify", "retrieval", "functions"),
        )
    },
    "Measure methods beside their controls.",
)
bench = VerbGroup("bench", {"scaling": "ncc_lab.cli.bench_scaling:bench_scaling"}, "Time what ncc does.")
