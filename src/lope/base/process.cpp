#include <lope/base/errors.h>
#include <lope/base/process.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace lope {
namespace {

constexpr long kept_words = 2048;  // bytes

// While it lives, writing to a pipe that nobody reads gives EPIPE and no signal to this thread.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    already_pending_ = pending();
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    if (!already_pending_ && pending()) {
      int signal = 0;
      sigwait(&pipe_, &signal);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  static bool pending() {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, SIGPIPE) == 1;
  }
  sigset_t pipe_, before_;
  bool already_pending_ = false;
};

// A null-terminated argument vector; the strings must outlive it.
std::vector<char*> argument_vector(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  return words;
}

// The status of waitpid, or −1.
int wait_for(pid_t child) {
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
// Nameless and temporary, for what a program prints.
using Words = std::unique_ptr<std::FILE, FileCloser>;

Words nameless_file() {
  Words words(std::tmpfile());
  if (words) ::fcntl(::fileno(words.get()), F_SETFD, FD_CLOEXEC);
  return words;
}

off_t size_of(const Words& words) {
  struct stat state {};
  ::fstat(::fileno(words.get()), &state);
  return state.st_size;
}

// At most so many bytes from the end. The program may write on meanwhile: its place in the file is ours, so that we read without
// moving it.
std::string last_bytes(const Words& words, off_t count) {
  const off_t size = size_of(words);
  std::string text(static_cast<std::size_t>(std::min(size, count)), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t read = ::pread(::fileno(words.get()), text.data() + done, text.size() - done,
                                 std::max<off_t>(size - count, 0) + static_cast<off_t>(done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    done += static_cast<std::size_t>(read);
  }
  text.resize(done);
  return text;
}

std::string end_of(const Words& words) {
  std::string text = last_bytes(words, kept_words);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

}  // namespace

struct PipedProgram::State {
  std::string program;
  pid_t child = -1;
  int input = -1;
  Words errors;

  void close_input() {
    if (input >= 0) ::close(input);
    input = -1;
  }

  int wait() {
    const int status = wait_for(child);
    child = -1;
    return status;
  }

  std::string last_errors() const {
    const std::string text = end_of(errors);
    return text.empty() ? "it gave no reason" : text;
  }
};

PipedProgram::PipedProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
PipedProgram::PipedProgram(PipedProgram&&) noexcept = default;

PipedProgram& PipedProgram::operator=(PipedProgram&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

PipedProgram::~PipedProgram() {
  if (!state_) return;
  state_->close_input();
  if (state_->child > 0) {
    ::kill(state_->child, SIGTERM);
    state_->wait();
  }
}

Expected<PipedProgram> PipedProgram::start(const std::string& program,
                                           const std::vector<std::string>& arguments) {
  auto state = std::make_unique<State>();
  state->program = program;
  state->errors = nameless_file();
  int ends[2] = {-1, -1};
  if (!state->errors || ::pipe(ends) != 0) {
    return environment_error("cannot run '{}': {}", program, std::strerror(errno));
  }
  state->input = ends[1];
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);

  const std::vector<char*> words = argument_vector(program, arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(state->errors.get()), STDERR_FILENO);
  const int failure =
      ::posix_spawnp(&state->child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (failure != 0) {
    state->child = -1;
    state->close_input();
    return environment_error("cannot run the program '{}' ({}); install it or put it into PATH", program,
                             std::strerror(failure));
  }
  return PipedProgram(std::move(state));
}

Expected<void> PipedProgram::write(std::span<const std::uint8_t> bytes) {
  const NoPipeSignal quiet;
  while (!bytes.empty()) {
    const ssize_t taken = ::write(state_->input, bytes.data(), bytes.size());
    if (taken >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(taken));
    } else if (errno != EINTR) {
      const std::string reason = std::strerror(errno);
      state_->close_input();
      state_->wait();
      return environment_error("'{}' stopped reading ({}): {}", state_->program, reason,
                               state_->last_errors());
    }
  }
  return {};
}

Expected<void> PipedProgram::finish() {
  state_->close_input();
  const int status = state_->wait();
  if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (status != -1 && WIFSIGNALED(status)) {
    return environment_error("'{}' was ended by signal {}: {}", state_->program, WTERMSIG(status),
                             state_->last_errors());
  }
  return environment_error("'{}' failed with exit code {}: {}", state_->program,
                           status == -1 ? -1 : WEXITSTATUS(status), state_->last_errors());
}

struct BackgroundProgram::State {
  pid_t child = -1;
  std::optional<int> ended;
  bool interrupted = false;
  Words words;
};

BackgroundProgram::BackgroundProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
BackgroundProgram::BackgroundProgram(BackgroundProgram&&) noexcept = default;

BackgroundProgram& BackgroundProgram::operator=(BackgroundProgram&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

BackgroundProgram::~BackgroundProgram() {
  if (!state_ || ended()) return;
  interrupt();
  wait_for(state_->child);
}

Expected<BackgroundProgram> BackgroundProgram::start(const std::string& program,
                                                     const std::vector<std::string>& arguments) {
  auto state = std::make_unique<State>();
  state->words = nameless_file();
  if (!state->words) return environment_error("cannot run '{}': {}", program, std::strerror(errno));
  const std::vector<char*> words = argument_vector(program, arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(state->words.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(state->words.get()), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int failure =
      ::posix_spawnp(&state->child, program.c_str(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return environment_error("cannot run the program '{}' ({})", program, std::strerror(failure));
  return BackgroundProgram(std::move(state));
}

std::optional<int> BackgroundProgram::ended() {
  int status = 0;
  if (state_->ended || ::waitpid(state_->child, &status, WNOHANG) != state_->child) return state_->ended;
  state_->ended = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return state_->ended;
}

void BackgroundProgram::interrupt() {
  if (!state_->interrupted && !ended()) ::kill(state_->child, SIGINT);
  state_->interrupted = true;
}

void BackgroundProgram::ask_to_save() {
  if (!ended()) ::kill(state_->child, SIGUSR1);
}

std::string BackgroundProgram::last_words() const { return end_of(state_->words); }

Expected<int> run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const std::vector<char*> words = argument_vector(program, arguments);
  pid_t child = -1;
  if (const int failure = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words.data(), environ);
      failure != 0) {
    return environment_error("cannot run the program '{}' ({})", program, std::strerror(failure));
  }
  const int status = wait_for(child);
  if (status != -1 && WIFEXITED(status)) return WEXITSTATUS(status);
  return environment_error("'{}' was ended by signal {}", program, status == -1 ? 0 : WTERMSIG(status));
}

Expected<std::string> read_program(const std::string& program, const std::vector<std::string>& arguments) {
  const Words output = nameless_file();
  if (!output) return environment_error("cannot run '{}': {}", program, std::strerror(errno));
  const std::vector<char*> words = argument_vector(program, arguments);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(output.get()), STDOUT_FILENO);
  pid_t child = -1;
  const int failure = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    return environment_error("cannot run the program '{}' ({})", program, std::strerror(failure));
  const int status = wait_for(child);
  if (status == -1 || !WIFEXITED(status))
    return environment_error("'{}' was ended by signal {}", program, status == -1 ? 0 : WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return environment_error("'{}' failed with exit code {}", program, WEXITSTATUS(status));
  return last_bytes(output, size_of(output));
}

}  // namespace lope
