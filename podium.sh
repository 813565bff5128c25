#!/usr/bin/env bash
# Set-up and everyday commands, for a fresh Debian or Ubuntu machine with Rust and Python 3.
#
#   ./podium.sh demo     install what is missing, build, and run AIDE on a built-in competition
#   ./podium.sh setup    the same without the run
#   ./podium.sh test     all tests (what CI runs)
set -euo pipefail
cd "$(dirname "$0")"
# Where cargo puts what it builds.
target=${CARGO_TARGET_DIR:-target}

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

need() {
  printf 'error: %s\nhint: %s\n' "$1" "$2" >&2
  exit 3
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    need "root is needed to install packages, and there is no sudo" "run as root once: $*"
  fi
}

# apt_install COMMAND PACKAGE...: installs packages when COMMAND is missing.
apt_install() {
  local command=$1
  shift
  command -v "$command" >/dev/null && return
  command -v apt-get >/dev/null || need "$command is missing" "install it with your package manager: $*"
  say "installing $*"
  as_root apt-get update -qq
  as_root apt-get install -y -qq "$@" >/dev/null
}

packages() {
  command -v cargo >/dev/null || need "cargo is missing" "install Rust 1.95 or later"
  apt_install python3 python3 python3-venv
  apt_install cc gcc libc6-dev
  apt_install bwrap bubblewrap
  if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    say "installing python3-venv"
    as_root apt-get install -y -qq python3-venv >/dev/null
  fi
}

# The tests of the docker kind start an engine themselves where there is none; without one they say that they skip.
engine() {
  command -v dockerd >/dev/null || ! command -v apt-get >/dev/null ||
    apt_install dockerd --no-install-recommends docker.io
}

# The tests of pages open them in a browser; without one they say that they skip.
browser() {
  command -v chromium >/dev/null || ! command -v apt-get >/dev/null ||
    apt_install chromium --no-install-recommends chromium fonts-dejavu-core
}

setup() {
  packages
  say "building podium (release; a few minutes the first time)"
  cargo build --release --locked
  say "building the Python environment (once per machine)"
  "$target/release/podium" environments build base >/dev/null
  "$target/release/podium" doctor >&2
}

demo() {
  setup
  local model=${PODIUM_MODEL:-playbook} competition=${1:-segment}
  say "AIDE on $competition with $model"
  "$target/release/podium" run --scaffold aide --competition "$competition" --model "$model" \
    --steps 10 --execution-limit 20s --memory 2GiB
  cat <<NEXT

next
  your key      put OPENAI_API_KEY=… into .env, then: $target/release/podium run -c segment -m openai/gpt-4.1-mini --max-cost 1
  your CSV      $target/release/podium grade -c segment YOUR_SUBMISSION.csv
  MLE-bench     $target/release/podium competitions list --data-dir YOUR_MLE_BENCH_DATA_FOLDER
another competition: ./podium.sh demo diamonds; another model: PODIUM_MODEL=openai/gpt-4.1-mini ./podium.sh demo
NEXT
}

tests() {
  packages
  engine
  browser
  apt_install curl curl
  command -v cargo-nextest >/dev/null || { say "installing cargo-nextest"; cargo install --locked cargo-nextest; }
  # Beside the build: it takes as long.
  local services
  tests/services/with.sh install &
  services=$!
  cargo fmt --all --check
  # With the same packages and features each time: else cargo builds half of it anew, twice.
  local all=(--workspace --features failpoints --locked)
  cargo clippy --all-targets "${all[@]}" -- -D warnings
  cargo nextest run "${all[@]}" --no-run
  say "building the Python environment (once per machine)"
  "$target/debug/podium" environments build base >/dev/null
  "$target/debug/podium" doctor >&2
  PODIUM_SKIPS=$(mktemp)
  export PODIUM_SKIPS
  local failed=0 cluster
  cargo nextest run "${all[@]}" --no-fail-fast || failed=$?
  # Beside the next: it waits for Slurm more than it works.
  tests/cluster/with.sh cargo nextest run "${all[@]}" --profile cluster --no-fail-fast >"$PODIUM_SKIPS.cluster" 2>&1 &
  cluster=$!
  cargo nextest run "${all[@]}" --profile docker --no-fail-fast || failed=$?
  wait "$cluster" || failed=$?
  cat "$PODIUM_SKIPS.cluster" >&2
  cargo nextest run "${all[@]}" --profile browser --no-fail-fast || failed=$?
  cargo test "${all[@]}" --doc --quiet || failed=$?
  say "model servers that others wrote"
  wait "$services" || say "not all of them can be installed here"
  # A small model on a processor takes half a minute for a step; ten of each loop are for an afternoon.
  PODIUM_REAL_STEPS=${PODIUM_REAL_STEPS:-3} tests/services/with.sh \
    cargo nextest run "${all[@]}" --profile services --no-fail-fast || failed=$?
  if [ -s "$PODIUM_SKIPS" ]; then say "skipped:"; sort -u "$PODIUM_SKIPS" >&2; else say "nothing was skipped"; fi
  rm -f "$PODIUM_SKIPS" "$PODIUM_SKIPS.cluster"
  return "$failed"
}

case "${1:-}" in
  demo) shift; demo "$@" ;;
  setup) setup ;;
  test) tests ;;
  *) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
