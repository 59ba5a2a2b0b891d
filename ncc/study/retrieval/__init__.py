"""Finding like code by vectors, measured: programs of the same class, and the same function compiled in another way."""
