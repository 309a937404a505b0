// A trace of times alone, as an import makes it: it opens at its timeline, its kernels can be chosen, and lanes of one device
// lie together.
#include "replay/record/trace_rows.h"
#include "tests/replay/support.h"
#include "tests/viz/support.h"
#include "viz/models/session/tools.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

using namespace uopscope;
using namespace uopscope::test;

namespace {
using Json = nlohmann::ordered_json;

/// Two kernels of a device, each with work on a device and two pieces of it side by side on two of its units.
void writeTimes(const std::string& path) {
  TraceRows rows(path);
  int64_t launches = 0;
  for (int64_t kernel : {1, 2}) {
    const int64_t begin = kernel * 100'000;
    rows.insert("scope", Json{{"id", kernel},
                              {"kind", "kernel"},
                              {"name", rows.string(kernel == 1 ? "E_4" : "r_4")},
                              {"line", 0},
                              {"begin_ns", begin},
                              {"end_ns", begin + 5'000}});
    for (const char* unit : {"GPU 10", "GPU 9", "GPU 10", "GPU 9", "GPU"})
      rows.insert("launch", Json{{"id", ++launches},
                                 {"kernel", rows.string("wave")},
                                 {"device", rows.string(unit)},
                                 {"flops", 0},
                                 {"bytes", 0},
                                 {"begin_ns", begin + 1'000},
                                 {"took_ns", 2'000},
                                 {"compiled", kernel}});
    rows.text(kernel, kernel, rows.string("asm"), "k:\n\ts_endpgm\n", {});
  }
  rows.finish({{"foreign", "made by a test"}});
}
} // namespace

TEST_CASE("times: a trace without rewrites opens at its timeline, and a chosen kernel is shown there") {
  TempTrace file;
  writeTimes(file.path);
  application();
  Session session;
  Tools tools(session);
  session.open(QString::fromStdString(file.path));
  REQUIRE(waitFor([&] { return session.settled(); }));
  REQUIRE(session.state() == "ready");
  CHECK(session.tab() == "timeline");
  CHECK(session.scope() == 1);
  CHECK(session.scopeKind() == "kernel");
  CHECK(session.pass() == 0);
  TimelineModel& timeline = *tools.timeline();
  timeline.load();
  REQUIRE(waitFor([&] { return timeline.ready(); }));
  const std::vector<std::string> lanes = {
      "schedules, kernels", "runs on GPU", "runs on GPU 9", "", "runs on GPU 10", ""};
  CHECK(timeline.data()->lanes == lanes);
  CHECK(timeline.to() - timeline.from() > 100'000);                                   // both kernels
  for (const TimelineSpan& span : timeline.data()->spans) CHECK(span.detail.empty()); // no rate is known

  session.goToScope(2);
  REQUIRE(waitFor([&] { return session.settled(); }));
  CHECK(session.scope() == 2);
  CHECK(timeline.from() > 190'000);
  CHECK(timeline.to() < 210'000);
  timeline.showWork();
  CHECK(timeline.from() < 110'000);
  timeline.showScope();
  CHECK(timeline.from() > 190'000);

  timeline.follow(0); // the first kernel's bar
  REQUIRE(waitFor([&] { return session.settled(); }));
  CHECK(session.tab() == "asm");
  CHECK(session.scope() == 1);
  session.close();
  CHECK_FALSE(timeline.ready());
}
