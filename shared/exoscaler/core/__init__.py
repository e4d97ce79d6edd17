"""What to do and why: pure functions over frozen values, the time passed in."""
