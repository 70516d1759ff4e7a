#include <lope/base/log.h>
#include <lope/base/timer.h>
#include <lope/linalg/cholesky.h>

#include <cassert>
#include <vector>

#include <cholmod.h>
#include <metis.h>

// BLIS (no header needed for these): the architecture it dispatches to, and the standard dgemm.
extern "C" {
int bli_arch_query_id(void);
const char* bli_arch_string(int id);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace lope::linalg {
namespace {

using Index = SuiteSparse_long;

// Fill-reducing order of the block rows: order[k] is the row eliminated k-th.
std::vector<Index> nested_dissection(const BlockPattern& pattern) {
  const int n = pattern.rows();
  std::vector<idx_t> start(static_cast<std::size_t>(n) + 1, 0);
  std::vector<idx_t> neighbours;
  neighbours.reserve(static_cast<std::size_t>(pattern.blocks()));
  for (int row = 0; row < n; ++row) {
    const auto begin = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(pattern.row_start()[static_cast<std::size_t>(row) + 1]);
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (pattern.column()[slot] != row) neighbours.push_back(pattern.column()[slot]);
    }
    start[static_cast<std::size_t>(row) + 1] = static_cast<idx_t>(neighbours.size());
  }
  idx_t count = n;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> order(static_cast<std::size_t>(n)), inverse(static_cast<std::size_t>(n));
  neighbours.resize(std::max<std::size_t>(neighbours.size(), 1));
  METIS_NodeND(&count, start.data(), neighbours.data(), nullptr, options, order.data(), inverse.data());
  return {order.begin(), order.end()};
}

std::vector<Index> expand(const std::vector<Index>& block_order, int block_size) {
  std::vector<Index> order;
  order.reserve(block_order.size() * static_cast<std::size_t>(block_size));
  for (const Index row : block_order) {
    for (int i = 0; i < block_size; ++i) order.push_back(row * block_size + i);
  }
  return order;
}

void report(int status, const char* file, int line, const char* message) {
  if (status == CHOLMOD_NOT_POSDEF) return;  // an answer, not a fault: update() returns false
  log_warning("CHOLMOD: {} ({}:{})", message, file, line);
}

}  // namespace

struct Cholesky::Implementation {
  explicit Implementation(Factorization factorization) : kind(factorization) {
    cholmod_l_start(&common);
    common.print = 0;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_GIVEN;
    common.postorder = true;
    common.supernodal = kind == Factorization::Definite ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common.final_ll = kind == Factorization::Definite;
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
    std::vector<Index> order = expand(nested_dissection(source.pattern()), source.block_size());
    factor = cholmod_l_analyze_p(matrix, order.data(), nullptr, 0, &common);
    return factor != nullptr;
  }

  Factorization kind;
  cholmod_common common{};
  cholmod_sparse* matrix = nullptr;
  cholmod_factor* factor = nullptr;
  cholmod_dense* solution = nullptr;
  cholmod_dense* work_y = nullptr;
  cholmod_dense* work_e = nullptr;
  std::uint64_t pattern_id = 0;
};

Cholesky::Cholesky(Factorization kind) : implementation_(std::make_unique<Implementation>(kind)) {}
Cholesky::~Cholesky() = default;

bool Cholesky::update(const BlockMatrix& matrix) {
  Implementation& m = *implementation_;
  if (m.pattern_id != matrix.pattern().id() && !m.analyze(matrix)) return false;
  m.copy_values(matrix);
  const bool done = cholmod_l_factorize(m.matrix, m.factor, &m.common) != 0;
  return done && m.common.status == CHOLMOD_OK && m.factor->minor == m.factor->n;
}

void Cholesky::apply(ConstVector r, Vector z) {
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
  copy({result, r.size()}, z);
}

double Cholesky::factor_bytes() const {
  const cholmod_factor* factor = implementation_->factor;
  return factor == nullptr
             ? 0
             : static_cast<double>(factor->is_super ? factor->xsize : factor->nzmax) * sizeof(double);
}

double Cholesky::factor_flops() const { return implementation_->common.fl; }

std::string blas_kernels() { return bli_arch_string(bli_arch_query_id()); }

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

}  // namespace lope::linalg
