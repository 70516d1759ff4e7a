#!/usr/bin/env bash
# Installs the package that `make package` wrote, uses and removes it. On the machine itself nothing changes: all of it happens
# in a copy of its root folder, a file system laid over it (overlayfs) that only this script's processes see and that is gone with
# them. Needs root and dpkg; where they are not, it says so and ends with 77.
#
#   tests/package/packages.sh FOLDER    with lope_*.deb
set -euo pipefail
not_here() { echo "The package is not installed here for a test: $*"; exit 77; }

if [ "${1-}" != --inside ]; then
  folder=$(realpath "$1")
  [ "$(id -u)" -eq 0 ] || not_here "that needs root"
  for tool in dpkg unshare chroot man; do command -v $tool >/dev/null || not_here "there is no $tool"; done
  [ "$(find "$folder" -name 'lope_*.deb' | wc -l)" -eq 1 ] || { echo "FAILED: not one lope_*.deb in $folder" >&2; exit 1; }
  mount_point=$(mktemp -d)
  trap 'rmdir "$mount_point"' EXIT
  unshare --mount --fork --pid --propagation private true 2>/dev/null || not_here "no namespaces may be made"
  for name in /usr /var /etc /opt; do ! mountpoint -q $name || not_here "$name is a file system of its own"; done
  status=0
  unshare --mount --fork --pid --propagation private bash -euc '
    mount -t tmpfs tmpfs "$1" || exit 77
    cd "$1" && mkdir upper work root
    mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" root 2>/dev/null || exit 77
    for name in dev sys; do mount --rbind "/$name" "root/$name"; done
    mount -t proc proc root/proc
    mount -t tmpfs tmpfs root/tmp && mkdir root/tmp/packages
    cp "$2"/*.deb root/tmp/packages && cp "$3" root/tmp/test.sh
    exec chroot root env -i HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash /tmp/test.sh --inside
  ' _ "$mount_point" "$folder" "$(realpath "$0")" || status=$?
  [ $status -ne 77 ] || not_here "no file system can be laid over the root folder"
  exit $status
fi

fail() { echo "FAILED: $*" >&2; exit 1; }
files_of_the_machine() { find /etc /opt /usr /var -xdev \( -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \) -prune -o -print | LC_ALL=C sort; }
cd /tmp
dpkg --purge lope >/dev/null 2>&1 || true
files_of_the_machine >before

# What it needs is here, as it says itself: dpkg refuses otherwise.
dpkg -i packages/*.deb >log 2>&1 || { cat log; fail "the package cannot be installed"; }
dpkg --verify lope || fail "files are not as they were packed"

mkdir use && cd use
lope --version | grep -q '^lope [0-9]' || fail "no version"
[ "$(readlink -f "$(command -v lope)")" = /usr/bin/lope ] || fail "another lope stands first in PATH"
lope scenes >scenes && grep -q '^flagship' scenes || fail "the scenes are not found"
[ "$(ls /usr/share/lope/scenes/*.toml | wc -l)" -ge 40 ] || fail "scenes are missing"
lope run cantilever_2d --set body.beam.edge="5 cm" --set time.duration="0.1 s" --quiet || fail "a tiny scene does not run"
lope render runs/cantilever_2d --frame 1 --size 160x90 --samples 1 >/dev/null || fail "no picture"
lope bench >benchmarks && grep -q '^torture' benchmarks || fail "no benchmarks"

# The manual page, without a complaint of the formatter, with what the program has.
[ "$(man -w lope)" = /usr/share/man/man1/lope.1.gz ] || fail "man does not find the page"
# (A pipe that is closed early is a failure to man: hence files.)
MANROFFSEQ= MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -E UTF-8 -P cat lope >page 2>complaints || fail "man fails"
[ ! -s complaints ] || { cat complaints; fail "the formatter complains"; }
sed -i 's/.\x08//g' page
for word in "lope run scene" "\-\-color-by" "--methods" flagship newton-mgpcg "GNU General Public License"; do
  grep -q -- "$word" page || fail "the manual page does not say: $word"
done

# Completion, as bash calls it.
complete_line() {
  bash --norc -c '
    [ ! -e /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
    if declare -F _completion_loader >/dev/null; then _completion_loader lope || true; else . /usr/share/bash-completion/completions/lope; fi
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
    _lope; printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}
complete_line lope r | grep -qx run || fail "completion of commands"
complete_line lope run flags | grep -qx flagship || fail "completion of scenes"
complete_line lope run flagship --method newton-p | grep -qx newton-pcg || fail "completion of methods"
complete_line lope export runs/x --format p | grep -qx ply || fail "completion of formats"

zgrep -q 'GNU General Public License' /usr/share/doc/lope/copyright || fail "the licence is not named"
cd ..

if command -v lintian >/dev/null; then
  # Whose package it is says who distributes it (LOPE_PACKAGE_CONTACT); it is none of Debian's, with a changelog of another form.
  lintian --allow-root --fail-on error --suppress-tags bogus-mail-host,changelog-file-missing-in-native-package,no-changelog,extended-description-is-probably-too-short packages/*.deb || fail "lintian"
fi

dpkg --purge lope >log 2>&1 || { cat log; fail "it cannot be removed"; }
files_of_the_machine >after
diff before after || fail "something stayed behind, or went with it"
echo "The package was installed, used and removed."
