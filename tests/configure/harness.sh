# Sourced by the tests of the configuration.
#   $1  cmake     $2  the sources     $3  a folder for the results     $4  the compiler
set -u
cmake=$1 sources=$2 folder=$3 compiler=$4
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 99

# configure NAME ARGUMENTS...: the project into the folder NAME; its output goes to NAME.log.
configure() {
  local name=$1
  shift
  "$cmake" -S "$sources" -B "$name" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" "$@" >"$name.log" 2>&1 && return
  echo "FAILED: the configuration $*" >&2
  tail -n 40 "$name.log" >&2
  exit 1
}

# has NAME TARGET / lacks NAME TARGET: whether the configuration would build the target.
has() { ninja -C "$1" -t query "$2" >/dev/null 2>&1 || { echo "FAILED: $1 has no target $2" >&2; exit 1; }; }
lacks() { ! ninja -C "$1" -t query "$2" >/dev/null 2>&1 || { echo "FAILED: $1 has the target $2" >&2; exit 1; }; }
