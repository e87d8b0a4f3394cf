#!/usr/bin/env bash
# Measures the cost and the punctuality of Sluice beside wrk and a bare grpc-go loop, in a table with limits.
#
#   testdata/bench/run.sh [--quick] [--only http,grpc,open,start,memory]
#   testdata/bench/run.sh --quick --old REVISION
#
# The second form compares this tree with another revision of it: fifteen pairs of turns for each figure, with the 95%
# interval of their ratio, in about ten minutes.
#
# --quick takes less than three minutes, the whole about six. Absolute figures need an idle machine; ratios hold on others
# too. Needs: go, wrk.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v wrk >/dev/null || { echo "wrk is not installed (Debian: apt-get install wrk)" >&2; exit 1; }
bin=$(mktemp -d)
trap 'rm -rf "$bin"; git worktree prune' EXIT
cd "$here/../.."
CGO_ENABLED=0 go build -pgo=auto -trimpath -ldflags="-s -w" -o "$bin/sluice" ./cmd/sluice
for program in refserver grpcloop speed; do
  go build -o "$bin/$program" "./testdata/bench/$program"
done
options=()
while [ $# -gt 0 ]; do
  if [ "$1" = --old ]; then
    git worktree add --quiet --detach "$bin/tree" "$2"
    (cd "$bin/tree" && CGO_ENABLED=0 go build -pgo=auto -trimpath -ldflags="-s -w" -o "$bin/old" ./cmd/sluice)
    options+=(-old "$bin/old")
    shift
  else
    options+=("$1")
  fi
  shift
done
"$bin/speed" -bin "$bin" "${options[@]}"
