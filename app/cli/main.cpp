// The program uopscope. All code is in command_line.cpp, where tests can reach it.
#include "app/cli/cli.h"
#include "engine/base/process_memory.h"

int main(int argc, char** argv) {
  uopscope::giveBackStartupPages();
  return uopscope::cli::run(argc, argv);
}
