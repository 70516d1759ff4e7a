// Running other programs: no shell, arguments handed over as they are.
#pragma once

#include <lope/base/expected.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lope {

// A program that reads what we write to its standard input. Its standard output is dropped; of what it writes
// to standard error the last two kilobytes are kept for the message if it fails. All failures are Environment
// errors: the program is not there, it stopped reading, it ended with another exit code than 0 or by a
// signal.
class PipedProgram {
 public:
  // Looks `program` up in PATH.
  static Expected<PipedProgram> start(const std::string& program, const std::vector<std::string>& arguments);

  PipedProgram(PipedProgram&&) noexcept;
  PipedProgram& operator=(PipedProgram&&) noexcept;
  ~PipedProgram();  // a program that was not finished is ended

  // Blocks until the program has taken all bytes.
  Expected<void> write(std::span<const std::uint8_t> bytes);

  // Closes the program's input, waits for its end and says whether it was a good one. Call it once, last.
  Expected<void> finish();

 private:
  struct State;
  explicit PipedProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A program that goes on beside ours, in a process group of its own: what a terminal sends to us does not reach it. It reads
// nothing; of what it prints the last two kilobytes can be asked for.
class BackgroundProgram {
 public:
  // Looks `program` up in PATH.
  static Expected<BackgroundProgram> start(const std::string& program,
                                           const std::vector<std::string>& arguments);

  BackgroundProgram(BackgroundProgram&&) noexcept;
  BackgroundProgram& operator=(BackgroundProgram&&) noexcept;
  ~BackgroundProgram();  // interrupts it and waits for its end

  // The exit code, or 128 + the signal that ended it; nothing while it goes on.
  std::optional<int> ended();
  void interrupt();    // as Ctrl-C does
  void ask_to_save();  // SIGUSR1, which a program of ours takes for the wish that it write a checkpoint
  std::string last_words() const;

 private:
  struct State;
  explicit BackgroundProgram(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Runs a program with our standard streams and waits for its end: its exit code. A program that cannot be
// started or is ended by a signal is an Environment error.
Expected<int> run_program(const std::string& program, const std::vector<std::string>& arguments);

// Runs a program that reads nothing and waits for its end: all that it prints to its standard output. Another exit code than 0
// is an Environment error too. What it says on standard error goes where ours does.
Expected<std::string> read_program(const std::string& program, const std::vector<std::string>& arguments);

}  // namespace lope
