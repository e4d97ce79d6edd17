"""Builds everything from the settings; the only module that knows all of them."""
