"""Downstream tasks: samples, splits that say what they leak, controls and metrics, run and scored in one frame."""
