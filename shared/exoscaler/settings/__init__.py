"""Flags, environment and file as one frozen model."""
