"""Fuzzing of everything that ncc reads from strangers: `python -m fuzz` mutates real inputs and watches what happens.

A target takes bytes and may only return or raise an `NccError`. Anything else is a finding: another exception, a
warning, an answer that is not finite, too much memory, too much time, the death of the process. Inputs follow from the
seed, the target's name and a number alone, so that a run can be repeated with any number of processes.
"""
