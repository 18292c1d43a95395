"""Reads manifests, cluster dumps and scenario files into the model's values."""
