"""Thread coarsening measured: protocols, controls, scores, and the head that ships beside them."""
