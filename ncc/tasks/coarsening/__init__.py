"""Thread coarsening: how many work-items of an OpenCL kernel should be merged into one, and what is gained by it?

Samples and protocols of Magni et al. (PACT 2014) and Cummins et al. (PACT 2017), a stricter protocol, controls, the
published methods and ours. Nothing is imported here, so that predicting need not load what only measuring does.
"""
