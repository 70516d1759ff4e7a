# Ctrl-C and a full disk: the checkpoint stands, the message says how to go on, and going on gives the same bytes.
. "$(dirname "$0")/harness.sh"
write_bar
long=(--set time.duration=5)
expect 0 "$lope" run bar.toml "${long[@]}" -o straight

same_as_straight() {
  cmp straight/checkpoint.h5 "$1/checkpoint.h5" || fail "$1 ended in another state"
  diff -rq straight/frames "$1/frames" >out || fail "$1 has other frames"
  [ "$(wc -l <"$1/stats.jsonl")" -eq 200 ] || fail "$1 does not have the statistics of every step"
}

# Many steps, so that the signal always comes in time; stopped as soon as the first frames are there.
interrupted() { # SIGNAL STATUS DIRECTORY
  local status
  # HUP is on whatever started the tests. No checkpoint is there before the signal.
  env --default-signal=HUP "$lope" run bar.toml --set time.duration=5000 --set output.fields=[] \
    --set output.checkpoint_every=1000000 -o "$3" >out 2>err &
  local job=$!
  for _ in $(seq 600); do
    [ -e "$3/frames/frame_000003.lope" ] && break
    sleep 0.05
  done
  # Nobody else may write there meanwhile; looking is free.
  for how in --resume --overwrite; do
    "$lope" run bar.toml --set time.duration=0.1 -o "$3" $how >second_out 2>second_err
    [ $? -eq 1 ] || fail "a second run in the directory is not refused ($how)"
    grep -q "$3: another run is going on there" second_err || fail "no word about the other run ($how): $(cat second_err)"
  done
  "$lope" export "$3" --format ply >second_out 2>second_err || fail "a run that goes on cannot be exported: $(cat second_err)"
  kill "-$1" "$job"
  wait "$job"
  status=$?
  [ "$status" -eq "$2" ] || fail "exit code $status instead of $2 after $1"
  complains "Stopping;"
  says "Interrupted"
  says "lope run $3 --resume"
  exists "$3/checkpoint.h5"
  [ -z "$(find "$3" -name '*.part')" ] || fail "temporary files are left"
}
interrupted INT 130 broken
steps=$(wc -l <broken/stats.jsonl)
[ "$steps" -ge 3 ] || fail "only $steps steps before the interruption"
expect 0 "$lope" run broken --resume --set time.duration="$(((steps + 40) / 40 + 1))"
[ "$(wc -l <broken/stats.jsonl)" -gt "$steps" ] || fail "the resumed run took no step"
interrupted TERM 143 ended
interrupted HUP 129 closed

# A movie that is not finished leaves nothing, and what was there before stays.
if with render; then
  mkdir -p ended/pictures && echo before >ended/pictures/movie.mp4
  "$lope" render ended --movie --size 640x360 --samples 64 >out 2>err &
  job=$!
  for _ in $(seq 600); do
    [ -e ended/pictures/movie.mp4.part ] && break
    sleep 0.05
  done
  kill -INT "$job"
  wait "$job"
  status=$?
  [ "$status" -eq 130 ] || fail "exit code $status instead of 130 after Ctrl-C in a movie"
  complains "Stopping;"
  absent ended/pictures/movie.mp4.part
  [ "$(cat ended/pictures/movie.mp4)" = before ] || fail "the earlier movie is gone"
fi

# The same with a known number of steps: stopped after some, resumed to the end of `straight`.
expect 0 "$lope" run bar.toml --set time.duration=1 -o split
expect 0 "$lope" run bar.toml "${long[@]}" -o split --resume
same_as_straight split

# A write that fails (here by a limit on the size of files; a full disk is the same to the program): exit code 3, the
# message names the file, and what was written before can be gone on from.
limited() { (ulimit -f "$1"; shift; exec "$@"); }
expect 3 limited 64 "$lope" run bar.toml "${long[@]}" -o full
complains "full/stats.jsonl: cannot be written"
exists full/checkpoint.h5
expect 0 "$lope" run full --resume
same_as_straight full

# A folder that cannot be made.
: >file
expect 3 "$lope" run bar.toml -o file/run
complains "file/run"
finish
