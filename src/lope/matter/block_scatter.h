// Hands the d×d blocks of W elements over, within the loops over batches of elements that are compiled once per instruction set
// (solid/elastic_kernels_impl.h, cloth/membrane_kernels_impl.h): adds them at their slots of what an assembler takes
// (linalg/block_assembler.h). The loops know slots, and neither the pattern nor a matrix.
#pragma once

#include <lope/math/pack.h>
#include <lope/matter/element_rows.h>

#include <cstdint>

namespace lope::matter {

template <int d, int nodes, int W, class Isa>
struct BlockScatter {
  static constexpr int block = d * d;

  // The blocks of the node pairs a ≤ b of W elements.
  struct Blocks {
    double entry[nodes * (nodes + 1) / 2][block][W];
    static constexpr int index(int a, int b) { return a * nodes - a * (a - 1) / 2 + (b - a); }
  };

  // Adds one block of S elements at once: entries of one element become neighbours by transposing S rows.
  static constexpr int S = W < 4 ? W : 4;  // NOLINT(bugprone-branch-clone): the same only where W = 4
  using Strip = math::Pack<S, Isa>;
  template <bool transposed>
  [[gnu::always_inline]] static void add_block(const double (&entry)[block][W], int offset,
                                               double* const (&target)[S], int count) {
    constexpr auto from = [](int k) { return transposed ? d * (k % d) + k / d : k; };
    for (int first = 0; first + S <= block; first += S) {
      Strip rows[S];
      for (int k = 0; k < S; ++k) rows[k] = math::load<Strip>(entry[from(first + k)] + offset);
      math::transpose(rows);
      for (int w = 0; w < count; ++w) {
        math::store(target[w] + first, math::load<Strip>(target[w] + first) + rows[w]);
      }
    }
    for (int k = block / S * S; k < block; ++k) {
      for (int w = 0; w < count; ++w) target[w][k] += entry[from(k)][offset + w];
    }
  }

  [[gnu::always_inline]] static void scatter_strip(const Blocks& blocks, const IndexRow* slots, int lane,
                                                   int offset, int count, double* values) {
    for (int a = 0; a < nodes; ++a) {
      for (int b = 0; b < nodes; ++b) {
        double* target[S];
        for (int w = 0; w < S; ++w) {
          target[w] =
              values + static_cast<std::int64_t>(block) * slots[nodes * a + b].lane[lane + offset + w];
        }
        if (a <= b) {
          add_block<false>(blocks.entry[Blocks::index(a, b)], offset, target, count);
        } else {
          add_block<true>(blocks.entry[Blocks::index(b, a)], offset, target, count);
        }
      }
    }
  }

  // Padding stands last in a batch and is not scattered.
  [[gnu::always_inline]] static void scatter(const Blocks& blocks, const IndexRow* slots, int lane,
                                                    int filled, double* values) {
    for (int offset = 0; offset < W; offset += S) {
      const int count = filled - lane - offset;
      if (count >= S) {
        scatter_strip(blocks, slots, lane, offset, S, values);
      } else if (count > 0) {
        scatter_strip(blocks, slots, lane, offset, count, values);
      }
    }
  }
};

}  // namespace lope::matter
