"""Results of runs made by hand, and the programs that they are of."""

from dataclasses import replace

import pytest

from lab.tests.rooms import PHASES, EpochEnd, Measured, PlannedRun, ProgramSource, RunResult, Setting, SweepConfig


@pytest.fixture(scope="session")
def source(classes, cache) -> ProgramSource:
    return ProgramSource.find(classes, cache=cache)


@pytest.fixture(scope="session")
def plain() -> Setting:
    """One process."""
    (setting,) = SweepConfig(world=(1,), epochs=2).settings()
    return setting


@pytest.fixture(scope="session")
def result():
    """Makes the result of a run: `steps_s` for steps and 10 s beside, 1 s a phase; None for one that failed."""

    def make(setting: Setting, steps_s: float | None, repeat: int = 0, **changes) -> RunResult:
        run = PlannedRun(setting=setting, repeat=repeat, seed=204 + repeat)
        if steps_s is None:
            return RunResult(run=run, wall_s=3.0, load=0.1, error="killed")
        measured = Measured(
            phases=dict.fromkeys(PHASES.keys() - {"ending_s"}, 1.0) | {"steps_s": steps_s},
            epochs=(EpochEnd(seconds=6.0, loss=1.0, accuracy=0.7), EpochEnd(seconds=12.0, loss=0.5, accuracy=0.9)),
            test_accuracy=0.8,
            num_weights=1000,
            num_training=60,
            num_validation=20,
            num_test=20,
            samples=120,
            steps=4,
            bytes_sent=(0,),
            hardware={"device": "a processor", "cores": 2},
            training={"smoothing": 0.1},
        )
        return RunResult(run=run, wall_s=steps_s + 10, load=0.1, measured=replace(measured, **changes))

    return make
