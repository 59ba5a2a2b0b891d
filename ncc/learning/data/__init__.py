"""Dataset registry: descriptions of the datasets, paths of their files, and checks of their content."""
