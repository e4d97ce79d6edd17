"""Exoscale as a cloud: the provider ``exoscale``.

From the outside in:

``provider``    the factory behind ``--cloud-provider=exoscale``
``cloud``       the `Cloud` port: what exoscaler asks of a cloud, on the operations below
``discovery``   which node groups there are (with ``clusters``, ``lookups`` and ``attempts``)
``client``      one typed method per API operation
``conversion``  answers to the core's nouns; ``wire`` has the answers' shapes
``calls``       the operations as values: method, path, body
``http``        connections, time-outs, repeats; ``failures`` names what went wrong, ``signing`` signs
"""

from exoscaler.adapters.exoscale.client import ExoscaleClient
from exoscaler.adapters.exoscale.cloud import PROVIDER_ID_PREFIX, ExoscaleCloud
from exoscaler.adapters.exoscale.connection import connect
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import CallObserver, CloudConnection, TimeLeft

__all__ = ["PROVIDER_ID_PREFIX", "ExoscaleClient", "ExoscaleCloud", "provider"]


def provider(
    connection: CloudConnection, clock: Clock, on_call: CallObserver, time_left: TimeLeft | None = None
) -> ExoscaleCloud:
    """Exoscale behind the connection; see `exoscaler.ports.provider.Provider`.

    Raises:
        SettingsError: the connection cannot work as described.
    """
    return ExoscaleCloud(connect(connection, clock, on_call, time_left), clock, connection.cluster_id)
