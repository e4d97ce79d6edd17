"""exoscaler scales the worker nodes of Kubernetes clusters on Exoscale, as stateless, event-driven functions.

The layers, from the inside out (imports only ever point inwards, a linter holds it):

``core``      what to do and why: pure functions over frozen values, the time passed in
``ports``     what the core's decisions need of the outside world, as Protocols with a failure contract
``app``       one use case per function: load, decide, commit, act
``adapters``  the outside world: the Exoscale API, the Kubernetes API, CloudEvents, the clock
``settings``  flags, environment and file as one frozen model
``wiring``    builds everything from the settings
``sandbox``   a local cluster and a local Exoscale API over real HTTP
``cli``       the command line
"""

__version__ = "0.1.0"
