#!/usr/bin/env bash
# Runs a gRPC server of Python's grpcio, the shop of reflection/: its reflection is v1alpha alone.
#
#   testdata/servers/reflection.sh start     installs what is missing, starts, prints the URL
#   testdata/servers/reflection.sh set       prints the name of its descriptor set
#   testdata/servers/reflection.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Port: 18410, on loopback. Needs: python3 with venv.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/reflection

install() {
  venv "$work" grpcio==1.85.3 grpcio-reflection==1.85.1 grpcio-tools==1.85.1 grpcio-health-checking==1.85.1
}

start() {
  install
  "$work/venv/bin/python" -m grpc_tools.protoc -I "$here/reflection" --python_out="$work" --grpc_python_out="$work" \
    --include_imports --descriptor_set_out="$work/shop.pb" "$here/reflection/shop.proto"
  PYTHONPATH=$work spawn reflection "$work" "$work/venv/bin/python" "$here/reflection/server.py" 18410
  listening reflection "$work" 18410 60
  echo "reflection: grpc://127.0.0.1:18410"
}

stop() { terminate reflection "$work"; }

case ${1:-} in
start) stop && start ;;
set) realpath "$work/shop.pb" ;;
stop) stop ;;
*) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
