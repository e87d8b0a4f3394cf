#!/usr/bin/env bash
# Runs grpc-go's own test service (interop), with its reflection of v1 and v1alpha and its health service.
#
#   testdata/servers/interop.sh start     builds what is missing, starts, prints the URL
#   testdata/servers/interop.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Port: 18400, on loopback. Needs: Go, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/interop

start() {
  mkdir -p "$work"
  work=$(realpath "$work")
  (cd "$here/interop" && go build -o "$work/interop" .)
  spawn interop "$work" "$work/interop" 127.0.0.1:18400
  listening interop "$work" 18400 30
  echo "interop: grpc://127.0.0.1:18400"
}

stop() { terminate interop "$work"; }

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
