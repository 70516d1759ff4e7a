# `lope compare`: methods side by side on the steps of one trajectory.
. "$(dirname "$0")/harness.sh"
write_bar

expect 0 "$lope" compare bar.toml --methods newton,newton-pcg --steps 5 -o result
says "newton-pcg"
says "5 of 5 steps"
says "PASS"
for file in comparison.json scene.toml newton.json newton-pcg.json; do exists "result/$file"; done
if with render; then
  for file in convergence.png convergence.svg steps.png; do exists "result/$file"; done
fi
absent result/trajectory
grep -q '"peak_memory_bytes"' result/comparison.json || fail "no memory in comparison.json"

expect 0 "$lope" compare bar.toml --methods newton --steps 2 --keep-trajectory -q -o kept
exists kept/trajectory/state_000002.h5
[ ! -s err ] || fail "--quiet is not quiet"

# Not converged is never called success.
expect 2 "$lope" compare bar.toml --methods newton-pcg --steps 3 --set solver.max_iterations=1 --set solver.relative_accuracy=1e-9 -o capped
says "NOT CONVERGED"
says "first step"

refused "'nwton'" "did you mean 'newton'" -- "$lope" compare bar.toml --methods nwton
refused "'autt'" "did you mean 'auto'" -- "$lope" compare bar.toml --reference autt
refused "20 steps, not 30" -- "$lope" compare bar.toml --steps 30
refused "only 3 steps" -- "$lope" compare bar.toml --steps 3 --history 4
cat >water.toml <<'SCENE'
[liquid]
resolution = 8
[[body]]
kind = "liquid"
shape = { box = { size = [1, 1, 1] } }
SCENE
refused "water: there is nothing to compare" "this scene has none" -- "$lope" compare water.toml
sed 's/side = "x-min"/all = true/' bar.toml >held.toml
refused "held: there is nothing to compare" "every vertex here is held" -- "$lope" compare held.toml
refused "no_such.toml" -- "$lope" compare no_such.toml
absent comparisons
finish
