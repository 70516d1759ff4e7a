# Installs a build, then uses what was installed: the package from another project, and the program.
#   $1  cmake     $2  the build folder     $3  the sources of the consumer     $4  a folder for the results     $5  those of examples/cpp
set -eu
rm -rf "$4"
mkdir -p "$4"
prefix=$4/prefix
"$1" --install "$2" --prefix "$prefix" >"$4/install.log"
"$1" -S "$3" -B "$4/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_FLAGS="${LOPE_CONSUMER_FLAGS:-}" >"$4/configure.log"
"$1" --build "$4/build" >"$4/build.log" || { cat "$4/build.log"; exit 1; }
"$4/build/consumer"

# The examples of docs/api.md, as a user builds them; each looks at its own result.
"$1" -S "$5" -B "$4/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror ${LOPE_CONSUMER_FLAGS:-}" >"$4/examples.log"
"$1" --build "$4/examples" >>"$4/examples.log" || { cat "$4/examples.log"; exit 1; }
for example in "step_scene" "own_objective 32" own_material "own_matter ../rope"; do
  (cd "$4/examples" && echo "--- $example" && ./$example) || { echo "FAILED: $example"; exit 1; }
done
test -s "$4/rope/frames/frame_000010.lope"

# The program finds the scenes that were installed with it, from any folder.
cd "$4"
prefix/bin/lope scenes >scenes.txt
grep -q '^flagship' scenes.txt
prefix/bin/lope run cantilever_2d --set body.beam.edge="5 cm" --set time.duration="0.1 s" --quiet
test -s runs/cantilever_2d/checkpoint.h5
prefix/bin/lope completion | cmp - prefix/share/bash-completion/completions/lope
ls prefix/share/man/man1/lope.1* >/dev/null
test ! -e "$2/bin/lope-bench" -o -e prefix/bin/lope-bench
grep -rlF "$2" prefix/lib/cmake prefix/include && { echo "the package names the build folder"; exit 1; }
exit 0
