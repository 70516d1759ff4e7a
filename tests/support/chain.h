// The kind of matter of the tests is an example of the library.
#pragma once

#include "../../examples/cpp/chain.h"
