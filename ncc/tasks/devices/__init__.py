"""Whether CPU or GPU runs a kernel faster, and by how much; code that fits is imported from its modules alone."""
