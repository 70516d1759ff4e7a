// A kind of matter of one's own in scene files: chains of springs, one of which flows (chain.h), with their words (chain_kind.h).
// The library has never heard of them; steps, contact, files, checkpoints and statistics are its own.
//
// Sample run: own_matter runs/chain
#include <lope/scene/run.h>

#include <algorithm>

#include "chain_kind.h"

namespace {

constexpr const char* text = R"(
[time]
step = "20 ms"
duration = "1 s"

[output]
formats = []
fields = ["strain"]

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

[[obstacle]]
name = "ball"
shape = { sphere = { center = [0.3, -0.5, 0], radius = 0.2 } }
)";

int give_up(const lope::Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const lope::chain::ChainKind kind;
  lope::scene::add_kind(kind);  // before anything is done with scenes

  const auto scene = lope::scene::load_scene_text(text, "rope.toml");
  if (!scene) return give_up(scene.error());
  auto model = lope::scene::build_model(*scene);
  if (!model) return give_up(model.error());

  lope::scene::RunOptions options;
  options.directory = argc > 1 ? argv[1] : "runs/rope";
  options.overwrite = true;
  double longest = 0;
  options.on_step = [&](const lope::scene::RunProgress& progress) {
    const double* length = progress.report.bodies[0].find<double>("longest_link");
    longest = std::max(longest, *length);
    if (progress.report.step % 10 == 0)
      fmt::print("t = {:.2f} s: the longest link is {:.3f} m\n", progress.report.time, *length);
  };
  const auto summary = lope::scene::run_scene(*scene, std::move(*model), options);
  if (!summary) return give_up(summary.error());
  fmt::print("{} steps, {} frames in {}\n", summary->steps, summary->frames,
             (options.directory / "frames").string());
  return summary->unconverged_steps.empty() && longest > 0.2 ? 0 : 1;
}
