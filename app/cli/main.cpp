// The program uopscope. All code is in command_line.cpp, where tests can reach it.
#include "app/cli/cli.h"

int main(int argc, char** argv) {
  return uopscope::cli::run(argc, argv);
}
