#!/usr/bin/env bash
# A real Triton Inference Server from PyPI, with the models of triton/models and the C backend of triton/backend.
#
#   testdata/servers/triton.sh start     installs what is missing, starts, prints the URLs
#   testdata/servers/triton.sh stop
#
# Everything is put under $SLUICE_SERVERS (default .ci/work). Ports: 18000 HTTP, 18001 gRPC, 18002 metrics, on loopback.
# Needs: python3 with venv and its shared library, gcc, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/triton
http=127.0.0.1:18000

install() {
  [ -e "$work/installed" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-deps --disable-pip-version-check nvidia-pytriton==0.7.0 numpy==1.26.4
  touch "$work/installed"
}

start() {
  install
  local site minor
  site=$(echo "$work"/venv/lib/python3.*/site-packages)
  minor=$("$work/venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  # The server writes into its model folders: it gets a copy.
  rm -rf "$work/models" "$work/backends"
  cp -r "$here/triton/models" "$work/models"
  mkdir -p "$work/backends/identity"
  cp -r "$site/pytriton/tritonserver/backends/python" "$work/backends/"
  cp "$site/pytriton/tritonserver/python_backend_stubs/$minor/triton_python_backend_stub" "$work/backends/python/"
  gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$work/backends/identity/libtriton_identity.so" "$here/triton/backend/identity.c"

  local libpython
  libpython=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
  spawn triton "$work" env \
    PATH="$work/venv/bin:$PATH" LD_LIBRARY_PATH="$libpython:$site/nvidia_pytriton.libs" \
    "$site/pytriton/tritonserver/bin/tritonserver" \
    --model-repository="$work/models" --backend-directory="$work/backends" \
    --model-control-mode=explicit --load-model='*' \
    --cache-directory="$site/pytriton/tritonserver/caches" --cache-config=local,size=1048576 \
    --trace-config=triton,file="$work/trace.json" --trace-config=mode=triton \
    --http-address=127.0.0.1 --grpc-address=127.0.0.1 --metrics-address=127.0.0.1 \
    --http-port=18000 --grpc-port=18001 --metrics-port=18002
  await triton "$work" "http://$http/v2/health/ready" 120
  echo "triton: http://$http grpc://127.0.0.1:18001"
}

stop() {
  terminate triton "$work"
  # What a Python model that was killed may have left behind.
  rm -f /dev/shm/triton_python_backend_shm_region_*
}

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
