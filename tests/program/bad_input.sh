# Every kind of bad input: one line that names the culprit and says what to do, exit code 1, nothing created.
. "$(dirname "$0")/harness.sh"
write_bar

# The scene
refused "'nowhere.toml'" "lope scenes" -- "$lope" run nowhere.toml
refused "did you mean 'flagship'" -- "$lope" run flagshp
refused "is a directory" -- "$lope" run .
: >empty.toml
refused "empty.toml:1:1" "[[body]]" -- "$lope" run empty.toml
echo 'shape = { box' >syntax.toml
refused "syntax.toml:1:14" "TOML" -- "$lope" run syntax.toml
sed 's/material/matrial/' bar.toml >typo.toml
refused "typo.toml:11:1" "matrial" "did you mean 'material'" -- "$lope" run typo.toml
sed 's/100 kPa/5 m/' bar.toml >unit.toml
refused "unit.toml:11" "young" "is a length; expected a pressure" -- "$lope" run unit.toml
sed 's/density = 1000/density = 0/' bar.toml >weightless.toml
refused "weightless.toml:11" "density" "greater than 0" -- "$lope" run weightless.toml
sed 's/poisson = 0.4/poisson = 0.5/' bar.toml >incompressible.toml
refused "incompressible.toml:11" "poisson" -- "$lope" run incompressible.toml
sed 's/side = "x-min"/sphere = { center = [9, 9, 9], radius = 0.1 }/' bar.toml >nothing.toml
refused "nothing.toml:15" "chooses no vertex" "move or enlarge" -- "$lope" run nothing.toml
refused "body.bar.edgee" "did you mean 'edge'" -- "$lope" run bar.toml --set body.bar.edgee=1
refused "--set nonsense" "path.to.key=value" -- "$lope" run bar.toml --set nonsense
refused "output.formats" "vdb" "there is none" -- "$lope" run bar.toml --set 'output.formats=["vdb"]'
refused "did you mean 'newton'" -- "$lope" run bar.toml --method newtn

# Names become file names
for name in ../../x a/b .hidden 'back\\slash' 'line\nbreak' 'nul\u0000' '' "$(printf 'n%.0s' {1..5000})"; do
  printf '[scene]\nname = "%s"\n' "$name" | cat - bar.toml >named.toml
  refused "named.toml:2:8: scene.name" "file name" -- "$lope" run named.toml
  sed "s|name = \"bar\"|name = \"${name//\\/\\\\}\"|" bar.toml >named.toml
  refused "named.toml:9:8: body.0.name" "file name" -- "$lope" run named.toml
done
refused "--set scene.name=../../x" "file name" -- "$lope" run bar.toml --set scene.name=../../x
sed 's/formats = \[\]/directory = "a\\nb"/' bar.toml >named.toml
refused "named.toml:6:13: output.directory" "file name" -- "$lope" run named.toml

# Nested without end
{ echo "[time]"; printf 'a.%.0s' {1..30000}; echo "a = 1"; } >dots.toml
refused "dots.toml:2:64: a key of more than 32 parts" -- "$lope" run dots.toml
{ printf '['; printf 'a.%.0s' {1..50000}; echo "a]"; } >header.toml
refused "header.toml:1:65: a key of more than 32 parts" -- "$lope" check header.toml
{ printf 'gravity = '; printf '[%.0s' {1..50000}; echo; } >brackets.toml
refused "brackets.toml:1:75: more than 64 brackets" -- "$lope" check brackets.toml

# Too much of something: told at once, with the number and what to change
for duration in 1e18 1e300 1e9; do
  refused "time.duration" "steps of 0.025 s" "at most 1e+09" -- "$lope" run bar.toml --set time.duration=$duration
  refused "time.duration" -- "$lope" check bar.toml --set time.duration=$duration
done
expect 0 "$lope" check bar.toml --set time.duration=2.4e7 --set 'body.bar.shape.box.lattice=[21, 5, 5]'
says "TB for frames"
says "warning: the 960000001 frames need about"
refused "body.0.copies.count" "1000000 copies are too many" -- \
  "$lope" run bar.toml --set body.bar.copies.count='[100, 100, 100]' --set body.bar.copies.spacing='[2, 2, 2]'
