"""Upstream flags that exoscaler knows, checks and then does nothing with, each with the reason."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.settings.flag import Flag, Status, variable_of
from exoscaler.settings.kinds import BOOL, DURATION, FLOAT, GATES, INT, TEXT, Kind

_Row = tuple[str, str, Kind, str, str]
"""Name, rule, kind, upstream default, what it does upstream."""

_LOCK = "the state ConfigMap is the lock"
_CRON = "functions are woken by a cron source and by events, see --evaluation-period and --min-evaluation-interval"
_BUDGET = "the whole invocation has one time limit, --invocation-budget"
_LOGS = "logs go to standard error, see --log-level and --log-format"
_SERVER = "the functions' server listens where PORT says; metrics and health are the status function's"
_CALLS = "an invocation makes few calls, and none is held back"
_TEMPLATES = "what a new node looks like is made anew in every evaluation, from the group and its healthy nodes"
_SOFT_TAINTS = "nodes are not marked before they are removed; timers of unneeded nodes are kept in the state ConfigMap"
_NO_EFFECT_UPSTREAM = "the upstream autoscaler does not use it either"
_MINIMUM = "Exoscale has no forced removal, and the minimum of a group always holds"
_PROVISIONING = "ProvisioningRequests are not served"
_BUFFERS = "CapacityBuffers are not served"
_METRICS = "this metric does not exist here"
_OTHER_CLOUD = "it is about another cloud"
_ONE_STEP = "an evaluation orders once; the next one follows as soon as an event or tick comes"
_SPEED = "it changes how fast upstream decides, not what"
_DEGRADATION = "an evaluation that runs out of time leaves the rest to the next"
_EXTERNAL = "there is no grpc expander"

_GROUPS: tuple[tuple[str, str, tuple[_Row, ...]], ...] = (
    (
        "Process and cluster",
        _CRON,
        (
            ("scan-interval", "F1", DURATION, "10s", "Time between two loops."),
            ("frequent-loops-enabled", "F2", BOOL, "true", "Begin the next loop at once when there is work."),
        ),
    ),
    (
        "Process and cluster",
        _LOCK,
        (
            ("leader-elect", "F14", BOOL, "true", "Elect a leader."),
            ("leader-elect-lease-duration", "F14", DURATION, "15s", "Leader election."),
            ("leader-elect-renew-deadline", "F14", DURATION, "10s", "Leader election."),
            ("leader-elect-retry-period", "F14", DURATION, "2s", "Leader election."),
            ("leader-elect-resource-lock", "F14", TEXT, "leases", "Leader election."),
            ("leader-elect-resource-name", "F14", TEXT, "cluster-autoscaler", "Leader election."),
            ("leader-elect-resource-namespace", "F14", TEXT, "", "Leader election."),
        ),
    ),
    (
        "Process and cluster",
        _CALLS,
        (
            ("kube-client-qps", "F11", FLOAT, "5", "Requests a second to the Kubernetes API."),
            ("kube-client-burst", "F11", INT, "10", "Requests at once to the Kubernetes API."),
        ),
    ),
    (
        "Process and cluster",
        "lists are read as JSON",
        (("kube-api-content-type", "F11", TEXT, "application/vnd.kubernetes.protobuf", "How lists are encoded."),),
    ),
    ("Process and cluster", _SERVER, (("address", "F6", TEXT, ":8085", "Where metrics and health are served."),)),
    (
        "Process and cluster",
        "nothing depends on it, here or upstream",
        (
            ("cluster-name", "F8", TEXT, "", "Name of the cluster."),
            ("regional", "F13", BOOL, "false", "Whether the cluster is regional."),
        ),
    ),
    (
        "Process and cluster",
        "the Exoscale provider reads EXOSCALE_* variables and no file",
        (("cloud-config", "F9", TEXT, "", "Path of the provider's own file."),),
    ),
    (
        "Process and cluster",
        "requests to the cloud name exoscaler and its version",
        (("user-agent", "F12", TEXT, "cluster-autoscaler", "User agent of requests to the cloud."),),
    ),
    (
        "Process and cluster",
        "an event that repeats is always counted on one Event object",
        (("record-duplicated-events", "F15", BOOL, "false", "Write repeated events again."),),
    ),
    (
        "Process and cluster",
        "feature gates switch parts of Kubernetes' Go libraries, which are not used here",
        (("feature-gates", "F17", GATES, "", "Feature gates of Kubernetes."),),
    ),
    (
        "Process and cluster",
        "these debugging endpoints do not exist here",
        (
            ("debugging-snapshot-enabled", "F99", BOOL, "false", "Serve a snapshot of the loop."),
            ("profiling", "F100", BOOL, "false", "Serve Go profiles."),
        ),
    ),
    (
        "Logs of the Go libraries",
        _LOGS,
        (
            ("vmodule", "F16", TEXT, "", "Verbosity for single files."),
            ("scheduler-verbosity", "F59", INT, "0", "Verbosity of the simulated scheduler."),
            ("logtostderr", "F16", BOOL, "true", "Log to standard error."),
            ("alsologtostderr", "F16", BOOL, "false", "Log to standard error too."),
            ("stderrthreshold", "F16", TEXT, "info", "Least severity on standard error."),
            ("log-dir", "F16", TEXT, "", "Folder of log files."),
            ("log-file", "F16", TEXT, "", "Log file."),
            ("log-file-max-size", "F16", INT, "1800", "Size of a log file."),
            ("log-flush-frequency", "F16", DURATION, "5s", "How often logs are flushed."),
            ("log-backtrace-at", "F16", TEXT, "", "Log a trace at one line of the source."),
            ("log-json-info-buffer-size", "F16", TEXT, "0", "Buffer of JSON logs."),
            ("log-json-split-stream", "F16", BOOL, "false", "Errors to standard error, the rest to standard output."),
            ("log-text-info-buffer-size", "F16", TEXT, "0", "Buffer of text logs."),
            ("log-text-split-stream", "F16", BOOL, "false", "Errors to standard error, the rest to standard output."),
            ("add-dir-header", "F16", BOOL, "false", "Folder in the header of a log line."),
            ("one-output", "F16", BOOL, "false", "Each line to one log only."),
            ("skip-headers", "F16", BOOL, "false", "No headers in log lines."),
            ("skip-log-headers", "F16", BOOL, "false", "No headers in log files."),
        ),
    ),
    (
        "Node groups",
        "node groups are neither created nor deleted",
        (("async-node-groups", "F22", BOOL, "false", "Create node groups in the background."),),
    ),
    (
        "Node groups",
        _TEMPLATES,
        (
            ("node-info-cache-expire-time", "F23", DURATION, "87600h", "How long a sample node is remembered."),
            ("scale-from-unschedulable", "F24", BOOL, "false", "Take the cordon off sample nodes."),
        ),
    ),
    (
        "Pending pods",
        _DEGRADATION,
        (
            ("pending-pods-batching-timeout", "F35", DURATION, "4m", "Time limit of packing pending pods."),
            ("enable-graceful-degradation", "F36", BOOL, "false", "Skip scale-down when packing takes too long."),
        ),
    ),
    (
        "Scale-up",
        _BUDGET,
        (
            ("max-nodegroup-binpacking-duration", "F44", DURATION, "10s", "Time limit of packing one group."),
            ("max-binpacking-time", "F45", DURATION, "5m", "Time limit of packing all groups."),
        ),
    ),
    (
        "Scale-up",
        _EXTERNAL,
        (
            ("grpc-expander-url", "F42", TEXT, "", "Address of an external expander."),
            ("grpc-expander-cert", "F42", TEXT, "", "Certificate of an external expander."),
        ),
    ),
    (
        "Scale-up",
        _SPEED,
        (
            ("fastpath-binpacking-enabled", "F46", BOOL, "false", "Pack equal pods by arithmetic."),
            ("predicate-parallelism", "F57", INT, "4", "Nodes tried at once."),
            ("cluster-snapshot-parallelism", "F120", INT, "16", "Deprecated upstream."),
        ),
    ),
    (
        "Scale-up",
        "every group is carried out as an operation of its own",
        (("parallel-scale-up", "F47", BOOL, "false", "Grow several groups at once."),),
    ),
    (
        "Scale-up",
        _ONE_STEP,
        (
            ("salvo-scale-up", "F48", BOOL, "false", "Scale up several times in one loop."),
            ("salvo-scale-up-budget", "F49", DURATION, "1m", "Time limit of that."),
        ),
    ),
    (
        "Scale-up",
        "every group that was passed over is named with its reason",
        (
            (
                "scaleup-simulation-for-skipped-node-groups-enabled",
                "F56",
                BOOL,
                "false",
                "Finer reasons why a pod was not helped.",
            ),
        ),
    ),
    (
        "Node start-up and health",
        _MINIMUM,
        (
            ("force-delete-unregistered-nodes", "F67", BOOL, "false", "Remove them below the minimum too."),
            ("force-delete-failed-nodes", "F68", BOOL, "false", "Remove failed instances by force."),
        ),
    ),
    (
        "Scale-down: which nodes may go",
        _BUDGET,
        (("scale-down-simulation-timeout", "F84", DURATION, "30s", "Time limit of simulating removals."),),
    ),
    (
        "Scale-down: which nodes may go",
        _NO_EFFECT_UPSTREAM,
        (
            ("scale-down-non-empty-candidates-count", "F81", INT, "30", "Candidates with pods."),
            ("scale-down-candidates-pool-ratio", "F82", FLOAT, "0.1", "Share of further candidates."),
            ("scale-down-candidates-pool-min-count", "F83", INT, "50", "Least number of further candidates."),
        ),
    ),
    (
        "Scale-down: how nodes go",
        _SOFT_TAINTS,
        (
            ("max-bulk-soft-taint-count", "F93", INT, "10", "Nodes marked in one loop."),
            ("max-bulk-soft-taint-time", "F94", DURATION, "3s", "Time limit of marking."),
            ("node-deletion-candidate-ttl", "F95", DURATION, "0s", "Take timers from marks after a restart."),
        ),
    ),
    (
        "Scale-down: how nodes go",
        "the wait after the taint is --node-delete-delay-after-taint, and the node is looked at again after it",
        (("dynamic-node-delete-delay-after-taint-enabled", "F102", BOOL, "false", "Measure that wait."),),
    ),
    (
        "Scale-down: how nodes go",
        "drained nodes of one pool always go in one request",
        (("node-deletion-batcher-interval", "F109", DURATION, "0s", "Gather nodes for one request."),),
    ),
    (
        "Status, health and metrics",
        _METRICS,
        (
            ("node-removal-latency-tracking-enabled", "F113", BOOL, "false", "A metric."),
            ("max-node-skip-eval-time-tracker-enabled", "F114", BOOL, "false", "A metric."),
        ),
    ),
    (
        "Optional parts of upstream",
        _PROVISIONING,
        (
            ("enable-provisioning-requests", "F115", BOOL, "false", "Serve ProvisioningRequests."),
            ("provisioning-request-initial-backoff-time", "F115", DURATION, "1m", "ProvisioningRequests."),
            ("provisioning-request-max-backoff-time", "F115", DURATION, "10m", "ProvisioningRequests."),
            ("provisioning-request-max-backoff-cache-size", "F115", INT, "1000", "ProvisioningRequests."),
            ("check-capacity-batch-processing", "F115", BOOL, "false", "ProvisioningRequests."),
            ("check-capacity-provisioning-request-max-batch-size", "F115", INT, "10", "ProvisioningRequests."),
            ("check-capacity-provisioning-request-batch-timebox", "F115", DURATION, "10s", "ProvisioningRequests."),
            ("check-capacity-processor-instance", "F115", TEXT, "", "ProvisioningRequests."),
        ),
    ),
    (
        "Optional parts of upstream",
        "nodes are planned for pods that exist",
        (
            ("enable-proactive-scaleup", "F116", BOOL, "false", "Plan for pods that controllers will make."),
            ("pod-injection-limit", "F116", INT, "5000", "Most such pods."),
        ),
    ),
    (
        "Optional parts of upstream",
        _BUFFERS,
        (
            ("capacity-buffer-controller-enabled", "F117", BOOL, "false", "CapacityBuffers."),
            ("capacity-buffer-pod-injection-enabled", "F117", BOOL, "false", "CapacityBuffers."),
            ("capacity-buffer-pod-dry-run-enabled", "F117", BOOL, "true", "CapacityBuffers."),
        ),
    ),
    (
        "Optional parts of upstream",
        "volume limits of nodes are a matter of scheduling rules, not of a switch",
        (("enable-csi-node-aware-scheduling", "F97", BOOL, "false", "Count volumes by CSINode objects."),),
    ),
    (
        "Other clouds",
        _OTHER_CLOUD,
        (
            ("aws-use-static-instance-list", "F118", BOOL, "false", "AWS."),
            ("gce-concurrent-refreshes", "F118", INT, "1", "GCE."),
            ("gce-mig-instances-min-refresh-wait-time", "F118", DURATION, "5s", "GCE."),
            ("bulk-mig-instances-listing-enabled", "F118", BOOL, "false", "GCE."),
            ("clusterapi-cloud-config-authoritative", "F118", BOOL, "false", "Cluster API."),
        ),
    ),
)


def flags_without_effect() -> Iterable[Flag]:
    """All of them, in the order of the reference page."""
    for group, why, rows in _GROUPS:
        for name, rule, kind, default, meaning in rows:
            yield Flag(
                name=name,
                group=group,
                rule=rule,
                kind=kind,
                default=default,
                meaning=meaning,
                status=Status.ACCEPTED,
                why=why,
                variables=(variable_of(name),),
            )
