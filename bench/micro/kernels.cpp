// Element kernels against a straightforward scalar implementation (Eigen's JacobiSVD, a 9×9
// eigen-decomposition for the projection, element matrices by the chain rule), on the same tetrahedra in the
// same run, on one thread.
//   svd, energy, gradient: from node positions, decomposition included
//   forces, hessian, product: decomposition known (as after an energy evaluation); hessian assembles into the
//   block-sparse matrix, product is the matrix-free one with the rotated derivative known
// Ends with a table of ratios. Figures: docs/benchmarks/kernels.md.
#include <lope/base/parallel.h>
#include <lope/base/random.h>
#include <lope/linalg/block_matrix.h>
#include <lope/material/evaluate.h>
#include <lope/material/registry.h>
#include <lope/matter/solid/elastic_elements.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "unit/matter/solid/block_mesh.h"
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <benchmark/benchmark.h>

namespace lope::matter {
namespace {

using linalg::BlockMatrix;
using material::Parameters;
using optimize::HessianKind;
using Matrix9 = Eigen::Matrix<double, 9, 9>;
using Matrix12 = Eigen::Matrix<double, 12, 12>;

constexpr int cells = 24;  // per axis: 82 944 tetrahedra, larger than the second-level cache

// A cube, bent and stirred: some elements are inverted, about half need projection.
struct Problem {
  BlockMesh<3> mesh = block_mesh<3>(cells, 0.2);
  std::vector<double> x = mesh.positions;
  Problem() {
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const double angle = 1.5 * mesh.positions[i];
      x[i] = 1.3 * mesh.positions[i];
      x[i + 1] = std::cos(angle) * mesh.positions[i + 1] - std::sin(angle) * mesh.positions[i + 2];
      x[i + 2] = 0.8 * (std::sin(angle) * mesh.positions[i + 1] + std::cos(angle) * mesh.positions[i + 2]);
      for (std::size_t k = 0; k < 3; ++k) x[i + k] += 0.25 / cells * (2 * random_unit(5, i + k) - 1);
    }
  }
};
const Problem& problem() {
  static const Problem instance;
  return instance;
}

// What one writes first: one element after another, Eigen throughout, fixed corotated.
class ScalarElements {
 public:
  ScalarElements(const std::vector<double>& rest, const std::vector<int>& elements, Parameters parameters)
      : elements_(elements),
        parameters_(parameters),
        pattern_(linalg::BlockPattern::from_groups(static_cast<int>(rest.size() / 3), elements, 4)) {
    for (int e = 0; e < count(); ++e) {
      const Mat3 edges = edge_matrix(rest, e);
      inverse_.push_back(edges.inverse());
      volume_.push_back(edges.determinant() / 6);
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) slots_.push_back(pattern_->slot(node(e, a), node(e, b)));
      }
    }
    decompositions_.resize(volume_.size());
  }
  int count() const { return static_cast<int>(elements_.size() / 4); }
  std::shared_ptr<const linalg::BlockPattern> pattern() const { return pattern_; }

  void move_to(const std::vector<double>& x) {
    for (int e = 0; e < count(); ++e) {
      const Mat3 F = edge_matrix(x, e) * inverse_[e];
      const Eigen::JacobiSVD<Mat3> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
      Decomposition& result = decompositions_[e];
      result = {svd.matrixU(), svd.matrixV(), svd.singularValues()};
      if (result.U.determinant() < 0) {
        result.U.col(2) *= -1;
        result.sigma[2] *= -1;
      }
      if (result.V.determinant() < 0) {
        result.V.col(2) *= -1;
        result.sigma[2] *= -1;
      }
    }
  }
  double value() const {
    double sum = 0;
    for (int e = 0; e < count(); ++e) {
      const Vec3& s = decompositions_[e].sigma;
      const double change = s.prod() - 1;
      sum += volume_[e] *
             (parameters_.mu * (s - Vec3::Ones()).squaredNorm() + 0.5 * parameters_.lambda * change * change);
    }
    return sum;
  }
  void add_gradient(std::vector<double>& g) const {
    for (int e = 0; e < count(); ++e) {
      const Decomposition& d = decompositions_[e];
      const Vec3 slope = slopes(d.sigma);
      const Mat3 P = d.U * slope.asDiagonal() * d.V.transpose();
      const Mat3 force = volume_[e] * P * inverse_[e].transpose();
      for (int a = 0; a < 3; ++a) {
        Eigen::Map<Vec3>(g.data() + 3 * node(e, a + 1)) += force.col(a);
        Eigen::Map<Vec3>(g.data() + 3 * node(e, 0)) -= force.col(a);
      }
    }
  }
  void add_hessian(BlockMatrix& H) const {
    for (int e = 0; e < count(); ++e) {
      const Eigen::SelfAdjointEigenSolver<Matrix9> solver(stress_derivative(decompositions_[e]));
      const Matrix9 projected = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
                                solver.eigenvectors().transpose();
      Eigen::Matrix<double, 9, 12> change;  // ∂F/∂x
      change.setZero();
      for (int a = 0; a < 3; ++a) {
        for (int j = 0; j < 3; ++j) {
          for (int i = 0; i < 3; ++i) {
            change(i + 3 * j, 3 * (a + 1) + i) = inverse_[e](a, j);
            change(i + 3 * j, i) -= inverse_[e](a, j);
          }
        }
      }
      const Matrix12 element = volume_[e] * change.transpose() * projected * change;
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          double* block = H.block(slots_[static_cast<std::size_t>(16 * e + 4 * a + b)]);
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) block[3 * i + j] += element(3 * a + i, 3 * b + j);
          }
        }
      }
    }
  }

 private:
  struct Decomposition {
    Mat3 U, V;
    Vec3 sigma;
  };
  int node(int e, int a) const { return elements_[static_cast<std::size_t>(4 * e + a)]; }
  Mat3 edge_matrix(const std::vector<double>& x, int e) const {
    Mat3 result;
    const auto point = [&](int a) { return Eigen::Map<const Vec3>(x.data() + 3 * node(e, a)); };
    for (int a = 0; a < 3; ++a) result.col(a) = point(a + 1) - point(0);
    return result;
  }
  Vec3 slopes(const Vec3& s) const {
    const double pressure = parameters_.lambda * (s.prod() - 1);
    return 2 * parameters_.mu * (s - Vec3::Ones()) + pressure * Vec3(s[1] * s[2], s[0] * s[2], s[0] * s[1]);
  }
  // The 9×9 derivative from divided differences in the rotated frame.
  Matrix9 stress_derivative(const Decomposition& d) const {
    const Vec3& s = d.sigma;
    const Vec3 slope = slopes(s), cofactor(s[1] * s[2], s[0] * s[2], s[0] * s[1]);
    const double pressure = parameters_.lambda * (s.prod() - 1);
    Matrix9 rotated = Matrix9::Zero();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        rotated(4 * i, 4 * j) = parameters_.lambda * cofactor[i] * cofactor[j] +
                                (i == j ? 2 * parameters_.mu : pressure * s[3 - i - j]);
        if (i == j) continue;
        const double flip = 2 * parameters_.mu - pressure * s[3 - i - j];
        const double twist = (slope[i] + slope[j]) / std::max(s[i] + s[j], 1e-8);
        rotated(i + 3 * j, i + 3 * j) = 0.5 * (flip + twist);
        rotated(i + 3 * j, j + 3 * i) = 0.5 * (flip - twist);
      }
    }
    Matrix9 basis;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const Mat3 direction = d.U.col(i) * d.V.col(j).transpose();
        basis.col(i + 3 * j) = direction.reshaped();
      }
    }
    return basis * rotated * basis.transpose();
  }

  std::vector<int> elements_;
  Parameters parameters_;
  std::shared_ptr<const linalg::BlockPattern> pattern_;
  std::vector<Mat3> inverse_;
  std::vector<double> volume_;
  std::vector<std::int64_t> slots_;
  std::vector<Decomposition> decompositions_;
};

