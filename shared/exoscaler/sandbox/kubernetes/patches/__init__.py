"""The patch formats of the API."""
