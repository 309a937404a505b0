// The roofline by hand: kernels with known work and time under given peaks, and peaks that make sense.
#include "engine/base/clock.h"
#include "replay/experiment/rates.h"
#include "replay/experiment/roofline.h"
#include "replay/record/session.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Launches that took what they are told: kernel "product" of 2 GFLOP on 1 MB, "copy" of 100 MB, "idle" untimed.
std::string launchedTrace(const TempTrace& file) {
  recordTo(file.path, [] {
    Observer& observer = *Observer::current();
    auto launch = [&](const char* kernel, const char* device, int64_t flops, int64_t bytes, int64_t ns) {
      observer.onLaunch(
          {.kernel = kernel, .device = device, .durationNs = ns, .flops = flops, .bytes = bytes});
    };
    launch("product", "CPU", 2'000'000'000, 1'000'000, 40'000'000);
    launch("product", "CPU", 2'000'000'000, 1'000'000, 20'000'000);
    launch("copy", "CPU", 0, 100'000'000, 20'000'000);
    launch("small", "CPU", 1000, 80'000, 10'000);
    launch("far", "CUDA", 2'000'000'000, 1'000'000, 1'000'000);
    launch("idle", "CPU", 10, 10, 0);
  });
  return file.path;
}

} // namespace

TEST_CASE("roofline: the least time is that of arithmetic or of bytes, whichever is longer") {
  const TempTrace file;
  Trace trace(launchedTrace(file));
  Peaks peaks{.gflops = 200, .gbPerSecond = 10, .cacheGbPerSecond = 80, .cacheBytes = 100'000};
  const std::vector<RooflineRow> rows = roofline(trace, peaks);
  REQUIRE(rows.size() == 4);          // what was not timed is left out
  CHECK(rows[0].kernel == "product"); // most time first
  CHECK(rows[0].launches == 2);
  CHECK(rows[0].seconds == doctest::Approx(0.020)); // the faster one
  CHECK(rows[0].total == doctest::Approx(0.060));
  CHECK(rows[0].roof == doctest::Approx(0.010));
  CHECK(rows[0].share == doctest::Approx(0.5));
  CHECK(rows[0].bound == RooflineBound::Compute);
  CHECK(rows[1].kernel == "copy");
  CHECK(rows[1].bound == RooflineBound::Memory);
  CHECK(rows[1].share == doctest::Approx(0.5));
  for (const RooflineRow& r : rows) {
    if (r.kernel == "small") {
      CHECK(r.bound == RooflineBound::Cache);
      CHECK(r.roof == doctest::Approx(1e-6));
    }
    if (r.device == "CUDA") CHECK(r.roof == 0); // peaks of another device say nothing about it
  }
  CHECK(roofline(trace, {}).front().roof == 0);
}

TEST_CASE("roofline: measured peaks are those of a processor") {
  const Peaks p = measurePeaks(1);
  CHECK(p.known());
  CHECK(p.gflops > 1);
  CHECK(p.gflops < 2000);
  CHECK(p.gbPerSecond > 0.2);
  CHECK(p.cacheBytes >= 256 << 10);
  CHECK_THROWS_AS(measurePeaks(0), Error);
}

TEST_CASE("prediction: kept rates come back, and a file without one of them is measured again") {
  const MachineRates r = measureRates(1);
  CHECK(r.known());
  CHECK(r.cycleNs > 0.1);
  CHECK(r.cycleNs < 2);
  CHECK(r.multiplyAdds > 0.2);
  CHECK(r.multiplyAdds < 8);
  CHECK(r.latency >= 1);
  CHECK(r.memory.read > 0);
  CHECK(r.last.bytes >= r.second.bytes);
  nlohmann::json kept = ratesJson(r);
  const MachineRates again = ratesFrom(nlohmann::json::parse(kept.dump()));
  CHECK(ratesJson(again) == kept);
  kept.erase("latency");
  CHECK(!ratesFrom(kept).known());
  CHECK(!ratesFrom(nlohmann::json()).known());
}

TEST_CASE("prediction: errors are those of the ratios") {
  const PredictionErrors e = predictionErrors(std::vector<double>{1.0, 1.1, 0.8, 2.0, 0.5});
  CHECK(e.kernels == 5);
  CHECK(e.median == doctest::Approx(0.2));
  CHECK(e.mostOfTen == doctest::Approx(1.0));
  CHECK(e.within30 == doctest::Approx(0.6));
  CHECK(predictionErrors(std::vector<double>{}).kernels == 0);
}

TEST_CASE("prediction: what a launch finds in the caches follows from the launches before it") {
  const TempTrace file;
  recordTo(file.path, [] {
    Observer& observer = *Observer::current();
    auto buffer = [&](uint64_t id, size_t bytes) {
      observer.onBuffer({.id = id, .device = "CPU", .dtype = "float", .bytes = static_cast<int64_t>(bytes)});
    };
    buffer(1, 1 << 20), buffer(2, 1 << 20), buffer(3, 4 << 20);
    const uint64_t both[] = {1, 2}, large[] = {3};
    const int64_t from = nowNs();
    auto launch = [&](const char* kernel, int64_t at, std::span<const uint64_t> buffers) {
      observer.onLaunch({.kernel = kernel,
                         .device = "CPU",
                         .startNs = from + at,
                         .durationNs = 1000,
                         .flops = 1,
                         .bytes = 1,
                         .buffers = buffers});
    };
    launch("add", 1'000'000, both);
    launch("add", 1'002'000, both);
    launch("fill", 1'004'000, large);
    launch("add", 1'006'000, both);
    launch("add", 9'000'000, both);
  });
  Trace trace(file.path);
  const std::vector<LaunchInfo> launches = trace.launches();
  REQUIRE(launches.size() == 5);
  CacheHistory history(trace);
  const LaunchState first = history.before(launches[0]), second = history.before(launches[1]),
                    fill = history.before(launches[2]), third = history.before(launches[3]),
                    late = history.before(launches[4]);
  REQUIRE(first.since.size() == 2);
  CHECK(first.newBytes == 2 << 20); // nobody had touched either
  CHECK(second.newBytes == 0);
  CHECK(second.since[0] < 1e5); // just used
  CHECK(fill.newLargeBytes == 4 << 20);
  CHECK(third.since[0] >= 4 << 20); // the other kernel's 4 MB passed
  CHECK(third.sinceCode >= 4 << 20);
  CHECK(!third.asleep);
  CHECK(late.asleep); // eight milliseconds without a kernel
}
