"""Published methods, run again in the same frame and on the same folds as everything else."""
