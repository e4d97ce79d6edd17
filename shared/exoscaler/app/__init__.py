"""One use case per function: load, decide with the core, commit, act through the ports."""
