#include <papers/benchmarks.h>

#include <array>

namespace lope::bench {
namespace {

constexpr auto table = std::to_array<Benchmark>({
    {"newton-map", "OPT Fig. 1: where plain Newton converges in one step, and where gast15 does (an image)",
     newton_map},
    {"cubes", "OPT Figs. 2, 3: a stretched cube and a compressive pulse, plain Newton against gast15", cubes},
    {"torture", "OPT Figs. 6, 8: cubes from random positions and from one point (--only random,point,low,medium,high,rescue,characteristic, "
     "--size, --perturbations)",
     torture},
    {"contact", "OPT Figs. 10, 15: every scene with contact, and constraints against post-processing",
     contact},
    {"barrier", "contact that never crosses against penalties: time, iterations, crossings counted exactly (--only SCENE,…, --steps)",
     barrier},
    {"cantilever", "a cantilever under its weight converges with refinement", cantilever},
    {"time-order", "orders and energy behaviour of the time schemes", time_order},
    {"agreement", "newton and newton-pcg find the same minimiser of every step of a twisted bar", agreement},
    {"accuracy",
     "the displacement accuracy against true errors, over all scenes (--only SCENE,…, --size vertices per scene, --steps)",
     accuracy},
    {"accuracy-runs",
     "whole runs against the same with a thousandth of the error, over steps, stiffnesses and scenes (--only SCENE,…, --size, --steps)",
     accuracy_runs},
    {"reference", "the LTSS and twist scenes of the DOT program's figures (--mesh FILE)", reference_scenes},
    {"self-contact",
     "cost of self contact, 1 thousand to 1 million surface triangles (--size most, --steps repetitions)",
     self_contact},
    {"dot",
     "DOT's tables and figures (--only examples,bars,convergence,variation,subdomains,residual,memory)", dot},
    {"hot", "HOT's methods on material points (--only twist,boxes,scenes,scenes-default,stiffness,smoothers,snow,multigrid,explicit, --steps frames, --methods)", hot},
    {"lcp",
     "LCP's tables and figures: pressure with separating walls (--only "
     "frames-2d,frames-3d,sequence-2d,sequence-3d,run-2d,"
     "run-3d,run-maze,run-frames,ablation,maze,rivals,rivals-strict,convergence, --size cells per side, --steps frames of runs)",
     pressure_solvers},
    {"validation",
     "whole runs against theory, over step lengths, schemes and meshes (--only cantilever,equilibrium,step-length,slope,stop,creep,"
     "impact,bounce,spin,pendulum, --size 1: the quick ones)",
     validation},
    {"auto",
     "does auto choose well? generated shapes against the other methods (--only SHAPE,…, --size most vertices, --steps, "
     "--methods, --mesh FILE)",
     automatic_choice},
    {"cloth", "CLOTH's tables and figures (--only methods,choices,projective,table,scaling,drop,drop-rms,cycle,criterion, --size vertices, --steps before, --methods)",
     cloth},
    {"solver-options", "what each option of the solvers is worth, on the LTSS scene (--mesh FILE, --steps)",
     solver_options},
});

}  // namespace

std::span<const Benchmark> benchmarks() { return table; }

}  // namespace lope::bench
