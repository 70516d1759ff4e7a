#include <lope/base/log.h>
#include <lope/base/timer.h>
#include <lope/linalg/nested_dissection.h>

#include <cassert>
#include <vector>

#include <cholmod.h>
#include <rivals/cholmod.h>

extern "C" {
// The BLAS (no header needed).
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
// OpenMP, which CHOLMOD brings along in some builds and not in others.
[[gnu::weak]] int omp_get_max_active_levels(void);
[[gnu::weak]] void omp_set_max_active_levels(int levels);
}

namespace lope::rivals {

using linalg::BlockMatrix;
using linalg::BlockPattern;

namespace {

using Index = SuiteSparse_long;

std::vector<Index> expand(const std::vector<int>& block_order, int block_size) {
  std::vector<Index> order;
  order.reserve(block_order.size() * static_cast<std::size_t>(block_size));
  for (const int row : block_order) {
    for (int i = 0; i < block_size; ++i) order.push_back(Index{row} * block_size + i);
  }
  return order;
}

void report(int status, const char* file, int line, const char* message) {
  if (status == CHOLMOD_NOT_POSDEF) return;  // an answer, not a fault: update() returns false
  log_warning("CHOLMOD: {} ({}:{})", message, file, line);
}

// While it lives, OpenMP regions entered by this thread run on this thread alone: CHOLMOD's own threads would
// compete with ours.
class OpenMpOff {
 public:
  OpenMpOff() {
    if (!available()) return;
    levels_ = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
  }
  ~OpenMpOff() {
    if (available()) omp_set_max_active_levels(levels_);
  }
  OpenMpOff(const OpenMpOff&) = delete;
  OpenMpOff& operator=(const OpenMpOff&) = delete;

 private:
  static bool available() {
    return omp_get_max_active_levels != nullptr && omp_set_max_active_levels != nullptr;
  }
  int levels_ = 0;
};

}  // namespace

struct CholmodFactor::Implementation {
  Implementation() {
    cholmod_l_start(&common);
    common.print = 0;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.postorder = true;
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.final_ll = true;
    common.try_catch = true;
    common.error_handler = report;
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    release();
    cholmod_l_free_dense(&solution, &common);
    cholmod_l_free_dense(&work_y, &common);
    cholmod_l_free_dense(&work_e, &common);
    cholmod_l_finish(&common);
  }

  void release() {
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_free_sparse(&matrix, &common);
  }

  // The lower triangle by columns. By symmetry, column j from the diagonal down is row j from the diagonal
  // on.
  void build_structure(const BlockMatrix& source) {
    const BlockPattern& pattern = source.pattern();
    const int b = source.block_size();
    const auto n = static_cast<std::size_t>(pattern.rows());
    std::size_t entries = 0;
    for (std::size_t row = 0; row < n; ++row) {
      const auto after = static_cast<std::size_t>(pattern.row_start()[row + 1] -
                                                  pattern.diagonal(static_cast<int>(row)) - 1);
      entries += after * static_cast<std::size_t>(b * b) + static_cast<std::size_t>(b * (b + 1) / 2);
    }
    matrix = cholmod_l_allocate_sparse(source.size(), source.size(), entries, true, true, -1, CHOLMOD_REAL,
                                       &common);
    auto* start = static_cast<Index*>(matrix->p);
    auto* index = static_cast<Index*>(matrix->i);
    Index next = 0;
    for (std::size_t row = 0; row < n; ++row) {
      for (int i = 0; i < b; ++i) {
        *start++ = next;
        for (std::int64_t slot = pattern.diagonal(static_cast<int>(row)); slot < pattern.row_start()[row + 1];
             ++slot) {
          const Index column = pattern.column()[static_cast<std::size_t>(slot)];
          for (int j = column == static_cast<Index>(row) ? i : 0; j < b; ++j) index[next++] = column * b + j;
        }
      }
    }
    *start = next;
  }

  void copy_values(const BlockMatrix& source) {
    const BlockPattern& pattern = source.pattern();
    const int b = source.block_size();
    auto* value = static_cast<double*>(matrix->x);
    for (int row = 0; row < pattern.rows(); ++row) {
      const std::int64_t diagonal = pattern.diagonal(row);
      const std::int64_t end = pattern.row_start()[static_cast<std::size_t>(row) + 1];
      for (int i = 0; i < b; ++i) {
        const double* first = source.block(diagonal) + i * b;
        for (int j = i; j < b; ++j) *value++ = first[j];
        for (std::int64_t slot = diagonal + 1; slot < end; ++slot) {
          const double* entry = source.block(slot) + i * b;
          for (int j = 0; j < b; ++j) *value++ = entry[j];
        }
      }
    }
  }

  bool analyze(const BlockMatrix& source) {
    release();
    pattern_id = source.pattern().id();
    build_structure(source);
    std::vector<Index> order = expand(linalg::nested_dissection(source.pattern()), source.block_size());
    factor = cholmod_l_analyze_p(matrix, order.data(), nullptr, 0, &common);
    return factor != nullptr;
  }

  cholmod_common common{};
  cholmod_sparse* matrix = nullptr;
  cholmod_factor* factor = nullptr;
  cholmod_dense* solution = nullptr;
  cholmod_dense* work_y = nullptr;
  cholmod_dense* work_e = nullptr;
  std::uint64_t pattern_id = 0;
};

CholmodFactor::CholmodFactor() : implementation_(std::make_unique<Implementation>()) {}
CholmodFactor::~CholmodFactor() = default;

bool CholmodFactor::update(const BlockMatrix& matrix) {
  const OpenMpOff single_thread;
  Implementation& m = *implementation_;
  if (m.pattern_id != matrix.pattern().id() && !m.analyze(matrix)) return false;
  m.copy_values(matrix);
  const bool done = cholmod_l_factorize(m.matrix, m.factor, &m.common) != 0;
  return done && m.common.status == CHOLMOD_OK && m.factor->minor == m.factor->n;
}

void CholmodFactor::apply(linalg::ConstVector r, linalg::Vector z) {
  const OpenMpOff single_thread;
  Implementation& m = *implementation_;
  assert(m.factor != nullptr && r.size() == m.factor->n);
  cholmod_dense right{};
  right.nrow = right.d = right.nzmax = r.size();
  right.ncol = 1;
  right.x = const_cast<double*>(r.data());  // CHOLMOD does not write to a right-hand side
  right.xtype = CHOLMOD_REAL;
  right.dtype = CHOLMOD_DOUBLE;
  cholmod_l_solve2(CHOLMOD_A, m.factor, &right, nullptr, &m.solution, nullptr, &m.work_y, &m.work_e,
                   &m.common);
  const auto* result = static_cast<const double*>(m.solution->x);
  linalg::copy({result, r.size()}, z);
}

double CholmodFactor::factor_bytes() const {
  const cholmod_factor* factor = implementation_->factor;
  return factor == nullptr ? 0 : static_cast<double>(factor->xsize) * sizeof(double);
}

double CholmodFactor::factor_flops() const { return implementation_->common.fl; }

double measure_blas() {
  const int n = 512;
  const double one = 1, zero = 0;
  const auto size = static_cast<std::size_t>(n) * n;
  const std::vector<double> a(size, 0.5), b(size, 0.25);
  std::vector<double> c(size, 0.0);
  const Stopwatch watch;
  int runs = 0;
  while (watch.seconds() < 0.05) {
    dgemm_("N", "T", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, c.data(), &n);
    ++runs;
  }
  return 2.0 * n * n * n * runs / watch.seconds();
}

}  // namespace lope::rivals
