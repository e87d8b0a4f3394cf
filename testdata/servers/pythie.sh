#!/usr/bin/env bash
# Runs a real pythie-serving from PyPI with the table of pythie/: TensorFlow Serving's Predict over gRPC, without metadata,
# status and REST. One call is answered at a time, as it is by default; others are RESOURCE_EXHAUSTED.
#
#   testdata/servers/pythie.sh start     installs what is missing, starts, prints the URLs
#   testdata/servers/pythie.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports: 18130, and 18131 of one that answers any number of calls.
# Needs: python3 with venv. It binds all interfaces.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/pythie

start() {
  venv "$work" pythie-serving==3.4.3
  mkdir -p "$work/m" "$work/any"
  cp "$here"/pythie/server.conf "$work/"
  cp "$here"/pythie/tbl.csv "$here"/pythie/metadata.json "$work/m/"
  (cd "$work" && spawn pythie "$work" "$work/venv/bin/python" -m pythie_serving.run server.conf --worker-count 4 --port 18130)
  (cd "$work" && spawn pythie "$work/any" "$work/venv/bin/python" -m pythie_serving.run server.conf --worker-count 4 \
    --maximum-concurrent-rpcs -1 --port 18131)
  listening pythie "$work" 18130 60
  listening pythie "$work/any" 18131 60
  echo "pythie: grpc://127.0.0.1:18130 grpc://127.0.0.1:18131"
}

stop() {
  terminate pythie "$work"
  terminate pythie "$work/any"
}

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
