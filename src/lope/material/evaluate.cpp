#include <lope/material/dispatch.h>
#include <lope/material/evaluate.h>
#include <lope/math/psd.h>
#include <lope/math/svd.h>

namespace lope::material {
namespace {

Lame<double> lame(const Parameters& parameters) { return {parameters.mu, parameters.lambda}; }

template <int d>
Column<double, d> column(const Vec<d>& v) {
  Column<double, d> result;
  for (int i = 0; i < d; ++i) result[i] = v[i];
  return result;
}

template <int d>
StretchHessian<double, d> stretch_hessian(const Parameters& parameters, const Vec<d>& sigma) {
  StretchHessian<double, d> h;
  visit_density(parameters.density, [&](auto model) {
    model.template hessian<double, d>(lame(parameters), column<d>(sigma), h);
  });
  return h;
}

template <int d>
void project(StretchHessian<double, d>& h) {
  math::project_psd(h.stretch);
  for (int pair = 0; pair < h.pairs; ++pair) {
    h.flip[pair] = math::max(h.flip[pair], 0.0);
    h.twist[pair] = math::max(h.twist[pair], 0.0);
  }
}

}  // namespace

template <int d>
PrincipalStretches<d> principal_stretches(const Mat<d>& F) {
  Square<double, d> f;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) f(i, j) = F(i, j);
  }
  math::SignedSvd<double, d> svd;
  math::signed_svd(f, svd);
  PrincipalStretches<d> result;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      result.U(i, j) = svd.U(i, j);
      result.V(i, j) = svd.V(i, j);
    }
    result.sigma[i] = svd.sigma[i];
  }
  return result;
}

template <int d>
double energy_of_stretches(const Parameters& parameters, const Vec<d>& sigma) {
  double result = 0;
  visit_density(parameters.density, [&](auto model) {
    result = model.template energy<double, d>(lame(parameters), column<d>(sigma));
  });
  return result;
}

template <int d>
double energy(const Parameters& parameters, const Mat<d>& F) {
  return energy_of_stretches<d>(parameters, principal_stretches<d>(F).sigma);
}

template <int d>
Vec<d> principal_stress(const Parameters& parameters, const Vec<d>& sigma) {
  Column<double, d> g;
  visit_density(parameters.density, [&](auto model) {
    model.template gradient<double, d>(lame(parameters), column<d>(sigma), g);
  });
  return Eigen::Map<const Vec<d>>(g.entry);
}

template <int d>
Mat<d> stress(const Parameters& parameters, const Mat<d>& F) {
  const PrincipalStretches<d> svd = principal_stretches<d>(F);
  return svd.U * principal_stress<d>(parameters, svd.sigma).asDiagonal() * svd.V.transpose();
}

template <int d>
Eigen::Matrix<double, d * d, d * d> stress_derivative(const Parameters& parameters, const Mat<d>& F,
                                                      Definiteness definiteness) {
  const PrincipalStretches<d> svd = principal_stretches<d>(F);
  StretchHessian<double, d> h = stretch_hessian<d>(parameters, svd.sigma);
  if (definiteness == Definiteness::Projected) project<d>(h);

  // Rotated frame: the stretch block couples the diagonal entries of dF; each pair couples dF_ij and dF_ji.
  Eigen::Matrix<double, d * d, d* d> rotated = Eigen::Matrix<double, d * d, d * d>::Zero();
  const auto at = [](int i, int j) { return i + d * j; };
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) rotated(at(i, i), at(j, j)) = h.stretch(i, j);
  }
  for (int pair = 0; pair < h.pairs; ++pair) {
    const int i = first_of_pair<d>(pair), j = second_of_pair<d>(pair);
    const double same = 0.5 * (h.flip[pair] + h.twist[pair]), crossed = 0.5 * (h.flip[pair] - h.twist[pair]);
    rotated(at(i, j), at(i, j)) = rotated(at(j, i), at(j, i)) = same;
    rotated(at(i, j), at(j, i)) = rotated(at(j, i), at(i, j)) = crossed;
  }
  // Column (i, j) of the basis is vec(u_i v_jᵀ).
  Eigen::Matrix<double, d * d, d * d> basis;
  for (int i = 0; i < d; ++i) {
    for (int j = 0; j < d; ++j) {
      const Mat<d> direction = svd.U.col(i) * svd.V.col(j).transpose();
      basis.col(at(i, j)) = direction.reshaped();
    }
  }
  return basis * rotated * basis.transpose();
}

template <int d>
double rest_stiffness_norm(const Parameters& parameters) {
  return stress_derivative<d>(parameters, Mat<d>::Identity(), Definiteness::Raw).norm();
}

template PrincipalStretches<2> principal_stretches<2>(const Mat2&);
template PrincipalStretches<3> principal_stretches<3>(const Mat3&);
template double energy_of_stretches<2>(const Parameters&, const Vec2&);
template double energy_of_stretches<3>(const Parameters&, const Vec3&);
template double energy<2>(const Parameters&, const Mat2&);
template double energy<3>(const Parameters&, const Mat3&);
template Vec2 principal_stress<2>(const Parameters&, const Vec2&);
template Vec3 principal_stress<3>(const Parameters&, const Vec3&);
template Mat2 stress<2>(const Parameters&, const Mat2&);
template Mat3 stress<3>(const Parameters&, const Mat3&);
template Eigen::Matrix<double, 4, 4> stress_derivative<2>(const Parameters&, const Mat2&, Definiteness);
template Eigen::Matrix<double, 9, 9> stress_derivative<3>(const Parameters&, const Mat3&, Definiteness);
template double rest_stiffness_norm<2>(const Parameters&);
template double rest_stiffness_norm<3>(const Parameters&);

}  // namespace lope::material
