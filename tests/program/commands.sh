# Every other command once, and its help.
. "$(dirname "$0")/harness.sh"
write_bar

expect 1 "$lope"
says "lope scenes"
for command in "" run check compare render export view mesh scenes solvers $(with bench && echo bench); do
  expect 0 "$lope" $command --help
  says "${command:-First steps}"
  says "--help"
done
expect 0 "$lope" --version
grep -Eq '^lope [0-9]+\.[0-9]+\.[0-9]+ \((baseline|avx2|avx512) kernels\)$' out || fail "--version is not a version"

# The instruction set is chosen by the environment or by an option; nothing else runs in its place.
expect 0 env LOPE_ISA=baseline "$lope" --version
grep -q 'baseline kernels' out || fail "LOPE_ISA is not obeyed"
expect 1 env LOPE_ISA=avx1024 "$lope" --version
complains "LOPE_ISA: there is no instruction set 'avx1024'"
expect 1 "$lope" run cantilever --isa sse9 -o isa
complains "--isa: there is no instruction set 'sse9'"
expect 0 "$lope" run cantilever_2d --isa baseline --set 'body.beam.edge=5 cm' --set time.duration=0.1 -o isa
grep -q 'baseline kernels' isa/log.txt || fail "the log does not name the kernels"

expect 0 "$lope" scenes
for scene in flagship cantilever twisted_bar torture_random; do says "$scene"; done
expect 0 "$lope" solvers
for method in newton newton-pcg gast15 newton-raw; do says "$method"; done
if with bench; then
  expect 0 "$lope" bench
  says "torture"
  expect 0 "$lope" bench papers lcp
  says "Table 12"
  expect 0 "$lope" bench papers --markdown
  says "| Fig. 5.10 |"
else
  expect 3 "$lope" bench
  complains "benchmarks were not built"
fi

expect 0 "$lope" check bar.toml
says "memory"
absent runs
expect 0 "$lope" check cantilever --set body.beam.edge=0.1

# A cube as a surface, filled, converted, and simulated.
cat >cube.obj <<'OBJ'
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
OBJ
expect 0 "$lope" mesh cube.obj -o cube.msh --edge 0.5
says "tetrahedra"
exists cube.msh
for format in vtu mesh; do
  expect 0 "$lope" mesh cube.msh -o "cube.$format"
  exists "cube.$format"
  expect 0 "$lope" mesh "cube.$format"
  says "tetrahedra"
done
expect 1 "$lope" mesh cube.msh -o again.msh --edge 0.2
complains "volume mesh already"
expect 0 "$lope" run bar.toml --mesh cube.msh --set time.duration=0.05 -o cube_run

expect 0 "$lope" run bar.toml --set time.duration=0.1 -o run
for format in vtu ply obj; do
  expect 0 "$lope" export run --format "$format"
  says "5 frames in run/$format"
  [ "$(ls "run/$format" | grep -c "\.$format\$")" -eq 5 ] || fail "not five files of $format"
done
exists run/vtu/run.pvd
for format in usd gltf pc2 mdd; do expect 0 "$lope" export run --format "$format"; done
exists run/usd/run.usda
[ "$(head -c 4 run/gltf/run.glb)" = glTF ] || fail "run.glb is no binary glTF"
expect 1 "$lope" export run --format bgeo
complains "no particles"
expect 1 "$lope" export run --format gltf --up z
complains "y points up"
exists run/mdd/run_bar.obj
[ "$(stat -c %s run/pc2/run_bar.pc2)" -eq $((32 + 12 * 5 * $(grep -c '^v ' run/pc2/run_bar.obj))) ] || fail "the point cache has another size"
expect 0 "$lope" export run --format csv --up z --scale 100 --frames 1-4/3
says "2 frames in run/csv"
exists run/csv/run_bar_000004.csv
absent run/csv/run_bar_000000.csv
for frames in 4-1 1-4/0 x 1-; do
  expect 1 "$lope" export run --frames "$frames"
  complains "no range of frames"
done
refused "--format" -- "$lope" export run --format stl
expect 0 "$lope" run bar.toml --set 'output.formats=["ply"]' --set time.duration=0.1 -o exported
says "5 frames in exported/ply"

# Vectors and tensors: whole in the files, by one number in pictures.
expect 0 "$lope" run bar.toml --set 'output.formats=["vtu", "ply"]' --set time.duration=0.1 -o tensors \
  --set 'output.fields=["stress", "von_mises", "displacement", "velocity"]'
for array in 'displacement" NumberOfComponents="3' 'velocity" NumberOfComponents="3' 'stress" NumberOfComponents="6'; do
  grep -qaF "Name=\"$array" tensors/vtu/tensors_000004_0_bar.vtu || fail "no $array in the .vtu"
done
grep -qa "property float displacement_y" tensors/ply/tensors_bar_000004.ply || fail "no displacement in the .ply"
if with render; then
  draw() { "$lope" render "$1" --frame 4 --size 160x90 --samples 1 --color-by "$2" && mv "$1/pictures/frame_000004.png" "$2.png"; }
  for field in stress von_mises displacement velocity speed; do expect 0 draw tensors $field; done
  cmp -s displacement.png velocity.png && fail "displacement and velocity look the same"
  mv von_mises.png whole.png
  expect 0 draw run von_mises
  cmp whole.png von_mises.png || fail "the frames of default fields give another picture"
  expect 0 draw run stress
  cmp whole.png stress.png || fail "old words for the von Mises stress are not understood"
  expect 1 draw run displacement
  complains "no field 'displacement'; they have: body, partition"
  complains "output.fields"
fi

if with render; then
  expect 0 "$lope" render run --frame 2 --size 160x90 --samples 1
  says "run/pictures/frame_000002.png"
  exists run/pictures/frame_000002.png
  expect 0 "$lope" render run --size 160x90 --samples 1 --color-by von_mises --edges
  expect 0 "$lope" render run --frame 2 --size 160x90 --samples 1 --color-by partition
  expect 0 "$lope" render run --plots
  [ "$(ls run/pictures/*.svg | wc -l)" -ge 3 ] || fail "fewer than three plots"
  expect 0 "$lope" render run --movie --size 160x90 --samples 1
  says "movie: frame 1/"
  says " left"
  says "run/pictures/movie.mp4"
  exists run/pictures/movie.mp4
  expect 0 "$lope" render run --frame 2 --size 160x90 --by-blocks
  refused "frame" -- "$lope" render run --frame 99
  refused "--size" "1280x720" -- "$lope" render run --size big
  refused "no field 'strss'" "von_mises" -- "$lope" render run --color-by strss
else
  expect 3 "$lope" render run --frame 2
  complains "built without pictures"
  expect 3 "$lope" run bar.toml --render -o unseen
  complains "built without pictures"
  absent unseen
fi
finish
