# Functions of the scripts that start and stop real servers.

# spawn NAME FOLDER COMMAND...: starts a server in a process group of its own, with its log in FOLDER/log.
spawn() {
  local name=$1 work=$2
  shift 2
  setsid "$@" >"$work/log" 2>&1 </dev/null &
  echo $! >"$work/pid"
}

# await NAME FOLDER URL SECONDS: waits until URL answers with success; prints the log if it does not.
await() {
  local name=$1 work=$2 url=$3 deadline=$((SECONDS + $4))
  until curl --silent --fail --output /dev/null --max-time 2 "$url"; do
    if ! kill -0 "$(cat "$work/pid")" 2>/dev/null || [ $SECONDS -ge $deadline ]; then
      echo "$name: not ready at $url after $4 s; the end of its log:" >&2
      tail -n 40 "$work/log" >&2
      return 1
    fi
    sleep 0.2
  done
}

# venv FOLDER PACKAGE...: makes FOLDER/venv with the packages, by uv, which takes seconds where pip takes minutes; once.
venv() {
  local work=$1
  shift
  [ "$(cat "$work/installed" 2>/dev/null)" = "$*" ] && return
  rm -rf "$work" && mkdir -p "$work"
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check uv==0.13.9
  "$work/venv/bin/uv" pip install --quiet --python "$work/venv" "$@"
  echo "$*" >"$work/installed"
}

# listening NAME FOLDER PORT SECONDS: waits until a port of loopback accepts connections; prints the log if it does not.
listening() {
  local name=$1 work=$2 port=$3 deadline=$((SECONDS + $4))
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    if ! kill -0 "$(cat "$work/pid")" 2>/dev/null || [ $SECONDS -ge $deadline ]; then
      echo "$name: no connection to port $port after $4 s; the end of its log:" >&2
      tail -n 40 "$work/log" >&2
      return 1
    fi
    sleep 0.1
  done
}

# terminate NAME FOLDER [SECONDS]: ends the server and its children; prints a note if they were killed after SECONDS (15).
terminate() {
  local name=$1 work=$2 limit=${3:-15} pid
  [ -e "$work/pid" ] || return 0
  pid=$(cat "$work/pid")
  rm -f "$work/pid"
  kill -TERM -- "-$pid" 2>/dev/null || return 0
  for _ in $(seq $((10 * limit))); do
    kill -0 -- "-$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  echo "$name: did not end in $limit s, killed" >&2
  kill -KILL -- "-$pid" 2>/dev/null || return 0
}
