// How velocities go from particles to a grid and back.
//
// APIC (Jiang et al. 2015): a particle carries the derivatives of the velocity, too; angular momentum survives, noise does not.
// FLIP: particles keep their velocities and add the grid's changes, blended with the grid's own velocity (PIC).
#pragma once

namespace lope::matter {

enum class VelocityTransfer { Apic, Flip };

struct TransferOptions {
  VelocityTransfer kind = VelocityTransfer::Apic;
  double flip = 0.95;  // share of FLIP, the rest is PIC (1: all FLIP)
};

}  // namespace lope::matter
