// The program, but for its main: another one may add kinds of matter (scene::add_kind) and then be the same program.
#pragma once

namespace lope::program {

// Reads the arguments, does what they say and returns the exit code.
int run(int argc, char** argv);

}  // namespace lope::program
