#!/usr/bin/env bash
# Runs a real TorchServe from PyPI with the handlers of torchserve/. Its worker imports torch for nothing but the names of a
# class and a function, so that a stub of three lines stands for it; all that is on the wire comes from its Java front end.
#
#   testdata/servers/torchserve.sh start     installs missing parts, starts, prints the URL
#   testdata/servers/torchserve.sh key [API]   prints the token of the inference (or management) API, which is required
#   testdata/servers/torchserve.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports: 18120 inference, 18121 management, 18122 metrics, 18123 and
# 18124 gRPC, on loopback.
# Needs: python3 with venv, a JRE of Java 17, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/torchserve
http=127.0.0.1:18120

install() {
  [ -e "$work/installed" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" --no-deps torchserve==0.12.0 torch-model-archiver==0.12.0
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" psutil packaging pyyaml setuptools
  local site
  site=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir "$site/torch"
  cat >"$site/torch/__init__.py" <<EOT
class Tensor: pass
class cuda: is_available = staticmethod(lambda: False)
__version__ = "0"
EOT
  touch "$work/installed"
}

start() {
  install
  rm -rf "$work/run" && mkdir -p "$work/run/store" "$work/run/logs"
  printf 'minWorkers: 1\nmaxWorkers: 1\n' >"$work/run/one.yaml"
  for model in ident words; do
    "$work/venv/bin/torch-model-archiver" --model-name $model --version 1.0 --handler "$here/torchserve/$model.py" \
      --config-file "$work/run/one.yaml" --export-path "$work/run/store" -f
  done
  cat >"$work/run/config.properties" <<EOT
inference_address=http://$http
management_address=http://127.0.0.1:18121
metrics_address=http://127.0.0.1:18122
grpc_inference_address=127.0.0.1
grpc_management_address=127.0.0.1
grpc_inference_port=18123
grpc_management_port=18124
default_workers_per_model=1
metrics_mode=prometheus
EOT
  # Its keys are written into the folder in which it starts.
  (cd "$work/run" && PATH="$work/venv/bin:$PATH" LOG_LOCATION=logs METRICS_LOCATION=logs \
    spawn torchserve "$work" torchserve --start --foreground --ncs --model-store store \
    --models ident=ident.mar words=words.mar --ts-config config.properties)
  await torchserve "$work" "http://127.0.0.1:18122/metrics" 120 # which needs no token
  echo "torchserve: http://$http"
}

key() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]]["key"])' "$work/run/key_file.json" "$1"; }

stop() { terminate torchserve "$work"; }

case ${1:-} in
start) stop && start ;;
key) key "${2:-inference}" ;;
stop) stop ;;
*) sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
