// The roofline by hand: kernels with known work and time under given peaks, and peaks that make sense.
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
