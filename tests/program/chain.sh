# A kind of matter from outside the program goes through all its commands.
. "$(dirname "$0")/harness.sh"
cat >chain.toml <<'SCENE'
[time]
step = "20 ms"
duration = "0.4 s"

[output]
formats = []
fields = ["strain", "speed"]

[[body]]
name = "rope"
kind = "chain"
nodes = [[0, 0, 0], [0.2, 0, 0], [0.4, 0, 0], [0.6, 0, 0], [0.8, 0, 0]]
node_mass = 0.1
stiffness = 200
plastic_link = 0
yield = 0.02
[[body.handle]]
name = "top"
where = { nearest = [0, 0, 0] }
pin = true

[[body]]
name = "block"
shape = { box = { min = [0.2, -1, -0.1], max = [0.4, -0.8, 0.1], lattice = [3, 3, 3] } }
SCENE

# What a scene may say of it, and may not.
expect 0 "$lope" reference
says '`[[body]]` with `kind = "chain"`'
says 'The strain from which on it flows.'
says '"plastic_link"'
expect 0 "$lope" check chain.toml
says "chain 'rope': 5 nodes, 1 of them scripted"
says "96 unknowns, 20 steps, 21 frames"
refused "'edge': has no meaning for a chain" -- "$lope" check chain.toml --set body.rope.edge=0.1
refused "body.0.plastic_link: there are 4 links" -- "$lope" check chain.toml --set body.rope.plastic_link=9
refused "nothing in the scene has a field \"cells\"" -- "$lope" check chain.toml --set 'output.fields=["cells"]'

# A run, and the same bits from a checkpoint half-way.
expect 0 "$lope" run chain.toml -o whole
expect 0 "$lope" run chain.toml -o parts --set time.duration=0.2
expect 0 "$lope" run parts --resume --set time.duration=0.4
for number in 000011 000020; do
  cmp -s whole/frames/frame_$number.lope parts/frames/frame_$number.lope || fail "frame $number of the resumed run differs"
done
[ "$(grep -c '"kind":"chain"' whole/stats.jsonl)" -eq 20 ] || fail "stats.jsonl does not hold the chain in every step"
grep -q '"longest_link":0.2[0-9]' whole/stats.jsonl || fail "stats.jsonl does not hold what the chain reports"
tail -n 1 whole/stats.jsonl | grep -q '"longest_link":0.2,' && fail "the plastic link has not flowed"

expect 0 "$lope" compare chain.toml --methods newton,newton-pcg --steps 4 -o compared
says "PASS"

if with render; then
  expect 0 "$lope" render whole --frame 12 --size 160x90 --samples 8
  exists whole/pictures/frame_000012.png
  cp whole/pictures/frame_000012.png plain.png
  expect 0 "$lope" render whole --frame 12 --size 160x90 --samples 8 --color-by strain
  cmp -s plain.png whole/pictures/frame_000012.png && fail "the strain is not shown"
  expect 1 "$lope" render whole --frame 12 --size 160x90 --color-by pressure
  complains "no field 'pressure'"
  expect 0 "$lope" render whole --plots
  exists whole/pictures/energy.png
fi
for format in vtu ply obj; do
  expect 0 "$lope" export whole --format $format
  says "21 frames in whole/$format"
done
exists whole/vtu/whole_000020_1_rope.vtu
grep -aq 'Name="strain"' whole/vtu/whole_000020_1_rope.vtu || fail "the VTU file has no strain"
exists whole/ply/whole_rope_000020.ply
grep -q '^o rope' whole/obj/whole_000020.obj || fail "the OBJ file has no object 'rope'"
grep -q '^p ' whole/obj/whole_000020.obj || fail "the OBJ file has no points"
expect 1 "$lope" export whole --format vdb
complains "no volume in space"

finish
