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

# A second run gets a directory of its own; where one is named, an existing run is not touched without --overwrite.
sha256sum runs/bar/* runs/bar/frames/* >before 2>/dev/null
for number in 2 3; do
  expect 0 "$lope" run bar.toml --set time.duration=0.1
  says "runs/bar holds an earlier run, so this one goes into runs/bar-$number"
  says "5 frames in runs/bar-$number/frames"
  exists runs/bar-$number/checkpoint.h5
done
# --resume goes on with the newest of them, and says so.
expect 0 "$lope" run bar.toml --resume --set time.duration=0.2
says "runs/bar-3 is the newest of 3 runs of this scene"
says "9 frames in runs/bar-3/frames"
refused_run() {
  expect 1 "$lope" run bar.toml --set time.duration=0.1 -o runs/bar
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
expect 0 "$lope" run bar.toml --resume --set time.duration=0.2
says "runs/bar is the newest of 3 runs of this scene"
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

# What is not of a run is never replaced: the user's scene file, a folder of that name.
mkdir -p own/obj && cp bar.toml own/scene.toml && echo mesh >own/obj/mesh.obj
in_own() { (cd own && "$lope" "$@"); }
for how in "" --overwrite; do
  expect 1 in_own run scene.toml -o . $how
  complains "a run in . would replace this scene file"
  expect 1 in_own run ../bar.toml -o . $how
  complains "./obj is there already and is not of a run"
done
cmp -s bar.toml own/scene.toml || fail "the user's scene file was replaced"
[ "$(cat own/obj/mesh.obj)" = mesh ] || fail "the user's folder was replaced"
absent own/run.lock
expect 1 "$lope" run again/scene.toml -o again --overwrite
complains "would replace this scene file"

# Going on: what is simulated stays what it was; how it is solved and written may change.
cp -r runs/bar-2 changed
resumed() { "$lope" run bar.toml -o changed --resume --set time.duration="$1" "${@:2}"; }
expect 1 resumed 0.2 --set 'body.bar.material.young=200 kPa'
complains "body.bar.material.young is 200000.0 and was 100000.0: what is simulated cannot change"
[ "$(grep -c . err)" -eq 1 ] || fail "not one line about a changed material"
expect 1 resumed 0.2 --set 'gravity=[0, -1, 0]'
complains "gravity is [0.0, -1.0, 0.0] and was [0.0, -9.80665, 0.0]"
expect 1 resumed 0.2 --set 'time.step=10 ms'
complains "time.step cannot change"
sed 's/name = "bar"/name = "rod"/' bar.toml >rod.toml
expect 1 "$lope" run rod.toml -o changed --resume
complains "body.rod.name is"
expect 0 resumed 0.2 --method newton --threads 1 --set solver.relative_accuracy=1e-5 --set 'output.fields=["speed"]'
expect 0 "$lope" run bar.toml --set 'body.bar.shape.box.size=[1, 0.3, 0.2]' --set time.duration=0.2 -o thick
cp thick/checkpoint.h5 changed/checkpoint.h5
expect 1 resumed 0.5
complains "changed/checkpoint.h5: is the state of another body 'bar'"

# A project with a mesh file can be moved, and the file must stay what it was.
mkdir -p project/meshes
printf 'MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra\n1\n1 2 3 4 0\nEnd\n' \
  >project/meshes/one.mesh
printf '[time]\nduration = 0.1\n[output]\nformats = []\n[[body]]\nname = "one"\nshape = { mesh = "meshes/one.mesh" }\n' >project/one.toml
expect 0 "$lope" run project/one.toml -o project/runs/one
grep -q '"../../meshes/one.mesh"' project/runs/one/scene.toml || fail "the run does not name its mesh by the way from it"
mv project moved
expect 0 "$lope" run moved/runs/one --resume --set time.duration=0.2
expect 0 "$lope" run moved/one.toml -o moved/runs/one --resume --set time.duration=0.3
sed -i 's/^0 0 1 0/0 0 1.1 0/' moved/meshes/one.mesh
expect 1 "$lope" run moved/runs/one --resume --set time.duration=0.4
complains "is the state of another body 'one': its mesh"

# A frame that is gone is told.
cp -r runs/bar-2 gap && rm gap/frames/frame_000001.lope gap/frames/frame_000002.lope
expect 0 "$lope" export gap --format ply
complains "warning: gap/frames: frames are missing: 1 to 2"
says "3 frames in gap/ply"
! with render || expect 0 "$lope" render gap --frame 3 --size 32x32 --samples 1
! with render || complains "frames are missing: 1 to 2"

# Frames keep their distance.
expect 1 "$lope" run runs/bar --resume --set time.duration=1 --set time.frame_rate=20
complains "time.frame_rate cannot change when a run goes on"
cmp runs/bar/checkpoint.h5 again/checkpoint.h5 || fail "a refused run changed the checkpoint"

# Statistics that are not finite, by name or as older runs have them, leave gaps in the plots and no more.
if with render; then
  cp -r runs/bar gaps
  sed -i -e '3s/"elastic":[^,]*,/"elastic":"nan",/' -e '4s/"kinetic":[^,}]*/"kinetic":"inf"/' \
    -e '5s/"measure":[^,]*,/"measure":null,/g' gaps/stats.jsonl
  cmp -s runs/bar/stats.jsonl gaps/stats.jsonl && fail "the statistics were not changed"
  expect 0 "$lope" render gaps --plots
  for plot in convergence energy momentum performance; do exists gaps/pictures/$plot.png; done
  sed -i '6s/"step":/"stop":/' gaps/stats.jsonl
  expect 1 "$lope" render gaps --plots
  complains "gaps/stats.jsonl:6: not statistics of a step"
fi

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
