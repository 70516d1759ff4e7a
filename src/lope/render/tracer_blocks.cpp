#include <lope/base/parallel.h>
#include <lope/render/tracer.h>

namespace lope::render {
namespace {

// Whether two looks are at neighbouring points of one smooth thing.
bool alike(const Look& a, const Look& b) {
  constexpr float same_distance = 0.03f, same_shade = 0.02f;
  const float same_angle = a.clear ? 0.9f : 0.97f;  // cosine; what is seen through waves is not sharp anyway
  if (a.what != b.what) return false;
  if (a.what == Look::nothing) return true;
  return a.normal.dot(b.normal) > same_angle && std::abs(a.t - b.t) < same_distance * std::min(a.t, b.t) &&
         std::abs(luminance(a.albedo) - luminance(b.albedo)) < same_shade;
}

int blocks_along(int pixels) { return (pixels + 1) / 2; }

}  // namespace

std::vector<Tracer::Block> Tracer::survey_blocks() const {
  const int columns = blocks_along(options_.width), rows = blocks_along(options_.height);
  std::vector<Block> blocks(static_cast<std::size_t>(columns) * rows);
  parallel_for(static_cast<std::size_t>(rows), 1, [&](std::size_t row) {
    const int y = static_cast<int>(row);
    Packet packet;
    for (int x = 0; x < columns; ++x) {
      Block& block = blocks[row * columns + x];
      scramble(packet, 2 * x, 2 * y);
      const Spot spot{static_cast<float>(2 * x + 1), static_cast<float>(2 * y + 1), 2};
      Estimate estimate;
      add_samples(packet, spot, estimate);
      const auto end = std::remove_if(packet.look.begin(), packet.look.end(),
                                      [](const Look& look) { return look.what == Look::mirror_image; });
      if (end != packet.look.begin()) {
        block.look = packet.look[0];
        block.plain = std::all_of(packet.look.begin(), end, [&](const Look& look) { return alike(look, block.look); });
      }
      while (block.plain && estimate.samples < samples_ && !estimate.is_settled()) add_samples(packet, spot, estimate);
      block.colour = estimate.mean();
    }
  });
  return blocks;
}

// Between the centres of the four blocks around the pixel, without those that see something else.
Colour Tracer::pixel_from(const std::vector<Block>& blocks, int x, int y) const {
  const int columns = blocks_along(options_.width), rows = blocks_along(options_.height);
  const auto at = [&](int column, int row) -> const Block& {
    return blocks[static_cast<std::size_t>(row) * columns + column];
  };
  const Block& own = at(x / 2, y / 2);
  if (!own.plain) return pixel(x, y);
  Colour sum;
  float weight = 0;
  for (const int down : {0, 1}) {
    for (const int along : {0, 1}) {
      const int column = x / 2 + along * (x % 2 ? 1 : -1), row = y / 2 + down * (y % 2 ? 1 : -1);
      if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
      const Block& block = at(column, row);
      if (!block.plain || !alike(block.look, own.look)) continue;
      const float part = (along ? 1.0f : 3.0f) * (down ? 1.0f : 3.0f);
      sum = sum + part * block.colour;
      weight += part;
    }
  }
  return (1 / weight) * sum;
}

}  // namespace lope::render
