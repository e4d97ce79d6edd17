"""What happens on the machines: an instance boots, its kubelet registers a node and runs the pods bound to it."""
