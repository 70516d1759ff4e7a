#include "program.h"

int main(int argc, char** argv) { return lope::program::run(argc, argv); }
