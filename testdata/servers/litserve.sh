#!/usr/bin/env bash
# Runs a real LitServe from PyPI with the words of litserve/server.py: OpenAI's chat endpoint, over uvicorn.
#
#   testdata/servers/litserve.sh start     installs missing parts, starts, prints the URL
#   testdata/servers/litserve.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Port: 18300, on loopback. Needs: python3 with venv, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/litserve

install() {
  [ -e "$work/installed" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" litserve==0.2.17
  touch "$work/installed"
}

start() {
  install
  spawn litserve "$work" "$work/venv/bin/python" "$here/litserve/server.py"
  await litserve "$work" http://127.0.0.1:18300/health 120
  echo "litserve: http://127.0.0.1:18300"
}

stop() { terminate litserve "$work"; }

case ${1:-} in
start) stop && start ;;
stop) stop ;;
*) sed -n '2,7s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
