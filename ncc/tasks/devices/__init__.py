"""Whether CPU or GPU runs a kernel faster, and by how much; this package does not import the code for training."""
