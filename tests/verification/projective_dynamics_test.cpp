// `pd` on cloth is projective dynamics as it is written: local projections and a global solve, put together here from nothing but the mesh.
#include <lope/base/random.h>
#include <lope/matter/cloth/cloth.h>
#include <lope/optimize/methods.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <verification/models.h>

namespace lope::verification {
namespace {

constexpr double stretch = 500, density = 0.2, h = 1.0 / 60;

matter::ClothBody corotated_cloth() {
  matter::ClothBody body;
  body.name = "cloth";
  body.sheet = geometry::rectangle_sheet(0.5, 0.4, 0.06);
  body.material.membrane = material::isotropic_membrane(stretch, 0);
  body.material.bending = {matter::BendingModel::Quadratic, 0, 0};
  body.material.area_density = density;
  for (std::size_t i = 0; i < body.sheet.vertices.size(); ++i) {
    const auto noise = [&](std::uint64_t k) { return 0.02 * (random_unit(3, 3 * i + k) - 0.5); };
    body.initial_positions.push_back(body.sheet.vertices[i] + Vec3(noise(0), noise(1), noise(2)));
  }
  return body;
}

// x with one local and one global step done: argmin ½/h² |x − x̂|²_M + Σ ½ A w |F(x) − R(F)|², w the stiffness, R the nearest of the maps that
// keep lengths.
Eigen::MatrixXd projected(const geometry::Sheet& sheet, const Eigen::MatrixXd& x,
                          const Eigen::MatrixXd& target) {
  const Eigen::Index n = x.rows();
  Eigen::MatrixXd L = Eigen::MatrixXd::Zero(n, n), right = Eigen::MatrixXd::Zero(n, 3);
  for (std::size_t t = 0; t < sheet.triangles.size(); ++t) {
    const auto& corners = sheet.triangles[t];
    const auto& flat = sheet.flat_triangles[t];
    const auto at = [&](std::size_t k) -> const Vec2& {
      return sheet.flat[static_cast<std::size_t>(flat[k])];
    };
    Mat2 edges;
    edges << at(1) - at(0), at(2) - at(0);
    const double area = 0.5 * edges.determinant();
    const Mat2 inverse = edges.inverse();
    Eigen::Matrix<double, 2, 3> gradients;  // of the shape functions, by columns
    gradients.col(1) = inverse.row(0).transpose();
    gradients.col(2) = inverse.row(1).transpose();
    gradients.col(0) = -gradients.col(1) - gradients.col(2);
    Eigen::Matrix<double, 3, 2> F = Eigen::Matrix<double, 3, 2>::Zero();
    for (int k = 0; k < 3; ++k)
      F += x.row(corners[static_cast<std::size_t>(k)]).transpose() * gradients.col(k).transpose();
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(F, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::Matrix<double, 3, 2> R = svd.matrixU() * svd.matrixV().transpose();
    for (int i = 0; i < 3; ++i) {
      const int row = corners[static_cast<std::size_t>(i)];
      for (int j = 0; j < 3; ++j)
        L(row, corners[static_cast<std::size_t>(j)]) +=
            area * stretch * gradients.col(i).dot(gradients.col(j));
      right.row(row) += area * stretch * (R * gradients.col(i)).transpose();
      L(row, row) += area * density / 3 / (h * h);
      right.row(row) += area * density / 3 / (h * h) * target.row(row);
    }
  }
  return L.ldlt().solve(right);
}

TEST(ProjectiveDynamics, IsWhatIsWritten) {
  step::Model model;
  model.gravity = Vec3(0, 0, -9.81);
  model.step = h;
  model.add(corotated_cloth());
  step::Simulation simulation(model);
  auto problem = simulation.step_problem(0, h);
  const auto n = static_cast<Eigen::Index>(problem.start.size() / 3);
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  const Eigen::MatrixXd now = Eigen::Map<const Rows>(problem.reference.data(), n, 3);
  Eigen::MatrixXd target = now;  // at rest before
  target.col(2).array() -= 9.81 * h * h;
  optimize::MinimizerOptions options;
  options.stopping.tolerance = 1e-12;
  std::vector<double> start(problem.reference.begin(), problem.reference.end());
  Eigen::MatrixXd expected = now;
  for (int iterations = 1; iterations <= 3; ++iterations) {
    expected = projected(as<matter::ClothBody>(simulation.model().bodies[0]).sheet, expected, target);
    std::vector<double> x = start;
    options.max_iterations = iterations;
    const auto summary =
        optimize::make_minimizer(optimize::Method::Pd, x.size())->minimize(problem.objective, x, options);
    EXPECT_EQ(summary.iterations, iterations);
    EXPECT_EQ(summary.outcome, optimize::Outcome::IterationLimit);
    const Eigen::MatrixXd found = Eigen::Map<const Rows>(x.data(), n, 3);
    // Single precision of the factor.
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-5 * (expected - now).cwiseAbs().maxCoeff())
        << iterations;
  }
}

// Also with Poisson's effect, bending and a rim that is held: methods that reach the accuracy find Newton's minimiser.
TEST(ProjectiveDynamics, FindsNewtonsMinimiserOfTautCloth) {
  step::Model model;
  model.gravity = Vec3(0, 0, -9.81);
  model.step = h;
  matter::ClothBody& body = model.add(corotated_cloth());
  body.material.membrane = material::isotropic_membrane(stretch, 0.3);
  body.material.bending = {matter::BendingModel::Quadratic, 2e-5, 2e-5};
  body.initial_positions.clear();
  matter::Handle rim;
  for (std::size_t i = 0; i < body.sheet.vertices.size(); ++i) {
    const Vec3& p = body.sheet.vertices[i];
    body.initial_positions.emplace_back(1.02 * p);
    if (std::abs(p[0]) > 0.249 || std::abs(p[1]) > 0.199) rim.vertices.push_back(static_cast<int>(i));
  }
  body.handles = {rim};
  step::Simulation simulation(model);
  for (int i = 0; i < 2; ++i) {
    auto problem = simulation.step_problem(0, h);
    std::vector<double> exact = problem.start;
    optimize::MinimizerOptions options;
    options.stopping.tolerance = 1e-9;
    ASSERT_TRUE(optimize::make_minimizer(optimize::Method::Newton, exact.size())
                    ->minimize(problem.objective, exact, options)
                    .converged());
    options.stopping.tolerance = 1e-6;
    options.max_iterations = 5000;
    for (const auto method : {optimize::Method::Pd, optimize::Method::PdGs, optimize::Method::PdGsChebyshev,
                              optimize::Method::PdNfmg, optimize::Method::PdNfmgChebyshev}) {
      std::vector<double> x = problem.start;
      const auto summary =
          optimize::make_minimizer(method, x.size())->minimize(problem.objective, x, options);
      EXPECT_TRUE(summary.converged()) << optimize::name_of(method) << ": " << summary.reason;
      EXPECT_LT(distance(x, exact), 3e-6) << optimize::name_of(method);
    }
    ASSERT_TRUE(simulation.advance().converged());
  }
}

}  // namespace
}  // namespace lope::verification
