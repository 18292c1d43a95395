"""What a cluster is and every way it can move: pure values and pure functions, nothing else."""
