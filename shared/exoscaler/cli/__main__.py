"""``python -m exoscaler.cli`` is ``exoscaler``."""

from exoscaler.cli import main

main()
