#!/usr/bin/env bash
# The stranger: a clean clone, an empty home, no uv and no Go on the PATH, then the README's two
# commands. Needs Python 3.11 or newer, make, git and the public package registries.
#
#   tests/fresh.sh [--keep]     --keep leaves the folder behind and prints where it is
set -euo pipefail
source_tree=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
[ "${1:-}" = "--keep" ] && echo "in $place" || trap 'chmod -R u+w "$place"; rm -rf "$place"' EXIT

python=$(command -v "${PYTHON:-python3}")
mkdir -p "$place/home" "$place/bin" "$place/tmp"
# Only what a small machine has: the named interpreter and the system's own folders.
ln -s "$("$python" -c 'import sys; print(sys.executable)')" "$place/bin/python3"
system=/usr/bin:/bin
for tool in uv go; do
  if PATH="$place/bin:$system" command -v "$tool" >/dev/null; then
    echo "error: $tool is in $system; this run would prove nothing" >&2
    exit 2
  fi
done

git clone --quiet --no-hardlinks "$source_tree" "$place/roadstead"
cd "$place/roadstead"
as_stranger() {
  env -i HOME="$place/home" TMPDIR="$place/tmp" PATH="$place/bin:$system" LANG=C.UTF-8 \
    ${PIP_INDEX_URL:+PIP_INDEX_URL="$PIP_INDEX_URL"} ${UV_INDEX_URL:+UV_INDEX_URL="$UV_INDEX_URL"} \
    ${UV_DEFAULT_INDEX:+UV_DEFAULT_INDEX="$UV_DEFAULT_INDEX"} ${GOPROXY:+GOPROXY="$GOPROXY"} \
    ${GONOSUMDB:+GONOSUMDB="$GONOSUMDB"} ${GOSUMDB:+GOSUMDB="$GOSUMDB"} ${GOFLAGS:+GOFLAGS="$GOFLAGS"} \
    ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} ${HTTPS_PROXY:+HTTPS_PROXY="$HTTPS_PROXY"} \
    "$@"
}
as_stranger make demo
as_stranger make test
git status --porcelain | { ! grep .; } || { echo "error: the tree is not clean afterwards" >&2; exit 1; }
echo "fresh: demo and tests passed on a clean clone"
