// Sums of packed counts say the same as the counts of each pass, added up, early rejections included.
#include "replay/record/match_sums.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Adds the counts of every pass, in both ways.
struct BothWays : Observer {
  RuleBook book;
  RuleCache cache{book};
  MatchSums all;                   ///< one sum
  std::vector<MatchSums> parts{3}; ///< sums of every third pass, added up later
  MatchCounts expected;
  uint64_t matches = 0, expectedMatches = 0, stopped = 0;
  size_t passes = 0;
  bool wantsCounts() const override { return true; }
  void onGate(UOp) override { ++stopped; }
  void onCounts(const PassCounts& counts) override {
    const std::vector<uint8_t> packed = packCounts(counts, cache);
    matches += all.add(packed);
    parts[passes++ % 3].add(packed);
    counts.forEach([&](const MatchCount& c) {
      MatchCell cell;
      std::copy_n(c.count, kMatchOutcomes, cell.count.begin());
      std::copy_n(c.ns, kMatchOutcomes, cell.ns.begin());
      expected.add(cache.indexOf(*c.rule), static_cast<uint32_t>(c.op), cell);
      expectedMatches += c.count[size_t(Outcome::Applied)] + c.count[size_t(Outcome::Unchanged)];
    });
  }
  MatchCounts spelledOut(const MatchSums& sums) {
    MatchCounts counts;
    sums.forEach(book, [&](uint32_t rule, Op op, const MatchCell& cell) {
      counts.add(rule, static_cast<uint32_t>(op), cell);
    });
    return counts;
  }
};

} // namespace

TEST_CASE("sums of packed counts are the counts of the passes added up") {
  BothWays both;
  {
    ObserverScope watch(&both);
    for (uint32_t seed = 1; seed <= 60; ++seed) compileKernel(seed, 20 + static_cast<int>(seed) * 3);
  }
  CHECK(both.passes > 100);
  CHECK(both.stopped > 0); // rules that end a node without an outcome occur among them
  CHECK(both.matches == both.expectedMatches);
  CHECK(both.spelledOut(both.all).encode() == both.expected.encode());
  CHECK(both.spelledOut(both.all).encodeTimes() == both.expected.encodeTimes());
  MatchSums joined;
  for (const MatchSums& part : both.parts) joined.add(part);
  CHECK(both.spelledOut(joined).encode() == both.expected.encode());
}

TEST_CASE("in tier stats no pool waits for the writer") {
  TempTrace file;
  recordTo(
      file.path,
      [] {
        for (uint32_t seed = 1; seed <= 4; ++seed) {
          auto pool = std::make_shared<Pool>();
          const std::weak_ptr<Pool> watched = pool;
          compileKernel(seed, 120, *pool);
          Observer::current()->poolDone(std::move(pool));
          CHECK(watched.expired());
        }
      },
      Tier::Stats);
  CHECK(Trace(file.path).scopes().size() == 4);
}
