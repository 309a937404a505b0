// Memory goes back to the system, and what was given back is there when it is needed again.
#include "engine/base/child_process.h"
#include "engine/base/process_memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace uopscope;

namespace {
/// Bytes of the process that are in memory.
size_t resident() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, pages = 0;
  file >> total >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}
} // namespace

TEST_CASE("code and constants come back after their pages were given back") {
  std::vector<std::string> words{"kernel", "range", "schedule"};
  size_t before = resident();
  giveBackStartupPages();
  CHECK(resident() <= before);
  std::string joined;
  std::thread([&] {
    for (const std::string& w : words) joined += w + " ";
  }).join();
  CHECK(joined == "kernel range schedule ");
  CHECK_THROWS_AS((void)words.at(3), std::out_of_range); // tables of unwinding are among the pages
}

// Threads of earlier tests leave parts of the heap behind, so this runs in a process of its own.
TEST_CASE("a process gives back what it freed" * doctest::skip()) {
  constexpr size_t kBlock = 40'000, kBlocks = 5'000; // 200 MB in pieces that an allocator keeps
  std::vector<std::unique_ptr<char[]>> blocks;
  for (size_t k = 0; k < kBlocks; ++k) {
    blocks.push_back(std::make_unique<char[]>(kBlock));
    std::memset(blocks.back().get(), 1, kBlock);
  }
  const size_t full = resident();
  blocks.clear();
  giveBackFreedMemory();
  CHECK(resident() + kBlock * kBlocks / 2 < full);
}

#ifndef __SANITIZE_ADDRESS__ // it keeps freed memory to find uses of it
TEST_CASE("freed memory goes back to the system") {
  FinishedChild alone = runProgram({"/proc/self/exe", "-ns", "-tc=a process gives back what it freed"});
  CHECK_MESSAGE(alone.succeeded(), alone.out);
  CHECK(alone.out.find("1 passed") != std::string::npos);
}
#endif
