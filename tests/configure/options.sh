# Every part that can be left out, left out.
. "$(dirname "$0")/harness.sh"
configure no_render -DLOPE_RENDER=OFF
has no_render bin/lope
has no_render bin/test_scene
lacks no_render bin/test_render
lacks no_render bin/lope-bench
configure no_bench -DLOPE_BUILD_BENCH=OFF
has no_bench bin/lope
has no_bench bin/test_verification
lacks no_bench bin/lope-bench
lacks no_bench bin/bench_kernels
configure bare -DLOPE_RENDER=OFF -DLOPE_BUILD_BENCH=OFF -DLOPE_BUILD_TESTS=OFF
has bare bin/lope
lacks bare bin/test_scene
