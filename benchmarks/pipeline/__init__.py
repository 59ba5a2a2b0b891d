"""A network in stages, one a rank: what pipeline parallelism is worth, see `benchmarks.pipeline.__main__`."""
