"""Which cloud and cluster, how to log, what to report."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from exoscaler.logs import LogFormat, LogLevel
from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.identifiers import Namespace, ObjectName
from exoscaler.settings.kinds import Flagged, Format, Level, PositiveDuration, Text

_NO_STATUS = "the status ConfigMap is not written; the status function shows the same and more"


class ProcessFields(Section):
    """The process and its surroundings."""

    section: ClassVar[str] = "Process and cluster"

    config: Annotated[Text, About("", "Path of a YAML file with settings. Its keys are flag names.")] = ""
    cloud_provider: Annotated[Text, About("F9", "Which cloud to talk to. Providers register by entry point.")] = (
        "exoscale"
    )
    namespace: Annotated[
        Namespace, About("F7", "Namespace of the state and status ConfigMaps: the one exoscaler runs in.")
    ] = "kube-system"
    kubeconfig: Annotated[
        Text, About("F10", "Path of a kubeconfig file. Without it, the service account of the pod is used.")
    ] = ""
    log_level: Annotated[Level, About("", "How much to log.")] = LogLevel.INFO
    log_format: Annotated[Format, About("", "JSON lines for machines, or text for people.")] = LogFormat.JSON


class StatusFields(Section):
    """What exoscaler tells of itself."""

    section: ClassVar[str] = "Status, health and metrics"

    write_status_configmap: Annotated[
        Flagged,
        About("F110", "Write the status ConfigMap.", not_yet=_NO_STATUS),
    ] = True
    status_config_map_name: Annotated[
        ObjectName, About("F111", "Name of the status ConfigMap.", not_yet=_NO_STATUS)
    ] = "cluster-autoscaler-status"
    emit_per_nodegroup_metrics: Annotated[
        Flagged,
        About("F112", "Add metrics with one series for each node group.", not_yet="these metrics are always there"),
    ] = False
    max_inactivity: Annotated[
        PositiveDuration,
        About("F3", "`/readyz` of the status function fails when the last evaluation began longer ago."),
    ] = timedelta(minutes=10)
    max_failing_time: Annotated[
        PositiveDuration,
        About("F4", "Likewise; the smaller of the two counts, for an evaluation that fails leaves no trace."),
    ] = timedelta(minutes=15)
    max_startup_time: Annotated[
        PositiveDuration,
        About(
            "F5",
            "Replaces both limits until an evaluation has succeeded.",
            not_yet="until the first evaluation the status function is not ready",
        ),
    ] = timedelta(minutes=20)
