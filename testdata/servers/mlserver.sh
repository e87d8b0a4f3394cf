#!/usr/bin/env bash
# Runs a real MLServer from PyPI with the models of mlserver/: KServe v2 without Triton's extensions.
#
#   testdata/servers/mlserver.sh start     installs missing parts, starts, prints the URLs
#   testdata/servers/mlserver.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports: 18100 HTTP, 18101 gRPC, 18102 metrics, on loopback.
# Needs: python3 with venv, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/mlserver
http=127.0.0.1:18100

install() {
  [ -e "$work/installed" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  # uv resolves MLServer's dependencies in seconds, pip in minutes.
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" mlserver==1.7.1
  touch "$work/installed"
}

start() {
  install
  rm -rf "$work/models" "$work/metrics"
  mkdir -p "$work/metrics"
  cp -r "$here/mlserver/models" "$work/models"
  cp "$here/mlserver/runtime.py" "$work/models/"
  cat >"$work/models/settings.json" <<EOT
{"host": "127.0.0.1", "http_port": 18100, "grpc_port": 18101, "metrics_port": 18102,
 "parallel_workers": 0, "gzip_enabled": false, "metrics_dir": "$work/metrics"}
EOT
  (cd "$work/models" && PYTHONPATH="$work/models" spawn mlserver "$work" "$work/venv/bin/mlserver" start .)
  await mlserver "$work" "http://$http/v2/health/ready" 120
  for model in simple identity_fp32 slow; do
    await mlserver "$work" "http://$http/v2/models/$model/ready" 60
  done
  echo "mlserver: http://$http grpc://127.0.0.1:18101"
}

stop() { terminate mlserver "$work"; }

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
