#include <lope/render/tracer.h>

namespace lope::render {
namespace {

// Fresnel's equations for unpolarised light; `ratio` is the index on this side over that on the other one.
float dielectric(float cosine, float ratio) {
  const float sin2 = ratio * ratio * (1 - cosine * cosine);
  if (sin2 >= 1) return 1;
  const float beyond = std::sqrt(1 - sin2);
  const float s = (ratio * cosine - beyond) / (ratio * cosine + beyond);
  const float p = (cosine - ratio * beyond) / (cosine + ratio * beyond);
  return 0.5f * (s * s + p * p);
}

}  // namespace

// Beer's law.
Colour Tracer::left_after(const Clear& clear, float distance) const {
  const float depth = clear.depth > 0 ? static_cast<float>(clear.depth) : radius_, t = distance / depth;
  return {std::pow(clear.tint.r, t), std::pow(clear.tint.g, t), std::pow(clear.tint.b, t)};
}

// A clear surface sends the path back or lets it through, by chance in the right proportion.
void Tracer::scatter(Packet& packet, int lane, int sample) const {
  const Hit& hit = packet.hit[lane];
  const Clear& clear = *hit.clear;
  Vector3f& direction = packet.direction[lane];
  const float lift = 3e-5f * radius_, cosine = std::min(-direction.dot(hit.normal), 1.0f);
  const int pair = mirror_pair(packet.mirrors[lane]++);
  const float chance = points_.point(pair, sample, packet.shift[pair]).u;
  const auto index = static_cast<float>(clear.index);
  const bool glass = clear.kind == Clear::Kind::Glass;

  const float ratio = glass || hit.from_outside ? 1 / index : index;
  float reflected = dielectric(cosine, ratio);
  if (glass)
    reflected = packet.inside[lane] ? 0.0f : 2 * reflected / (1 + reflected);  // both faces of the wall
  if (chance < reflected) {
    direction += 2 * cosine * hit.normal;
    const float below = direction.dot(hit.facet);
    if (below < 0) direction -= 2 * below * hit.facet;
    packet.origin[lane] = hit.point + lift * hit.facet;
  } else {
    if (glass) {
      if (!packet.inside[lane]) {
        const float across = 1 / std::max(cosine, 0.15f);
        packet.throughput[lane] =
            packet.throughput[lane] * Colour{std::pow(clear.tint.r, across), std::pow(clear.tint.g, across),
                                             std::pow(clear.tint.b, across)};
      }
    } else {
      const float beyond = std::sqrt(std::max(1 - ratio * ratio * (1 - cosine * cosine), 0.0f));
      direction = ratio * direction + (ratio * cosine - beyond) * hit.normal;
      const float above = direction.dot(hit.facet);
      if (above > 0) direction -= 2 * above * hit.facet;
      packet.inside[lane] = hit.from_outside ? &clear : nullptr;
    }
    packet.origin[lane] = hit.point - lift * hit.facet;
  }
  direction.normalize();
}

// Sunlight that must come through water, from the places of the shadow rays: straight, weakened on its way.
// From outside water that stands in the way its thickness is taken as a quarter of the depth of its tint.
void Tracer::weaken_sunlight(Packet& packet, const int* lit) const {
  constexpr float through_boundary = 0.97f;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (int lane = 0; lane < lanes; ++lane) {
    packet.sunlight[lane] = {1, 1, 1};
    if (!lit[lane]) continue;
    RTCRayHit ray{};
    ray.ray.org_x = packet.shadow.org_x[lane];
    ray.ray.org_y = packet.shadow.org_y[lane];
    ray.ray.org_z = packet.shadow.org_z[lane];
    ray.ray.dir_x = packet.shadow.dir_x[lane];
    ray.ray.dir_y = packet.shadow.dir_y[lane];
    ray.ray.dir_z = packet.shadow.dir_z[lane];
    ray.ray.tfar = far_away;
    ray.ray.mask = 0xFFFFFFFFu;
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(clear_.get(), &context, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID) continue;
    const Clear& clear = *surfaces_[ray.hit.geomID].source->clear;
    if (clear.kind == Clear::Kind::Glass && !packet.inside[lane]) continue;
    const float depth = clear.depth > 0 ? static_cast<float>(clear.depth) : radius_;
    const float way = packet.inside[lane] ? ray.ray.tfar : 0.25f * depth;
    packet.sunlight[lane] =
        through_boundary * left_after(packet.inside[lane] ? *packet.inside[lane] : clear, way);
  }
}

}  // namespace lope::render
