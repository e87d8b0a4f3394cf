#!/usr/bin/env bash
# Runs a real Triton Inference Server from PyPI with the models of triton/models and the C backend of triton/backend.
#
#   testdata/servers/triton.sh start     installs missing parts, starts, prints the URLs
#   testdata/servers/triton.sh secure    starts a second one, with gRPC over TLS and client certificates
#   testdata/servers/triton.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports on loopback: 18000 HTTP, 18001 gRPC, 18002 metrics; of the
# second server 18010 HTTP and 18011 gRPC. Its certificates are made at each start, in triton-secure/tls.
# Needs: python3 with venv and its shared library, gcc, curl; openssl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/triton
secure=$work-secure
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
  # The server writes into its model folders: it gets a copy.
  rm -rf "$work/models" "$work/backends"
  cp -r "$here/triton/models" "$work/models"
  mkdir -p "$work/backends/identity"
  local site minor
  site=$(packages)
  minor=$("$work/venv/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  cp -r "$site/pytriton/tritonserver/backends/python" "$work/backends/"
  cp "$site/pytriton/tritonserver/python_backend_stubs/$minor/triton_python_backend_stub" "$work/backends/python/"
  gcc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$work/backends/identity/libtriton_identity.so" "$here/triton/backend/identity.c"
  serve triton "$work" \
    --model-repository="$work/models" --backend-directory="$work/backends" \
    --model-control-mode=explicit --load-model='*' \
    --cache-directory="$site/pytriton/tritonserver/caches" --cache-config=local,size=1048576 \
    --trace-config=triton,file="$work/trace.json" --trace-config=mode=triton \
    --metrics-address=127.0.0.1 --http-port=18000 --grpc-port=18001 --metrics-port=18002
  await triton "$work" "http://$http/v2/health/ready" 120
  echo "triton: http://$http grpc://127.0.0.1:18001"
}

packages() { echo "$work"/venv/lib/python3.*/site-packages; }

# serve NAME FOLDER ARGS...: starts a server on loopback, with the paths of its libraries.
serve() {
  local name=$1 folder=$2 site libpython
  shift 2
  site=$(packages)
  libpython=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
  spawn "$name" "$folder" env PATH="$work/venv/bin:$PATH" LD_LIBRARY_PATH="$libpython:$site/nvidia_pytriton.libs" \
    "$site/pytriton/tritonserver/bin/tritonserver" --http-address=127.0.0.1 --grpc-address=127.0.0.1 "$@"
}

# secure uses files that start makes.
secure() {
  rm -rf "$secure" && mkdir -p "$secure/models" "$secure/tls"
  cp -r "$here/triton/models/identity_fp32" "$secure/models/"
  certificates 2>"$secure/log" || { cat "$secure/log" >&2 && return 1; }
  serve triton-secure "$secure" \
    --model-repository="$secure/models" --backend-directory="$work/backends" --http-port=18010 --grpc-port=18011 --allow-metrics=false \
    --grpc-use-ssl=true --grpc-use-ssl-mutual=true --grpc-root-cert="$secure/tls/ca.pem" \
    --grpc-server-cert="$secure/tls/server.pem" --grpc-server-key="$secure/tls/server.key"
  await triton-secure "$secure" http://127.0.0.1:18010/v2/health/ready 60
  echo "triton: grpcs://localhost:18011, certificates in $secure/tls"
}

# certificates makes a CA, two certificates that it signs, and one that is unknown to both sides. Each step handles its own
# failure: bash ignores -e in a function whose result is tested.
certificates() (
  cd "$secure/tls" && certificate ca -x509 && certificate stranger -x509 || return 1
  for name in server client; do
    certificate $name &&
      openssl x509 -req -in $name.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out signed.pem \
        -extfile <(echo 'subjectAltName=DNS:localhost,IP:127.0.0.1') &&
      mv signed.pem $name.pem || return 1
  done
)

# certificate NAME [-x509]: makes a key and a certificate request, or with -x509 a self-signed certificate.
certificate() {
  openssl req -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem" "${@:2}"
}

# finish NAME FOLDER: ends a server, with the time for unloading models that its log names.
finish() {
  local limit
  limit=$(awk '$2 == "exit_timeout" { print $4 }' "$2/log" 2>/dev/null || true)
  terminate "$1" "$2" $((${limit:-30} + 5))
}

stop() {
  finish triton-secure "$secure"
  finish triton "$work"
  # Regions of Python models that were killed.
  rm -f /dev/shm/triton_python_backend_shm_region_*
}

case ${1:-} in
start) stop && start ;;
secure) finish triton-secure "$secure" && secure ;;
stop) stop ;;
*) sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
