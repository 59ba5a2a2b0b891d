"""Dataset registry: what the datasets are, where their files lie, and whether they are intact."""
