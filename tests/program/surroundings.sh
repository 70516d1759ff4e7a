# Surroundings that do not help: threads and memory that are not to be had, other runs, disks, signals.
. "$(dirname "$0")/harness.sh"
write_bar

# Threads that the system does not give: fewer of them, or one line and exit code 3, never an abort. Root is not held by the
# limit on processes; the address sanitizer does not start within a limit on memory.
chmod 777 .
another_user() { setpriv --reuid=65534 --clear-groups "$@"; }
limited_processes() { # COUNT COMMAND...
  local count=$1
  shift
  if [ "$(id -u)" -eq 0 ]; then another_user prlimit --nproc="$count" "$@"; else prlimit --nproc="$count" "$@"; fi
}
if [ "$(id -u)" -ne 0 ] || another_user test -r bar.toml -a -x "$lope" 2>err; then
  expect 3 limited_processes 3 "$lope" run bar.toml --threads 64 -o no_threads
  complains "the system gives no more threads"
  [ "$(grep -c . err)" -eq 1 ] || fail "not one line of error without threads"
  if [ "$(id -u)" -eq 0 ]; then
    expect 0 limited_processes 12 "$lope" run bar.toml --threads 64 -o few_threads
    complains "the system does not give 64 threads; going on with"
  fi
fi
limited_memory() { (ulimit -v "$1"; shift; exec "$@"); }
if ! grep -q __asan_init "$lope"; then
  for kilobytes in 160000 200000 250000 400000; do
    limited_memory $kilobytes "$lope" run bar.toml --threads 64 -o memory --overwrite >out 2>err
    status=$?
    case $status in
      0 | 3) ;;
      127) grep -q "shared" err || fail "exit code 127 within $kilobytes kB" ;; # too little for the libraries
      *) fail "exit code $status within $kilobytes kB" ;;
    esac
  done
fi
finish
