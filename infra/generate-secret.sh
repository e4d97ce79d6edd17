#!/usr/bin/env bash
# Creates or updates the Secret that holds exoscaler's Exoscale credentials. See --help.
#
# The values travel through shell variables and pipes only: a command line, and with it the process list, never holds
# them. base64 keeps every byte as it is, whatever a value contains.

# A trace (bash -x) would print the values, so it ends here, without a trace of its ending.
{ set +x; } 2>/dev/null
set -euo pipefail

readonly PROGRAM=${0##*/}
readonly SECRET=exoscale-api-credentials
readonly WRONG_USE=2 NO_TOOL=3

usage() {
  cat <<EOF
Usage: $PROGRAM [--namespace NAMESPACE] [--context CONTEXT] [--kubeconfig FILE] [--server-side] [--dry-run]

Creates or updates the Secret $SECRET from three environment variables:

  EXOSCALE_API_KEY      -> api-key
  EXOSCALE_API_SECRET   -> api-secret
  EXOSCALE_ZONE         -> api-zone

Options:
  -n, --namespace NAMESPACE   where the Secret goes (default: kube-system)
      --context CONTEXT       kubeconfig context, handed on to kubectl
      --kubeconfig FILE       kubeconfig file, handed on to kubectl
      --server-side           apply on the server, which keeps no second copy of the values in the Secret's
                              last-applied annotation; takes over fields that others have set
      --dry-run               print the manifest, which holds the credentials, and change nothing
  -h, --help                  print this text

Exit status: 0 done; $WRONG_USE wrong options or missing variables; $NO_TOOL a needed program is not installed;
otherwise that of kubectl.
EOF
}

complain() {
  printf '%s: %s\n' "$PROGRAM" "$1" >&2
}

fail() {
  complain "$2"
  exit "$1"
}

read_options() {
  NAMESPACE=kube-system
  DRY_RUN=no
  APPLY=(apply)
  local name value
  while (($#)); do
    name=$1
    shift
    case $name in
    -n | --namespace | --context | --kubeconfig)
      (($#)) || fail "$WRONG_USE" "option $name needs a value; see --help"
      value=$1
      shift
      ;;
    --namespace=* | --context=* | --kubeconfig=*)
      value=${name#*=}
      name=${name%%=*}
      ;;
    --server-side)
      APPLY+=(--server-side --force-conflicts)
      continue
      ;;
    --dry-run)
      DRY_RUN=yes
      continue
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    # the argument itself is not repeated: it may be a credential given by mistake
    *) fail "$WRONG_USE" "unknown option or argument; credentials come from the environment, see --help" ;;
    esac
    [[ -n $value ]] || fail "$WRONG_USE" "option $name needs a value; see --help"
    case $name in
    -n | --namespace) NAMESPACE=$value ;;
    *) APPLY+=("$name=$value") ;;
    esac
  done
  local LC_ALL=C
  [[ ${#NAMESPACE} -le 63 && $NAMESPACE =~ ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$ ]] ||
    fail "$WRONG_USE" "the namespace must be at most 63 lower-case letters, digits and inner hyphens"
}

check_variables() {
  local name missing=()
  for name in EXOSCALE_API_KEY EXOSCALE_API_SECRET EXOSCALE_ZONE; do
    if [[ -z ${!name-} ]]; then
      missing+=("$name")
    elif [[ ${!name} == [[:space:]]* || ${!name} == *[[:space:]] ]]; then
      complain "warning: $name begins or ends with white space, which is kept; Exoscale hands out none"
    fi
  done
  ((${#missing[@]} == 0)) || fail "$WRONG_USE" "not set or empty in the environment: ${missing[*]}"
}

check_tools() {
  local tool
  for tool in base64 tr; do
    command -v "$tool" >/dev/null || fail "$NO_TOOL" "$tool is needed and not installed"
  done
  [[ $DRY_RUN == yes ]] || command -v kubectl >/dev/null ||
    fail "$NO_TOOL" "kubectl is needed and not installed; --dry-run prints the manifest without it"
}

# No option of base64 for long lines is common to GNU, busybox and BSD, so the line breaks go afterwards.
encode() {
  printf '%s' "$1" | base64 | tr -d '\r\n'
}

# Printed by the shell itself: a here-document would pass through a temporary file.
manifest() {
  printf '%s\n' \
    'apiVersion: v1' \
    'kind: Secret' \
    'metadata:' \
    "  name: $SECRET" \
    "  namespace: $NAMESPACE" \
    '  labels:' \
    '    app.kubernetes.io/name: exoscaler' \
    'type: Opaque' \
    'data:' \
    "  api-key: \"$API_KEY\"" \
    "  api-secret: \"$API_SECRET\"" \
    "  api-zone: \"$API_ZONE\""
}

# When a patch is refused, kubectl prints the patch, credentials and all.
hide_credentials() {
  local line
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line//"$API_KEY"/(hidden)}
    line=${line//"$API_SECRET"/(hidden)}
    printf '%s\n' "$line"
  done
}

apply() {
  local status=0
  # kubectl's errors pass the filter, its answers go round it on 3; its status is the one that counts
  {
    manifest | kubectl "${APPLY[@]}" -f - 2>&1 >&3 3>&- | hide_credentials >&2 || status=${PIPESTATUS[1]}
  } 3>&1
  ((status == 0)) || fail "$status" "kubectl failed with status $status; the Secret $SECRET was not applied"
}

read_options "$@"
check_variables
check_tools
API_KEY=$(encode "$EXOSCALE_API_KEY")
API_SECRET=$(encode "$EXOSCALE_API_SECRET")
API_ZONE=$(encode "$EXOSCALE_ZONE")
if [[ $DRY_RUN == yes ]]; then
  manifest
else
  apply
fi
