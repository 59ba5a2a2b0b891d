"""Labelled programs."""

from tests.fixtures.classification import cache, classes, samples  # noqa: F401
from tests.fixtures.heads import _one_thread, in_numpy, kernel_inputs, lstm_head, mapper_head  # noqa: F401
