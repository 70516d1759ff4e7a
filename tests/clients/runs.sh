# What other programs are to open: three short runs in every format that holds them, and what is in their frames (expected.json).
#   $1  the program     $2  the folder of the results     $3  python3     $4  the sources
set -eu
lope=$(realpath "$1")
sources=$(realpath "$4")
rm -rf "$2" && mkdir -p "$2" && cd "$2"

# A solid with inside vertices, cloth with texture coordinates, an obstacle that moves.
cat >mixed.toml <<'SCENE'
[time]
step = "1/24 s"
duration = "0.25 s"
[output]
formats = []
fields = ["velocity", "von_mises", "stress"]
[[body]]
name = "bar"
shape = { box = { size = [0.6, 0.2, 0.2], lattice = [7, 3, 3] } }
material = { young = "50 kPa", poisson = 0.4, density = 1000 }
velocity = [0, 0, 1.5]
color = "coral"
[[body.handle]]
where = { side = "x-min" }
pin = true
[[body]]
name = "sheet"
kind = "cloth"
contact = false
shape = { rectangle = { size = [0.5, 0.4] } }
edge = "8 cm"
transform = { translate = [0, 0.8, 0.5] }
[[body.handle]]
where = { side = "y-max" }
pin = true
[[obstacle]]
name = "ram"
shape = { sphere = { radius = 0.1, center = [1, 0, 0] } }
move = { velocity = [0.5, 0, 0] }
SCENE
cat >water.toml <<'SCENE'
[time]
step = "1/24 s"
duration = "0.125 s"
[output]
formats = []
fields = ["velocity", "cells"]
[liquid]
resolution = 16
[[body]]
name = "column"
kind = "liquid"
shape = { box = { min = [0, 0, 0], max = [0.4, 0.5, 0.4] } }
[[obstacle]]
name = "tank"
shape = { box = { min = [0, 0, 0], max = [0.8, 0.8, 0.4] } }
inside = true
SCENE
cat >snow.toml <<'SCENE'
[time]
step = "1/48 s"
duration = "0.0625 s"
[output]
formats = []
fields = ["velocity", "plastic"]
[mpm]
cell = "3 cm"
[[body]]
name = "ball"
kind = "mpm"
shape = { sphere = { center = [0, 0.15, 0], radius = 0.1 } }
material = "snow"
velocity = [1, -2, 0]
[[obstacle]]
name = "floor"
shape = { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }
SCENE
export_as() { "$lope" export "$1" --format "$2" "${@:3}" >/dev/null; }
for run in mixed water snow; do
  "$lope" run $run.toml -o $run --quiet
  for format in vtu ply obj usd gltf; do export_as $run $format; done
done
for format in pc2 mdd; do export_as mixed $format; done
for run in water snow; do export_as $run bgeo; done
export_as water vdb
export_as mixed usd --up z --scale 100 -o mixed/usd_z
export_as mixed ply --up z -o mixed/ply_z
"$3" "$sources/tests/clients/expected.py" "$sources" .
