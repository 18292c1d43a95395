"""The control loops, one module each, named as Kubernetes names them."""
