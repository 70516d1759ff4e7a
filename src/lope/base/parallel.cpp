#include <lope/base/log.h>
#include <lope/base/parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <vector>

#include <pthread.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#if defined(LOPE_TELL_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace lope {
namespace {

// Debian's oneTBB is not compiled for the thread sanitizer, which cannot see that the pieces of a loop begin after
// the loop and end before it does. Here it is told, so that what it reports is true: two pieces at one place. This
// source is compiled without it (CMakeLists.txt), since it would report oneTBB's templates.
class ForkJoin {
 public:
  ForkJoin() { release(begin_); }
  ~ForkJoin() { acquire(end_); }
  ForkJoin(const ForkJoin&) = delete;
  ForkJoin& operator=(const ForkJoin&) = delete;

  template <class Piece>
  void run(const Piece& piece) {
    acquire(begin_);
    piece();
    release(end_);
  }

#if defined(LOPE_TELL_THREAD_SANITIZER)
  static void acquire(char& place) { __tsan_acquire(&place); }
  static void release(char& place) { __tsan_release(&place); }
#else
  static void acquire(char&) {}
  static void release(char&) {}
#endif

 private:
  char begin_ = 0, end_ = 0;
};

std::size_t chunk_count(std::size_t size, std::size_t grain) { return (size + grain - 1) / grain; }

template <class Body>
void for_each_chunk(std::size_t size, std::size_t grain, const Body& body) {
  grain = std::max<std::size_t>(grain, 1);
  const std::size_t chunks = chunk_count(size, grain);
  const auto run = [&](std::size_t chunk) {
    const std::size_t begin = chunk * grain;
    body(chunk, begin, std::min(begin + grain, size));
  };
  if (chunks == 1) return run(0);
  ForkJoin loop;
  tbb::parallel_for(std::size_t{0}, chunks, [&](std::size_t chunk) { loop.run([&] { run(chunk); }); });
}

std::vector<double> chunk_results(std::size_t size, std::size_t grain, const ChunkSum& partial) {
  grain = std::max<std::size_t>(grain, 1);
  std::vector<double> results(chunk_count(size, grain));
  for_each_chunk(size, grain, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
    results[chunk] = partial(begin, end);
  });
  return results;
}

// Starts up to `wanted` threads that live at the same time, with stacks like those of oneTBB; how many there were.
int startable_threads(int wanted) {
  constexpr std::size_t stack = std::size_t{4} << 20;
  std::mutex gate;
  std::vector<pthread_t> started;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  {
    const std::scoped_lock closed(gate);
    const auto pass = [](void* closed_gate) -> void* {
      const std::scoped_lock passed(*static_cast<std::mutex*>(closed_gate));
      return nullptr;
    };
    pthread_t thread{};
    while (static_cast<int>(started.size()) < wanted &&
           pthread_create(&thread, &attributes, pass, &gate) == 0) {
      started.push_back(thread);
    }
  }
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  return static_cast<int>(started.size());
}

// As many of the `wanted` threads as the system gives, this one included: oneTBB ends the program where it cannot
// start one. Where they are not all to be had it is half of them, which leaves something for the work itself. What was
// found is kept, because a second trial would count the threads of oneTBB as well.
int affordable_threads(int wanted) {
  static std::mutex mutex;
  static int proven = 1, most = std::numeric_limits<int>::max();
  const std::scoped_lock lock(mutex);
  if (wanted > proven && proven < most) {
    const int extra = startable_threads(wanted - 1);
    if (extra < wanted - 1) most = std::max(proven, 1 + extra / 2);
    proven = std::min(wanted, most);
  }
  return std::min(wanted, most);
}

}  // namespace

ThreadLimit::ThreadLimit(int threads) {
  const int wanted = threads > 0 ? threads : thread_count(), given = affordable_threads(wanted);
  if (given < wanted) log_warning("the system does not give {} threads; going on with {}", wanted, given);
  if (threads <= 0 && given == wanted) return;
  control_ =
      new tbb::global_control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(given));
}

ThreadLimit::~ThreadLimit() { delete static_cast<tbb::global_control*>(control_); }

int thread_count() {
  return static_cast<int>(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

void parallel_chunks(std::size_t size, std::size_t grain, const ChunkBody& body) {
  for_each_chunk(size, grain, [&](std::size_t, std::size_t begin, std::size_t end) { body(begin, end); });
}

double parallel_sum(std::size_t size, std::size_t grain, const ChunkSum& partial) {
  double sum = 0;
  for (const double part : chunk_results(size, grain, partial)) sum += part;
  return sum;
}

double parallel_max(std::size_t size, std::size_t grain, const ChunkSum& partial) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double part : chunk_results(size, grain, partial)) {
    if (std::isnan(part)) return part;
    largest = std::max(largest, part);
  }
  return largest;
}

void parallel_tasks(std::size_t count, const TaskBody& body) {
  std::atomic<std::size_t> next{0};
  ForkJoin loop;
  std::vector<char> turns(worker_count());  // of one worker, which different threads may take
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t) {
    const auto worker = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    loop.run([&] {
      ForkJoin::acquire(turns[worker]);
      body(next++, worker);
      ForkJoin::release(turns[worker]);
    });
  });
}

std::size_t worker_count() {
  return static_cast<std::size_t>(std::max(tbb::this_task_arena::max_concurrency(), thread_count()));
}

void parallel_pair(const std::function<void()>& first, const std::function<void()>& second) {
  ForkJoin both;
  tbb::parallel_invoke([&] { both.run(first); }, [&] { both.run(second); });
}

}  // namespace lope
