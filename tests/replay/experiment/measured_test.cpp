// Experiments as they are shown: cells, pairs within one file and between two, verdicts, and files that are refused.
#include "replay/experiment/bench_html.h"
#include "tests/replay/experiment/made_experiment.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

TEST_CASE("an experiment is read with values, summaries, failures and kernels of every cell") {
  const MadeExperiment file({.failing = true});
  const Measured e = measured(file.path);
  REQUIRE(e.cells.size() == 4);
  CHECK(e.at("seed") == "0");
  CHECK(e.at("no such fact").empty());
  const MeasuredCell& first = e.cells[0];
  CHECK(first.cell.name() == "DEV=CPU NOOPT=0");
  CHECK(first.of(Metric::Wall).size() == 7); // warm-up and the failed run are not counted
  CHECK(first.failed == 1);
  CHECK(first.failure == "ValueError: no such size");
  CHECK(first.summary(Metric::Wall).median == doctest::Approx(102e6));
  CHECK(first.counts == std::pair<int64_t, int64_t>(2, 3));
  REQUIRE(first.kernels.size() == 2);
  CHECK(first.kernels[1].source.find("r_4_4") != std::string::npos);
}

TEST_CASE("pairs of one experiment differ in one setting, and their names say in which") {
  const MadeExperiment file;
  const Measured e = measured(file.path);
  const CellPairs found = pairsWithin(e);
  REQUIRE(found.pairs.size() == 4);
  CHECK(found.pairs[0].name == "DEV CPU to REF (NOOPT=0)");
  CHECK(found.pairs[3].name == "NOOPT 0 to 1 (DEV=REF)");
  for (const CellPair& pair : found.pairs) {
    CHECK(compareMetric(pair, Metric::Wall).verdict == Verdict::Slower);
    CHECK(compareMetric(pair, Metric::Peak).verdict == Verdict::NoDifference);
  }
}

TEST_CASE("five per cent between two experiments are found, none are not, and other machines are named") {
  const MadeExperiment before, same, slower({.factor = 1.05, .machine = "another machine"});
  const Measured a = measured(before.path), b = measured(same.path), c = measured(slower.path);
  for (const CellPair& pair : pairsBetween(a, b).pairs)
    for (const Metric metric : kMetrics) CHECK(compareMetric(pair, metric).verdict == Verdict::NoDifference);
  const CellPairs found = pairsBetween(a, c);
  REQUIRE(found.pairs.size() == 4);
  for (const CellPair& pair : found.pairs) {
    const Comparison wall = compareMetric(pair, Metric::Wall);
    CHECK(wall.verdict == Verdict::Slower);
    CHECK(changeText(wall.ratio) == "+5.0 %");
    CHECK(compareMetric(pair, Metric::Schedule).verdict == Verdict::NoDifference);
  }
  CHECK(incomparable(a, b).empty());
  CHECK(incomparable(a, c).find("machine") != std::string::npos);
}

TEST_CASE("files of two builds are compared although their programs differ") {
  const MadeExperiment before({.program = "a/uopscope"}), after({.factor = 1.05, .program = "b/uopscope"});
  const Measured a = measured(before.path), b = measured(after.path);
  const CellPairs found = pairsBetween(a, b);
  REQUIRE(found.pairs.size() == 4);
  CHECK(found.pairs[0].name == "DEV=CPU NOOPT=0");
  CHECK(compareMetric(found.pairs[0], Metric::Wall).verdict == Verdict::Slower);
}

TEST_CASE("pages of an experiment and of a comparison hold every cell, and text of the file is text") {
  const MadeExperiment file({.script = "<script>alert(1)</script>"}), after({.factor = 1.2});
  const Measured e = measured(file.path), other = measured(after.path);
  for (const std::string& page : {benchPage(e), comparisonPage(e, &other, pairsBetween(e, other)),
                                  comparisonPage(e, nullptr, pairsWithin(e))}) {
    CHECK(page.find("<script>") == std::string::npos);
    CHECK(page.find("DEV=REF") != std::string::npos);
    CHECK(page.find("<svg") != std::string::npos);
    CHECK(page.find("http") == std::string::npos);
  }
  CHECK(comparisonPage(e, &other, pairsBetween(e, other)).find("worse") != std::string::npos);
}

TEST_CASE("files of the first format are read, and newer ones are refused") {
  const MadeExperiment file;
  CHECK_FALSE(measured(file.path).cells[0].captured);
  auto make = [&](const char* sql) { Database::openForWriting(file.path).execute(sql); };
  make("INSERT INTO compilations VALUES (1, x'00')");
  CHECK(measured(file.path).cells[0].captured);
  make("DROP TABLE compilations");
  make("PRAGMA user_version = 1");
  const Measured old = measured(file.path);
  CHECK(old.cells.size() == 4);
  CHECK_FALSE(old.cells[0].captured);
  make("PRAGMA user_version = 99");
  CHECK_THROWS_AS(measured(file.path), Error);
}

TEST_CASE("settings nested without end, runs of no cell and a foreign table are an error or are left out") {
  const MadeExperiment file;
  {
    Database db = Database::openForWriting(file.path);
    std::string deep(200'000, '[');
    db.prepare("UPDATE cell SET settings = ? WHERE id = 1")
        .bind(1, "{\"x\": " + deep + std::string(200'000, ']') + "}")
        .run();
    db.execute("UPDATE run SET cell = 99 WHERE cell = 2");
  }
  const Measured e = measured(file.path);
  REQUIRE(e.cells.size() == 4);
  size_t empty = 0;
  for (const MeasuredCell& c : e.cells) empty += c.of(Metric::Wall).empty();
  CHECK(empty == 1);
  {
    Database db = Database::openForWriting(file.path);
    db.execute("DROP TABLE run");
  }
  CHECK_THROWS_AS(measured(file.path), Error);
  CHECK_THROWS_AS(measured(std::string(UOPSCOPE_SOURCE_DIR) + "/README.md"), Error);
}
