// Its words in scene files.
#pragma once

#include "../../examples/cpp/chain_kind.h"
