// Memory planner: two buffers that live together never overlap, and freed memory is used again.
#include "engine/schedule/memory_planner.h"

#include <doctest/doctest.h>

#include <random>

using namespace uopscope::sched;

TEST_CASE("buffers one after the other share memory") {
  MemoryPlan plan =
      planMemory(std::vector<Lifetime>{{"CPU", 4096, 0, 3}, {"CPU", 1024, 4, 6}, {"CPU", 100, 5, 6}});
  CHECK(plan.offsets[0] == 0);
  CHECK(plan.offsets[1] != plan.offsets[2]);
  CHECK(plan.arenaBytes.at("CPU") == 4096);
}

TEST_CASE("devices have arenas of their own") {
  MemoryPlan plan = planMemory(std::vector<Lifetime>{{"CPU", 512, 0, 1}, {"CPU:1", 256, 0, 1}});
  CHECK(plan.arenaBytes.at("CPU") == 512);
  CHECK(plan.arenaBytes.at("CPU:1") == 256);
}

TEST_CASE("an arena is as small as what lives together, though in order of time a gap would stay") {
  // In order of time the third buffer goes behind the second, since the place of the first is too narrow, and that
  // place is lost for the fourth.
  std::vector<Lifetime> lives{
      {"CPU", 1024, 0, 1}, {"CPU", 1024, 0, 9}, {"CPU", 2048, 2, 4}, {"CPU", 3072, 5, 9}};
  CHECK(planMemory(lives).arenaBytes.at("CPU") == 4096);
}

TEST_CASE("random lifetimes never overlap in both time and place") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lives;
    for (int k = 0; k < 40; ++k) {
      size_t first = random() % 30;
      lives.push_back({"CPU", static_cast<int64_t>(random() % 5000), first, first + random() % 8});
    }
    MemoryPlan plan = planMemory(lives);
    int64_t all = 0;
    for (size_t a = 0; a < lives.size(); ++a) {
      all += lives[a].bytes + 256;
      CHECK(plan.offsets[a] % 256 == 0);
      CHECK(plan.offsets[a] + lives[a].bytes <= plan.arenaBytes.at("CPU"));
      for (size_t b = 0; b < a; ++b) {
        bool together = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
        bool overlap = plan.offsets[a] < plan.offsets[b] + lives[b].bytes &&
                       plan.offsets[b] < plan.offsets[a] + lives[a].bytes;
        CHECK_FALSE((together && overlap));
      }
    }
    CHECK(plan.arenaBytes.at("CPU") < all);
  }
}
