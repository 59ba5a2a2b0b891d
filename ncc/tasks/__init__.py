"""Downstream tasks: samples, splits that say what they leak, controls and metrics."""
