"""What must always, eventually or sometimes hold in a cluster."""
