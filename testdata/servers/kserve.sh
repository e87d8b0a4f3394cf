#!/usr/bin/env bash
# Runs the server of KServe's SDK from PyPI with the models of kserve/: KServe v2 over HTTP and gRPC, and version 1.
#
#   testdata/servers/kserve.sh start     installs what is missing, starts, prints the URLs
#   testdata/servers/kserve.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports: 18110 HTTP, 18111 gRPC. Needs: python3 with venv, curl. It
# binds all interfaces.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/kserve

start() {
  venv "$work" kserve==0.21.0
  spawn kserve "$work" "$work/venv/bin/python" "$here/kserve/server.py" --http_port 18110 --grpc_port 18111 --workers 1
  await kserve "$work" http://127.0.0.1:18110/v2/models/ident/ready 120
  listening kserve "$work" 18111 60
  echo "kserve: http://127.0.0.1:18110 grpc://127.0.0.1:18111"
}

stop() { terminate kserve "$work"; }

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