refused_soon() { # as refused, not after minutes
  local pieces=()
  while [ "$1" != -- ]; do pieces+=("$1"); shift; done
  shift
  refused "${pieces[@]}" -- timeout 60 "$@"
}
printf '[[body]]\nshape = { box = { size = [10, 10, 10] } }\nedge = 1e-3\n' >fine.toml
refused_soon "fine.toml:2" "vertices" "edge" -- "$lope" run fine.toml
printf '[[body]]\nshape = { gyroid_ball = { radius = 1, period = 0.5 } }\nedge = 1e-3\n' >fine.toml
refused_soon "fine.toml:2" "vertices" "edge" -- "$lope" check fine.toml
printf '[[body]]\nshape = { box = { size = [1, 1, 1], lattice = [17, 17, 17] } }\ncopies = { count = [20, 20, 20], spacing = [3, 3, 3] }\n' >many.toml
refused_soon "many.toml:1" "8000 bodies" "fewer copies" -- "$lope" check many.toml
printf '[liquid]\nresolution = 4096\n[[body]]\nkind = "liquid"\nshape = { box = { size = [1, 1, 1] } }\n' >wet.toml
refused_soon "wet.toml:2" "liquid.resolution" "6.87e+10 cells of liquid" "smaller resolution" -- "$lope" run wet.toml

# Meshes
with_mesh() { printf '[[body]]\nname = "thing"\nedge = 0.2\nshape = { mesh = "%s" }\n' "$1" >"$1.toml"; }
with_mesh missing.msh
refused "missing.msh.toml:4" "'thing'" "missing.msh: no such file" -- "$lope" run missing.msh.toml
printf 'v 0 0 0\nv 1 0 0\nv 0 nan 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' >nan.obj
with_mesh nan.obj
refused "nan.obj:3" "coordinate" "finite" -- "$lope" run nan.obj.toml
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n' >open.obj
with_mesh open.obj
refused "open.obj" "the surface is open" "close the hole" -- "$lope" run open.obj.toml
tetrahedra() { # APEX ELEMENT
  printf 'MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n%s 0\n1 1 1 0\n' "$1"
  printf 'Tetrahedra\n2\n1 2 3 4 0\n%s 0\nEnd\n' "$2"
}
tetrahedra "0 0 1" "2 4 3 5" >inverted.mesh
with_mesh inverted.mesh
refused "inverted.mesh" "tetrahedron 1" "is inverted" "repair" -- "$lope" run inverted.mesh.toml
refused "tetrahedron 1" "is inverted" -- "$lope" check inverted.mesh.toml
tetrahedra "0.5 0.5 0" "2 3 4 5" >flat.mesh
with_mesh flat.mesh
refused "flat.mesh" "tetrahedron 0" "volume is 0" -- "$lope" run flat.mesh.toml
tetrahedra "0 0 1" "2 3 4 9" >stray.mesh
with_mesh stray.mesh
refused "stray.mesh:13" "9" -- "$lope" run stray.mesh.toml
tetrahedra "0 0 1" "2 3 4 5" >whole.mesh
expect 0 "$lope" mesh whole.mesh -o whole.msh
says "2 tetrahedra"
head -c 400 whole.msh >cut.msh
with_mesh cut.msh
refused "cut.msh:" "truncated" -- "$lope" run cut.msh.toml
head -c 100000 /dev/zero >zeros.stl
with_mesh zeros.stl
refused "zeros.stl" -- "$lope" run zeros.stl.toml
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n' >closed.obj
refused_soon "closed.obj" "vertices" "larger edge" -- "$lope" mesh closed.obj -o closed.msh --edge 1e-4
refused "open.obj" "close the hole" -- "$lope" mesh open.obj -o closed.msh --edge 0.2
absent closed.msh

# The command line
refused "no command 'rum'" "did you mean 'run'" -- "$lope" rum
refused "scene is required" "lope run --help" -- "$lope" run
refused "--threads" "4096" -- "$lope" run bar.toml --threads -3
refused "--overwrite" "--resume" -- "$lope" run bar.toml --overwrite --resume
refused "no checkpoint" "leave out --resume" -- "$lope" run bar.toml --resume
! with render || refused "holds no frames" -- "$lope" render nowhere
refused "holds no frames" -- "$lope" export nowhere
! with bench || refused "no benchmark 'nothing'" "lope bench" -- "$lope" bench nothing
! with bench || refused "no paper 'nothing'" "cloth" -- "$lope" bench papers nothing
! with bench || refused "belong to" -- "$lope" bench lcp dot
finish
