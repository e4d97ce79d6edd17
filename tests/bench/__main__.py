"""All measurements, one after the other; ends with 0 when every count is as good as expected."""

from __future__ import annotations

import sys

from tests.bench import growth, packing

_MEASUREMENTS = (packing, growth)


def main() -> int:
    """Run every measurement, each under the first line of what it is about."""
    failed = 0
    for measurement in _MEASUREMENTS:
        title = (measurement.__doc__ or measurement.__name__).splitlines()[0]
        sys.stdout.write(f"\n{title}\n\n")
        failed |= measurement.main()
    return failed


if __name__ == "__main__":
    sys.exit(main())
