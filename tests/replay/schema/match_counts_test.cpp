// Encoding and decoding match counts returns the same counts, and decoding is safe for any bytes.
#include "replay/schema/match_counts.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace uopscope;

namespace {
using Cells = std::map<std::pair<uint32_t, uint32_t>, MatchCell>;

Cells randomCells(uint32_t seed) {
  std::mt19937 random(seed);
  Cells out;
  for (int k = 0; k < 200; ++k) {
    MatchCell cell;
    cell.count[random() % 5] = random() % (1 << (random() % 30)) + 1;
    if (random() % 3 == 0) cell.count[1] += random() % 100;
    if (random() % 4 == 0) cell.ns[random() % 5] = static_cast<int64_t>(random()) << (random() % 20);
    out[{random() % 5000, random() % 100}].add(cell);
  }
  return out;
}
} // namespace

TEST_CASE("match counts survive encoding") {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    Cells cells = randomCells(seed), read;
    MatchCounts counts;
    for (const auto& [key, cell] : cells) counts.add(key.first, key.second, cell);
    auto bytes = counts.encode(), times = counts.encodeTimes();
    REQUIRE(MatchCounts::decode(bytes, times, [&](uint32_t rule, uint32_t op, const MatchCell& cell) {
      CHECK(read.emplace(std::pair(rule, op), cell).second);
    }));
    REQUIRE(read.size() == cells.size());
    for (const auto& [key, cell] : cells) {
      CHECK(read[key].count == cell.count);
      CHECK(read[key].ns == cell.ns);
    }
  }
}

TEST_CASE("an early rejection takes three bytes") {
  MatchCounts counts;
  for (uint32_t rule = 1; rule <= 100; ++rule) {
    MatchCell cell;
    cell.count[0] = 7;
    counts.add(rule, 3, cell);
  }
  CHECK(counts.encode().size() <= 302);
  CHECK(counts.encodeTimes().empty());
}

TEST_CASE("bytes that are no match counts are refused or read, nothing else") {
  std::mt19937 random(5);
  Cells cells = randomCells(1);
  MatchCounts counts;
  for (const auto& [key, cell] : cells) counts.add(key.first, key.second, cell);
  auto bytes = counts.encode(), times = counts.encodeTimes();
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    auto damaged = bytes, damagedTimes = times;
    for (int k = 0; k <= round % 5; ++k) {
      damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      damagedTimes[random() % damagedTimes.size()] = static_cast<uint8_t>(random());
    }
    damaged.resize(damaged.size() - random() % damaged.size() / 2);
    size_t read = 0;
    refused +=
        !MatchCounts::decode(damaged, damagedTimes, [&](uint32_t, uint32_t, const MatchCell&) { ++read; });
    CHECK(read <= damaged.size());
  }
  CHECK(refused > 100);
}
