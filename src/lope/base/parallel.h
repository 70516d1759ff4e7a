// Threads. Every loop is cut into chunks whose boundaries depend on the range alone, never on the number of
// threads, and reductions add the chunks' results in order: the same input gives the same bits on any machine
// of one kind, with any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>

namespace lope {

// Limits the number of threads for as long as it lives (0: as many as there are cores). Where the system does not give so
// many, there are fewer, and a warning.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  void* control_ = nullptr;
};

int thread_count();

using ChunkBody = std::function<void(std::size_t begin, std::size_t end)>;
using ChunkSum = std::function<double(std::size_t begin, std::size_t end)>;

// Calls body(begin, end) for consecutive chunks of `grain` indices of [0, size), in parallel.
void parallel_chunks(std::size_t size, std::size_t grain, const ChunkBody& body);

// Sum of partial(begin, end) over the chunks, added in the order of the chunks.
double parallel_sum(std::size_t size, std::size_t grain, const ChunkSum& partial);

// Largest partial(begin, end) over the chunks (−infinity for an empty range; a NaN anywhere gives NaN).
double parallel_max(std::size_t size, std::size_t grain, const ChunkSum& partial);

// body(i) for every i of [0, size), in parallel chunks of `grain`.
template <class Body>
void parallel_for(std::size_t size, std::size_t grain, const Body& body) {
  parallel_chunks(size, grain, [&body](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  });
}

// Runs body(task, worker) for the tasks 0 … count − 1, which may differ much in size: they start in this
// order, each as soon as a thread is free. Tasks that run at the same time have different workers, all below
// worker_count(), so that a worker's number can choose the scratch memory. The body must not start parallel
// work itself.
using TaskBody = std::function<void(std::size_t task, std::size_t worker)>;
void parallel_tasks(std::size_t count, const TaskBody& body);
std::size_t worker_count();

// Runs two independent pieces of work, side by side where there are threads for it.
void parallel_pair(const std::function<void()>& first, const std::function<void()>& second);

}  // namespace lope
