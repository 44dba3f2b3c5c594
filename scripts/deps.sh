#!/usr/bin/env bash
# Installs what building and running Nightshift need on Debian 12; does nothing where all is present.
# With --test also what the tests start (a Slurm cluster), with --lint what `make lint` needs.
set -euo pipefail
export LC_ALL=C

packages=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates tzdata
  libgit2-dev libsqlite3-dev libcpp-httplib-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libfmt-dev
  catch2 libcli11-dev libexpected-dev libhowardhinnant-date-dev libboost-dev libsodium-dev libssl-dev
  libbenchmark-dev libhwy-dev libutf8proc-dev bubblewrap util-linux
)
case "${1:-}" in
  "") ;;
  --test) packages+=(slurm-wlm munge) ;;
  # clang-tidy 14, the default, cannot parse some of the C++20 that g++ 12 takes.
  --lint) packages+=(clang-format clang-tidy-16 python3) ;;
  *) echo "usage: scripts/deps.sh [--test | --lint]" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "scripts/deps.sh installs with apt-get, which is not here (Debian 12 is what is tested)." >&2
  echo "Install the equivalents of these by hand, then run cmake yourself (see the Makefile):" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

# One query for all: an unknown package makes it fail but does not keep it from listing the others.
declare -A installed=()
while read -r package status; do
  if [ "$status" = installed ]; then installed[$package]=1; fi
done < <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null)
missing=()
for package in "${packages[@]}"; do
  [ -n "${installed[$package]:-}" ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing, and installing them needs root or sudo: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "installing ${#missing[@]} packages with apt-get: ${missing[*]}"
install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "${missing[@]}" </dev/null
}
log=$(mktemp)
policy=/usr/sbin/policy-rc.d
new_policy=
# shellcheck disable=SC2317
clean_up() {
  rm -f "$log"
  if [ -n "$new_policy" ]; then "${as_root[@]}" rm -f "$policy"; fi
}
trap clean_up EXIT
# Debian starts a service that it installs, here munge's and Slurm's, unless this file says no. The
# tests start their own, and nobody asked for others.
if [ "${1:-}" = --test ] && [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
  new_policy=1
fi
if ! { "${as_root[@]}" apt-get update -qq -o DPkg::Lock::Timeout=120 </dev/null && install; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "apt-get could not install: ${missing[*]}" >&2
  echo "Check the network and the package sources, then try again." >&2
  exit 1
fi
