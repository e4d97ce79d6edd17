"""The demo: a sandbox and the five functions as real processes, a workload that comes and goes, and what follows.

``stage``      starts and supervises the processes
``events``     sends them ticks and the cluster's events as real CloudEvents
``workload``   what is applied to the cluster, and what is read back
``story``      the steps that must really happen, each with a deadline
``recording``  what was measured while they happened
``view``       the terminal
``report``     the HTML report
"""

from exoscaler.cli.demo.run import run_demo

__all__ = ["run_demo"]
