"""``python -m exoscaler.sandbox``: a local Exoscale, a local Kubernetes, or both."""

from __future__ import annotations

import sys

from exoscaler.sandbox.command_line import main

sys.exit(main(sys.argv[1:]))
