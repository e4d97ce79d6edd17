"""What holds for every test.

Property tests look at the same examples each time, so that a failure is a fact about the change and not about the day.
`make explore` looks at others, and more of them.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
