#!/usr/bin/env bash
# Installs what building, running and testing Nightshift need on Debian 12; does nothing where all is present.
set -euo pipefail
packages=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates tzdata
  libgit2-dev libsqlite3-dev libcpp-httplib-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libfmt-dev
  catch2 libcli11-dev libexpected-dev libhowardhinnant-date-dev libboost-dev libsodium-dev libssl-dev
  libbenchmark-dev libhwy-dev bubblewrap util-linux
)
[ "${1:-}" = "--lint" ] && packages+=(clang-format clang-tidy)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}"
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "need root (or sudo) to install: ${missing[*]}" >&2; exit 1; }
  sudo="sudo"
fi
$sudo apt-get update -qq
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
