"""Everything that evaluates: protocols, controls, published methods, metrics, intervals, reports, scaling."""
