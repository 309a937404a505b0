// A group of sums that is known already gives the rows of one that is spelled out: groups, sets, passes and times.
#include "replay/record/count_writer.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

struct Passes : Observer {
  RuleBook book;
  RuleCache cache{book};
  std::vector<MatchSums> sums;
  bool wantsCounts() const override { return true; }
  void onCounts(const PassCounts& counts) override {
    // One in four holds two passes, so lists of an operation meet.
    if (passes % 4 != 3) sums.emplace_back();
    sums.back().add(packCounts(counts, cache));
    ++passes;
    if (passes % 7 == 0) sums.push_back(sums[passes % sums.size()]);
  }
  size_t passes = 0;
};

std::vector<std::string> rowsOf(const Database& db) {
  std::vector<std::string> out;
  for (const char* table : {"match_tried", "match_group", "match_set", "match_pass", "packed_time"})
    for (Statement s = db.prepare(std::string("SELECT * FROM ") + table + " ORDER BY 1, 2"); s.step();) {
      std::string row = table;
      for (int k = 0; k < s.columns(); ++k) {
        const auto blob = s.blob(k);
        row += " " + std::string(blob.begin(), blob.end());
      }
      out.push_back(row);
    }
  return out;
}

} // namespace

TEST_CASE("sums of known groups are written like those spelled out") {
  Passes passes;
  {
    ObserverScope watch(&passes);
    for (uint32_t seed = 1; seed <= 30; ++seed) compileKernel(seed % 7, 20 + static_cast<int>(seed % 7) * 3);
  }
  REQUIRE(passes.sums.size() > 100);
  TempTrace quickFile, slowFile;
  Database quick = Database::create(quickFile.path), slow = Database::create(slowFile.path);
  createTables(quick);
  createTables(slow);
  const auto ruleId = [](uint32_t rule) { return int64_t{rule} * 7 % 1009 + 1; };
  CountWriter quickWriter(quick, passes.book, ruleId), names(slow, passes.book, ruleId);
  MatchBlockWriter slowWriter(slow);
  for (int64_t pass = 1; const MatchSums& sums : passes.sums) {
    quickWriter.add(pass, pass % 3, sums);
    slowWriter.add(pass, pass % 3, names.named(sums));
    ++pass;
  }
  quickWriter.flush();
  slowWriter.flush();
  const auto rows = rowsOf(quick);
  CHECK(rows.size() > passes.sums.size());
  CHECK(rows == rowsOf(slow));
}
