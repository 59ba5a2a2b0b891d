"""Device mapping measured: protocols, controls, scores, and the head that ships beside them."""
