#!/usr/bin/env bash
# Installs the real perf_analyzer from PyPI, for comparison. It needs newer libraries than Debian 12 has: those of Debian 13
# are unpacked in its folder; the system is not changed.
#
#   testdata/servers/perf_analyzer.sh            installs missing parts, prints the path of the command
#
# All files are below $SLUICE_SERVERS (default .ci/work). Needs: Debian with apt, python3 with pip.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=${SLUICE_SERVERS:-$here/../../.ci/work}/perf_analyzer
version=2.60.0

install() {
  rm -rf "$work" && mkdir -p "$work"/apt/{lists/partial,cache/archives/partial,debs}
  cd "$work"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --python-version 312 \
    --platform manylinux_2_38_x86_64 -d . "perf-analyzer==$version"
  python3 -m zipfile -e perf_analyzer-"$version"-*.whl unpacked
  chmod +x unpacked/perf_analyzer/bin/perf_analyzer
  touch apt/status
  local mirror options
  mirror=$(grep -hm1 '^URIs:' /etc/apt/sources.list.d/*.sources | cut -d' ' -f2) # the mirror of this machine
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >apt/sources.list
  options=(-qq -o "Dir::Etc::sourcelist=$PWD/apt/sources.list" -o "Dir::Etc::sourceparts=/dev/null" -o "Dir::State::lists=$PWD/apt/lists"
    -o "Dir::Cache=$PWD/apt/cache" -o "Dir::State::status=$PWD/apt/status")
  apt-get "${options[@]}" update
  (cd apt/debs && apt-get "${options[@]}" download libc6 libstdc++6 libgcc-s1 libssl3t64 zlib1g libzstd1)
  local deb
  for deb in apt/debs/*.deb; do dpkg-deb -x "$deb" libraries; done
  rm -rf apt ./*.whl
  # Shared memory, even of the system, needs a CUDA runtime to load; the wheel of Triton has one, where it is installed.
  mkdir -p cuda
  local runtime
  runtime=$(echo "$work"/../triton/venv/lib/python3.*/site-packages/nvidia_pytriton.libs/libcudart-*.so.12.*)
  [ -e "$runtime" ] && ln -sf "$runtime" cuda/libcudart.so
  cat >perf_analyzer <<'EOF'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
libraries=$here/libraries/usr/lib/x86_64-linux-gnu
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$here/cuda" "$here/unpacked/perf_analyzer/bin/perf_analyzer" "$@"
EOF
  chmod +x perf_analyzer
  touch installed
}

[ -e "$work/installed" ] || (install >&2)
echo "$work/perf_analyzer"
