#include <lope/matter/time_scheme.h>

namespace lope::matter {
namespace {

// The constants of a scheme; those after `w` are the trapezoid's.
struct Constants {
  double c, w;  // w in units of 1/h
  double alpha = 0, beta = 0, gamma = 0;
};

Constants constants_of(Scheme scheme, double dissipation) {
  switch (scheme) {
    case Scheme::BackwardEuler:
      return {1, 1};
    case Scheme::Bdf2:
      return {4.0 / 9.0, 1.5};
    case Scheme::Trapezoid: {
      const double alpha = -dissipation / (2 - dissipation);
      const double beta = 0.25 * (1 - alpha) * (1 - alpha), gamma = 0.5 - alpha;
      return {0.25 * (1 - alpha), gamma / beta, alpha, beta, gamma};
    }
    case Scheme::Static:
      break;
  }
  return {1, 1};
}

}  // namespace

Scheme effective_scheme(Scheme scheme, bool has_previous_step) {
  return scheme == Scheme::Bdf2 && !has_previous_step ? Scheme::BackwardEuler : scheme;
}

void scheme_terms(Scheme scheme, double h, const NodalMotion& body, std::span<const double> a,
                  std::span<const double> gravity, SchemeTerms& terms, double dissipation) {
  const auto [c, w, alpha, beta, gamma] = constants_of(scheme, dissipation);
  const std::size_t n = body.x.size(), d = gravity.size();
  if (scheme == Scheme::Static) {
    terms.inertia = 0;
    terms.damping = 1 / h;
    terms.target = terms.damping_target = body.x;
    return;
  }
  terms.inertia = 1 / (c * h * h);
  terms.damping = w / h;
  terms.gamma = gamma;
  terms.target.resize(n);
  terms.damping_target.resize(n);
  const std::vector<double>&x = body.x, &v = body.v, &px = body.previous_x, &pv = body.previous_v;
  for (std::size_t k = 0; k < n; ++k) {
    double free = 0, mean = 0;
    switch (scheme) {
      case Scheme::BackwardEuler:
        free = x[k] + h * v[k];
        mean = x[k];
        break;
      case Scheme::Bdf2:
        free = (4 * x[k] - px[k]) / 3 + h * (8 * v[k] - 2 * pv[k]) / 9;
        mean = (4 * x[k] - px[k]) / 3;
        break;
      case Scheme::Trapezoid:
        free = x[k] + h * v[k] + h * h * (0.5 - beta - c * alpha) * a[k];
        mean = x[k] + h * ((1 - 1 / w) * v[k] + h * (0.5 - beta - (1 - gamma) / w) * a[k]);
        break;
      case Scheme::Static:
        break;
    }
    terms.target[k] = free + c * h * h * gravity[k % d];
    terms.damping_target[k] = mean;
  }
}

void finish_step(Scheme scheme, double h, std::span<const double> x, std::span<const std::uint8_t> scripted,
                 const SchemeTerms& terms, const NodalMotion& body, std::span<const double> a, StepEnd& end) {
  const std::size_t d = x.size() / scripted.size();
  end.x.assign(x.begin(), x.end());
  end.v.assign(x.size(), 0.0);
  end.a.assign(x.size(), 0.0);
  if (scheme == Scheme::Static) return;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool follows_script = scripted[k / d] != 0;
    end.v[k] = follows_script ? (x[k] - body.x[k]) / h : terms.damping * (x[k] - terms.damping_target[k]);
    const double gained = end.v[k] - body.v[k];
    end.a[k] = !follows_script && scheme == Scheme::Trapezoid
                   ? (gained / h - (1 - terms.gamma) * a[k]) / terms.gamma
                   : gained / h;
  }
}

void commit(NodalMotion& body, StepEnd& end) {
  body.previous_x.swap(body.x);
  body.previous_v.swap(body.v);
  body.x.swap(end.x);
  body.v.swap(end.v);
  body.a.swap(end.a);
}

void take_back(NodalMotion& body, StepEnd& end) {
  body.a.swap(end.a);
  body.v.swap(end.v);
  body.x.swap(end.x);
  body.previous_v.swap(body.v);
  body.previous_x.swap(body.x);
}

}  // namespace lope::matter
