# Sourced by the tests of the program: each runs the built `lope` in an empty folder and looks at what a user sees.
#   $1  the program     $2  the folder of this test's results
set -u
lope=$(realpath "$1")
rm -rf "$2" && mkdir -p "$2" && cd "$2" || exit 99
failures=0

# with PART: whether the program was built with "render", "bench" or "viewer".
with() { [[ " ${LOPE_PARTS-render bench viewer} " == *" $1 "* ]]; }

fail() {
  echo "FAILED: $*" >&2
  [ -s out ] && sed 's/^/  stdout: /' out | tail -n 20 >&2
  [ -s err ] && sed 's/^/  stderr: /' err | tail -n 20 >&2
  failures=$((failures + 1))
}

# expect STATUS COMMAND...: runs the command, its output goes to the files `out` and `err`.
expect() {
  local wanted=$1 status
  shift
  "$@" >out 2>err
  status=$?
  [ "$status" -eq "$wanted" ] || fail "exit code $status instead of $wanted: $*"
}

says() { grep -qF -- "$1" out || fail "standard output does not say: $1"; }
complains() { grep -qF -- "$1" err || fail "the error does not say: $1"; }
exists() { [ -s "$1" ] || fail "$1 is missing or empty"; }
absent() { [ ! -e "$1" ] || fail "$1 should not exist"; }

# refused PIECE... -- COMMAND...: bad input gives one line that holds all the pieces, exit code 1 and no results. (On a busy
# machine there may be words of patience before it.)
refused() {
  local pieces=()
  while [ "$1" != -- ]; do pieces+=("$1"); shift; done
  shift
  expect 1 "$@"
  sed -i '/ … [0-9]* s$/d' err
  [ "$(grep -c . err)" -eq 1 ] || fail "not one line of error from: $*"
  for piece in "${pieces[@]}"; do complains "$piece"; done
  absent runs
}

finish() {
  [ "$failures" -eq 0 ] || { echo "$failures failures" >&2; exit 1; }
  exit 0
}

# A scene of 20 short steps: a small bar held at one end.
write_bar() {
  cat >bar.toml <<'SCENE'
[time]
step = "25 ms"
duration = "0.5 s"

[output]
formats = []

[[body]]
name = "bar"
shape = { box = { size = [1, 0.2, 0.2], lattice = [6, 4, 4] } }
material = { young = "100 kPa", poisson = 0.4, density = 1000 }

[[body.handle]]
name = "wall"
where = { side = "x-min" }
pin = true
SCENE
}
