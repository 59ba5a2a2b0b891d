"""All that measures rather than answers: protocols, controls, peers, metrics, intervals, reports, scaling."""
