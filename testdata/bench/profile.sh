#!/usr/bin/env bash
# Writes cmd/sluice/default.pgo: a CPU profile of sluice while it sends, which `go build` optimizes for.
#
#   testdata/bench/profile.sh
#
# Run it after a change of the load path, on an idle machine; it takes two minutes. Needs: go, python3, curl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
trap 'exec 3>&-; rm -rf "$work"' EXIT
go build -trimpath -pgo=off -o "$work/sluice" ./cmd/sluice
go build -o "$work/refserver" ./testdata/bench/refserver

mkfifo "$work/life" "$work/said" # the server runs while its standard input is open
"$work/refserver" <"$work/life" >"$work/said" &
exec 3>"$work/life"
read -r said <"$work/said"
url() { python3 -c 'import json,sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$said" "$1"; }

for protocol in http grpc; do
  for load in '{concurrency: 1}' '{concurrency: 16}' '{concurrency: 64}' '{rate: 5000/s}'; do
    name=$protocol-$(tr -dc 'a-z0-9' <<<"$load")
    cat >"$work/$name.yaml" <<PLAN
version: 1
target: {backend: kserve, url: "$protocol://$(url $protocol)", model: M}
stages:
  - {id: s, load: $load, for: 6s}
PLAN
    "$work/sluice" run "$work/$name.yaml" --out "$work/$name" --cpu-profile "$work/$name.pprof" >/dev/null || [ $? = 5 ]
  done
done
curl --silent --fail --request POST "http://$(url control)/pace?ttft=0s&gap=0s&tokens=64"
cat >"$work/stream.yaml" <<PLAN
version: 1
target: {backend: openai, url: "http://$(url http)", model: M, streaming: true}
data: {rows: [{prompt: "Why is the sky blue?", output_tokens: 64}]}
stages:
  - {id: s, load: {concurrency: 64}, for: 6s}
PLAN
"$work/sluice" run "$work/stream.yaml" --out "$work/stream" --cpu-profile "$work/stream.pprof" >/dev/null || [ $? = 5 ]
go tool pprof -proto "$work"/*.pprof >"$work/default.pgo" 2>/dev/null
mv "$work/default.pgo" cmd/sluice/default.pgo
ls -l cmd/sluice/default.pgo
