#include <lope/step/time_scheme.h>

namespace lope::step {
namespace {

double c_of(Scheme scheme) {
  switch (scheme) {
    case Scheme::BackwardEuler:
      return 1;
    case Scheme::Bdf2:
      return 4.0 / 9.0;
    case Scheme::Trapezoid:
      return 0.25;
  }
  return 1;
}

double damping_weight(Scheme scheme, double h) {
  switch (scheme) {
    case Scheme::BackwardEuler:
      return 1 / h;
    case Scheme::Bdf2:
      return 1.5 / h;
    case Scheme::Trapezoid:
      return 2 / h;
  }
  return 0;
}

}  // namespace

Scheme effective_scheme(Scheme scheme, bool has_previous_step) {
  return scheme == Scheme::Bdf2 && !has_previous_step ? Scheme::BackwardEuler : scheme;
}

void scheme_terms(Scheme scheme, double h, const BodyState& body, std::span<const double> acceleration,
                  SchemeTerms& terms) {
  const double c = c_of(scheme);
  const std::size_t n = body.x.size(), d = acceleration.size();
  terms.inertia = 1 / (c * h * h);
  terms.damping = damping_weight(scheme, h);
  terms.target.resize(n);
  terms.damping_target.resize(n);
  const auto& [x, v, px, pv, a, anchors, model_x] = body;
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
        free = x[k] + h * v[k] + 0.25 * h * h * a[k];
        mean = x[k] + 0.5 * h * v[k];
        break;
    }
    terms.target[k] = free + c * h * h * acceleration[k % d];
    terms.damping_target[k] = mean;
  }
}

void finish_step(Scheme scheme, double h, std::span<const double> x, std::span<const std::uint8_t> scripted,
                 const SchemeTerms& terms, BodyState& body) {
  const std::size_t d = x.size() / scripted.size();
  body.previous_x.resize(x.size());
  body.previous_v.resize(x.size());
  body.a.resize(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double before = body.x[k], speed = body.v[k];
    const bool follows_script = scripted[k / d] != 0;
    body.v[k] = follows_script ? (x[k] - before) / h : terms.damping * (x[k] - terms.damping_target[k]);
    body.a[k] = !follows_script && scheme == Scheme::Trapezoid ? 2 * (body.v[k] - speed) / h - body.a[k]
                                                               : (body.v[k] - speed) / h;
    body.x[k] = x[k];
    body.previous_x[k] = before;
    body.previous_v[k] = speed;
  }
}

}  // namespace lope::step
