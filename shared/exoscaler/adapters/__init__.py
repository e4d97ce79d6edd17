"""The outside world: the Exoscale API, the Kubernetes API, CloudEvents, the clock."""
