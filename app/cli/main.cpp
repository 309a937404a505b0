// The program uopscope. Everything is in command_line.cpp, where tests reach it.
#include "app/cli/cli.h"

int main(int argc, char** argv) {
  return uopscope::cli::run(argc, argv);
}
