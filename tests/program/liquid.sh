# A liquid as a user meets it: a run, its pictures and its exports, in space and in the plane.
. "$(dirname "$0")/harness.sh"

write_tank() { # FILE SHAPE-WORD MIN MAX-OF-LIQUID MAX
  cat >"$1" <<SCENE
[time]
step = "1/30 s"
duration = "0.1 s"

[liquid]
resolution = 12

[output]
formats = []
fields = ["cells"]

[[body]]
name = "column"
kind = "liquid"
shape = { $2 = { min = $3, max = $4 } }

[[obstacle]]
name = "tank"
shape = { box = { min = $3, max = $5 } }
inside = true
SCENE
}
write_tank tank.toml box "[0, 0, 0]" "[0.5, 0.6, 0.5]" "[1, 1, 0.5]"
write_tank flat.toml rectangle "[0, 0]" "[0.5, 0.6]" "[1, 1]"

expect 0 "$lope" run tank.toml
if with render; then
  expect 0 "$lope" render runs/tank --frame 3 --size 96x54 --samples 8
  exists runs/tank/pictures/frame_000003.png
  cp runs/tank/pictures/frame_000003.png water.png
  expect 0 "$lope" render runs/tank --frame 3 --size 96x54 --samples 8 --particles --color-by speed
  cmp -s water.png runs/tank/pictures/frame_000003.png && fail "particles look like water"
  expect 0 "$lope" render runs/tank --frame 3 --size 96x54 --samples 8 --color-by pressure
  expect 1 "$lope" render runs/tank --frame 3 --size 96x54 --color-by stress
  complains "no field 'stress'"
  expect 0 "$lope" render runs/tank --plots
  exists runs/tank/pictures/energy.png
fi
for format in vtu ply obj vdb; do
  expect 0 "$lope" export runs/tank --format $format
  says "4 frames in runs/tank/$format"
done
exists runs/tank/vdb/tank_liquid_000003.vdb
exists runs/tank/ply/tank_liquid_000003.ply
exists runs/tank/vtu/tank_000003_0_liquid_surface.vtu
grep -q '^f ' runs/tank/obj/tank_000003.obj || fail "the exported surface has no triangles"
[ -z "$(find runs -name '*.part')" ] || fail "temporary files are left"

expect 0 "$lope" run flat.toml
if with render; then
  expect 0 "$lope" render runs/flat --size 96x96
  expect 0 "$lope" render runs/flat --frame 2 --size 96x96 --color-by pressure
  exists runs/flat/pictures/frame_000002.png
fi
expect 0 "$lope" export runs/flat --format vtu
expect 1 "$lope" export runs/flat --format vdb
complains "no volume in space"

# What a run says of its start is in its log.
write_tank dented.toml rectangle "[0, 0]" "[0.5, 0.6]" "[1, 1]"
printf '\n[[obstacle]]\nshape = { box = { min = [0, 0], max = [0.2, 0.2] } }\n' >>dented.toml
expect 0 "$lope" run dented.toml
grep -q 'particles of its sources were left out because obstacles are there' runs/dented/log.txt ||
  fail "the log does not tell of liquid inside an obstacle"
grep -q '"kind":"liquid"' runs/dented/stats.jsonl || fail "stats.jsonl does not hold the liquid among the bodies"

# A piston in a tank that is full: no step has a solution, and everybody is told where and how much.
write_tank piston.toml rectangle "[0, 0]" "[1, 1]" "[1, 1]"
cat >>piston.toml <<'SCENE'

[[obstacle]]
name = "piston"
shape = { box = { min = [-1, -1], max = [0.1, 2] } }
move = { velocity = [0.3, 0] }
SCENE
expect 0 "$lope" check piston.toml
says "has no free surface at the start"
expect 2 "$lope" run piston.toml
complains "moving walls squeeze 0.887 m² of it that have no free surface, around (0.556, 0.5, 0), by 0.3 m²/s (33.8 % per second)"
complains "NOT CONVERGED: 3 of 3 steps"
grep -q '"squeezed_volume":0.0' runs/piston/stats.jsonl || fail "stats.jsonl does not hold the squeezed volume"

finish