Parameters rubber(material::Density density) { return material::from_young_poisson(density, 1e5, 0.4); }

// Elements per second by benchmark name.
std::map<std::string, double>& rates() {
  static std::map<std::string, double> instance;
  return instance;
}

void report(benchmark::State& state, int elements, double bytes_per_element) {
  const double done = static_cast<double>(state.iterations()) * elements;
  state.counters["elements/s"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
  if (bytes_per_element > 0) {
    state.counters["bytes/s"] = benchmark::Counter(done * bytes_per_element, benchmark::Counter::kIsRate,
                                                   benchmark::Counter::kIs1024);
  }
}

// Bytes of element data that a pass over the batches must move (positions and matrix blocks stay in cache for
// a cluster): rest, state and tangent rows, node numbers and slots.
constexpr double row = 8, number = 4;
constexpr double decompose_bytes = 9 * row + 4 * number + 21 * row;
constexpr double energy_bytes = 3 * row + 3 * row;
constexpr double gradient_bytes = 12 * row + 21 * row + 4 * number;
constexpr double hessian_bytes = 12 * row + 21 * row + 12 * row + 16 * number;
constexpr double product_bytes = 12 * row + 18 * row + 12 * row + 4 * number;

void scalar_move(benchmark::State& state) {
  ScalarElements elements(problem().mesh.positions, problem().mesh.elements,
                          rubber(material::Density::FixedCorotated));
  for (auto _ : state) elements.move_to(problem().x);
  report(state, elements.count(), 0);
}
void scalar_energy(benchmark::State& state) {
  ScalarElements elements(problem().mesh.positions, problem().mesh.elements,
                          rubber(material::Density::FixedCorotated));
  for (auto _ : state) {
    elements.move_to(problem().x);
    benchmark::DoNotOptimize(elements.value());
  }
  report(state, elements.count(), 0);
}
void scalar_gradient(benchmark::State& state) {
  ScalarElements elements(problem().mesh.positions, problem().mesh.elements,
                          rubber(material::Density::FixedCorotated));
  std::vector<double> g(problem().x.size());
  for (auto _ : state) {
    elements.move_to(problem().x);
    elements.add_gradient(g);
  }
  report(state, elements.count(), 0);
}
void scalar_forces(benchmark::State& state) {
  ScalarElements elements(problem().mesh.positions, problem().mesh.elements,
                          rubber(material::Density::FixedCorotated));
  elements.move_to(problem().x);
  std::vector<double> g(problem().x.size());
  for (auto _ : state) elements.add_gradient(g);
  report(state, elements.count(), 0);
}
void scalar_hessian(benchmark::State& state) {
  ScalarElements elements(problem().mesh.positions, problem().mesh.elements,
                          rubber(material::Density::FixedCorotated));
  elements.move_to(problem().x);
  BlockMatrix H(elements.pattern(), 3);
  for (auto _ : state) elements.add_hessian(H);
  report(state, elements.count(), 0);
}

ElasticElements<3> batched(Isa isa, material::Density density) {
  return ElasticElements<3>(problem().mesh.positions, problem().mesh.elements, {rubber(density)}, {}, isa);
}

void batched_move(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  for (auto _ : state) elements.move_to(problem().x);
  report(state, elements.element_count(), decompose_bytes);
}
void batched_energy(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  for (auto _ : state) {
    elements.move_to(problem().x);
    benchmark::DoNotOptimize(elements.value());
  }
  report(state, elements.element_count(), decompose_bytes + energy_bytes);
}
void batched_gradient(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  std::vector<double> g(problem().x.size());
  for (auto _ : state) {
    elements.move_to(problem().x);
    elements.add_gradient(g);
  }
  report(state, elements.element_count(), decompose_bytes + gradient_bytes);
}
void batched_forces(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  elements.move_to(problem().x);
  std::vector<double> g(problem().x.size());
  for (auto _ : state) elements.add_gradient(g);
  report(state, elements.element_count(), gradient_bytes);
}
// The move between two passes makes them compute the rotated derivative anew; it is not timed.
void batched_hessian(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  BlockMatrix H(elements.pattern(), 3);
  for (auto _ : state) {
    state.PauseTiming();
    elements.move_to(problem().x);
    state.ResumeTiming();
    elements.add_hessian(HessianKind::Projected, 1, H);
  }
  report(state, elements.element_count(), hessian_bytes);
}
void batched_product(benchmark::State& state, Isa isa, material::Density density) {
  ElasticElements<3> elements = batched(isa, density);
  elements.move_to(problem().x);
  std::vector<double> y(problem().x.size());
  elements.add_hessian_times(HessianKind::Projected, 1, problem().x, y);
  for (auto _ : state) elements.add_hessian_times(HessianKind::Projected, 1, problem().x, y);
  report(state, elements.element_count(), product_bytes);
}
void assembled_product(benchmark::State& state) {
  ElasticElements<3> elements = batched(selected_isa(), material::Density::FixedCorotated);
  BlockMatrix H(elements.pattern(), 3);
  elements.add_hessian(HessianKind::Projected, 1, H);
  std::vector<double> y(problem().x.size());
  for (auto _ : state) H.multiply(problem().x, y);
  report(state, elements.element_count(),
         static_cast<double>(H.pattern().blocks()) * 76 / elements.element_count());
}
// What a single core can stream: y += x over arrays far larger than the caches (24 bytes per entry).
void memory_bandwidth(benchmark::State& state) {
  std::vector<double> x(1 << 24, 1.0), y(1 << 24, 2.0);
  for (auto _ : state) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
    benchmark::ClobberMemory();
  }
  state.counters["bytes/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(x.size()) * 24,
                         benchmark::Counter::kIsRate, benchmark::Counter::kIs1024);
}

