"""The training loop, its checkpoints, and data-parallel runs under torchrun."""
