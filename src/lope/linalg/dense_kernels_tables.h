// The tables that the translation units of the dense kernels export to dense_kernels.cpp.
#pragma once

#include <lope/linalg/dense_kernels.h>

namespace lope::linalg {

struct DenseKernelTables {
  const DenseKernels<double>* in_double;
  const DenseKernels<float>* in_float;
};

extern const DenseKernelTables dense_kernels_baseline;
extern const DenseKernelTables dense_kernels_avx2;
extern const DenseKernelTables dense_kernels_avx512;

}  // namespace lope::linalg