// Console output as usual, and the rates kept for the table at the end.
class Collector : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto rate = run.counters.find("elements/s");
      if (rate != run.counters.end() && run.run_type == Run::RT_Iteration) {
        double& best = rates()[run.run_name.function_name];
        best = std::max(best, static_cast<double>(rate->second.value));
      }
    }
    ConsoleReporter::ReportRuns(runs);
  }
};

void print_table() {
  std::printf(
      "\nfixed corotated, elements per second on one core (million), and the ratio to the scalar code\n");
  std::printf("%-12s %10s", "kernel", "scalar");
  for (const Isa isa : supported_isas()) std::printf(" %10s %7s", name(isa), "ratio");
  std::printf("\n");
  for (const char* kernel : {"svd", "energy", "gradient", "forces", "hessian"}) {
    const double scalar = rates()[std::string("scalar/") + kernel];
    std::printf("%-12s %10.3f", kernel, scalar * 1e-6);
    for (const Isa isa : supported_isas()) {
      const double rate = rates()[std::string(name(isa)) + "/" + kernel + "/fixed-corotated"];
      std::printf(" %10.3f %6.1fx", rate * 1e-6, rate / scalar);
    }
    std::printf("\n");
  }
}

void register_all() {
  benchmark::RegisterBenchmark("memory_bandwidth", memory_bandwidth);
  benchmark::RegisterBenchmark("scalar/svd", scalar_move);
  benchmark::RegisterBenchmark("scalar/energy", scalar_energy);
  benchmark::RegisterBenchmark("scalar/gradient", scalar_gradient);
  benchmark::RegisterBenchmark("scalar/forces", scalar_forces);
  benchmark::RegisterBenchmark("scalar/hessian", scalar_hessian);
  for (const Isa isa : supported_isas()) {
    for (const material::DensityEntry& entry : material::densities()) {
      // The deformation inverts some elements: densities that forbid it would compute with NaN.
      if (entry.defined_only_for_positive_J) continue;
      if (isa != selected_isa() && entry.density != material::Density::FixedCorotated) continue;
      const auto add = [&](const char* kernel, auto function) {
        const std::string title = std::string(name(isa)) + "/" + kernel + "/" + std::string(entry.name);
        benchmark::RegisterBenchmark(title.c_str(), function, isa, entry.density);
      };
      if (entry.density == material::Density::FixedCorotated) add("svd", batched_move);
      add("energy", batched_energy);
      add("gradient", batched_gradient);
      add("hessian", batched_hessian);
      if (entry.density == material::Density::FixedCorotated) {
        add("forces", batched_forces);
        add("product", batched_product);
      }
    }
  }
  benchmark::RegisterBenchmark("assembled_product", assembled_product);
}

}  // namespace
}  // namespace lope::matter

int main(int argc, char** argv) {
  const lope::ThreadLimit one_thread(1);
  lope::matter::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  lope::matter::Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  lope::matter::print_table();
  return 0;
}
