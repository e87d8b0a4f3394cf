#!/usr/bin/env bash
# Runs infinity from PyPI with its engine for tests, whose embeddings are 13 times the length of the text: without a model.
#
#   testdata/servers/infinity.sh start     installs missing parts, starts, prints the URL
#   testdata/servers/infinity.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Port: 18170, on loopback. Needs: python3 with venv, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/infinity

start() {
  venv "$work" 'infinity-emb[server]==0.0.78' onnxruntime==1.32.0 tokenizers==0.22.2 transformers==4.57.6
  DO_NOT_TRACK=1 HF_HUB_OFFLINE=1 spawn infinity "$work" "$work/venv/bin/infinity_emb" v2 --model-id numbers \
    --engine debugengine --host 127.0.0.1 --port 18170 --url-prefix /v1
  await infinity "$work" http://127.0.0.1:18170/health 180
  echo "infinity: http://127.0.0.1:18170"
}

stop() { terminate infinity "$work"; }

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
