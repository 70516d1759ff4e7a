# Running a scene: what is left behind, what is refused, what the exit codes say.
. "$(dirname "$0")/harness.sh"
write_bar

expect 0 "$lope" run bar.toml
says "20 steps"
says "21 frames in runs/bar/frames"
for file in scene.toml stats.jsonl checkpoint.h5 log.txt frames/topology.lope frames/frame_000020.lope; do
  exists "runs/bar/$file"
done
[ "$(wc -l <runs/bar/stats.jsonl)" -eq 20 ] || fail "stats.jsonl does not have one line per step"
[ -z "$(find runs -name '*.part')" ] || fail "temporary files are left"

# An existing run is not touched without --overwrite.
sha256sum runs/bar/* runs/bar/frames/* >before 2>/dev/null
refused_run() {
  expect 1 "$lope" run bar.toml --set time.duration=0.1
  complains "runs/bar already holds a run"
  complains "--overwrite"
  complains "--resume"
}
refused_run
sha256sum --quiet -c before >/dev/null 2>&1 || fail "a refused run changed files"
mkdir -p runs/bar/pictures && : >runs/bar/pictures/old.png
expect 0 "$lope" run bar.toml --set time.duration=0.1 --overwrite
[ "$(ls runs/bar/frames | grep -c frame_)" -eq 5 ] || fail "--overwrite left frames of the earlier run"
absent runs/bar/pictures
expect 0 "$lope" run bar.toml -o elsewhere/deep --quiet --set 'output.formats=["vtu"]'
[ ! -s out ] || fail "--quiet prints"
exists elsewhere/deep/checkpoint.h5

# The resolved scene is complete: it gives the same run.
expect 0 "$lope" run elsewhere/deep/scene.toml -o again
cmp elsewhere/deep/checkpoint.h5 again/checkpoint.h5 || fail "the resolved scene gives another run"

# A longer duration goes on where the run ended, and is remembered.
expect 0 "$lope" run runs/bar --resume --set time.duration=0.5
cmp runs/bar/checkpoint.h5 again/checkpoint.h5 || fail "a prolonged run differs from a run in one go"
grep -q '^duration = 0.5' runs/bar/scene.toml || fail "the prolonged duration is not in scene.toml"

# Frames keep their distance.
expect 1 "$lope" run runs/bar --resume --set time.duration=1 --set time.frame_rate=20
complains "time.frame_rate cannot change when a run goes on"
cmp runs/bar/checkpoint.h5 again/checkpoint.h5 || fail "a refused run changed the checkpoint"

# Statistics that are not finite, by name or as older runs have them, leave gaps in the plots and no more.
cp -r runs/bar gaps
sed -i -e '3s/"elastic":[^,]*,/"elastic":"nan",/' -e '4s/"kinetic":[^,}]*/"kinetic":"inf"/' \
  -e '5s/"measure":[^,]*,/"measure":null,/g' gaps/stats.jsonl
cmp -s runs/bar/stats.jsonl gaps/stats.jsonl && fail "the statistics were not changed"
expect 0 "$lope" render gaps --plots
for plot in convergence energy momentum performance; do exists gaps/pictures/$plot.png; done
sed -i '6s/"step":/"stop":/' gaps/stats.jsonl
expect 1 "$lope" render gaps --plots
complains "gaps/stats.jsonl:6: not statistics of a step"

# An accuracy that is not reached is said loudly.
expect 2 "$lope" run bar.toml --set solver.max_iterations=1 --set solver.relative_accuracy=1e-9 -o capped
complains "warning: step 1, body 'bar': not converged after 1 iterations"
complains "NOT CONVERGED"
complains "first step 1"
says "20 steps"
for method in dot lbfgs-h lbfgs-pd; do
  expect 2 "$lope" run bar.toml --method $method --set solver.max_iterations=1 --set solver.relative_accuracy=1e-9 \
    -o capped_$method
  complains "warning: step 1, body 'bar': not converged after 1 iterations"
done
grep -q "NOT CONVERGED" capped/log.txt || fail "the log does not say that the run did not converge"

# A body that is left tangled is named, although every step converged.
expect 0 "$lope" run torture_point --set 'body.cube.shape.box.lattice=[5, 5, 5]' --set time.duration=0.2 -o tangled
complains "body 'cube' ends tangled"
if grep -q tangled runs/bar/log.txt; then fail "a sound body is called tangled"; fi

# Plain Newton does not solve a torture, and says so.
expect 2 "$lope" run torture_random --method newton-raw --set 'body.cube.shape.box.lattice=[5, 5, 5]' \
  --set time.duration=0.1 --set solver.max_iterations=30 -o raw
complains "NOT CONVERGED"
finish
