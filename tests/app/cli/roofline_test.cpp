// The time of kernels beside what the machine allows and beside what the model predicts: roofline, ls --predicted.
#include "tests/app/cli/support.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kRandomProduct = R"(from tinygrad import Tensor
(Tensor.rand(16, 16).realize() @ Tensor.rand(16, 16).realize()).realize()
)";

} // namespace

TEST_CASE("roofline: kernels that ran, beside the peaks of this machine or given ones") {
  Folder f;
  const std::string script = f.file("product.py", kRandomProduct), trace = f.file("product.uoptrace");
  REQUIRE(call(f, {"record", script, "-o", trace}).code == 0);
  const Result r = call(f, {"roofline", trace, "--peak-gflops", "100", "--peak-gbs", "10", "--json"});
  CAPTURE(r.err);
  REQUIRE(r.code == 0);
  const Json out = Json::parse(r.out);
  REQUIRE(!out["kernels"].empty());
  for (const Json& k : out["kernels"]) {
    const double least = std::max(k["flops"].get<double>() / 100e9, k["bytes"].get<double>() / 10e9);
    CHECK(k["roof_seconds"].get<double>() == doctest::Approx(least));
    CHECK(k["predicted_seconds"] == 0); // peaks by hand say nothing about rates
    CHECK(k["share_of_roof"].get<double>() == doctest::Approx(least / k["seconds"].get<double>()));
  }
  CHECK(contains(call(f, {"roofline", trace, "--peak-gflops", "100", "--peak-gbs", "10"}).out, "of roof"));
  CHECK(call(f, {"roofline", trace, "--peak-gflops", "100"}).code == 2);
  CHECK(call(f, {"roofline", trace, "nothing", "--peak-gflops", "1", "--peak-gbs", "1"}).code == 2);
}

TEST_CASE("ls --predicted: the fastest launch beside the predicted time, by rates that are measured once") {
  Folder f;
  const std::string script = f.file("product.py", kRandomProduct), trace = f.file("product.uoptrace");
  const std::string cache = "CPU_COUNT=1 XDG_CACHE_HOME=" + f.file("cache");
  REQUIRE(call(f, {"record", script, "-o", trace}).code == 0);
  const Result r = call(f, {"ls", trace, "--predicted", "--json"}, cache);
  CAPTURE(r.err);
  REQUIRE(r.code == 0);
  const Json out = Json::parse(r.out);
  REQUIRE(!out["scopes"].empty());
  for (const Json& k : out["scopes"]) {
    CHECK(k["kind"] == "kernel");
    REQUIRE(k["measured_seconds"].is_number());
    const double measured = k["measured_seconds"], predicted = k["predicted_seconds"];
    CHECK(predicted > 0);
    CHECK(predicted < 1);
    CHECK(k["predicted_of_measured"].get<double>() == doctest::Approx(predicted / measured));
    CHECK(k["parts"]["launch"].get<double>() > 0);
  }
  CHECK(out["prediction"]["kernels"] == out["scopes"].size());
  std::ifstream kept(f.file("cache") + "/uopscope/peaks.json");
  const Json peaks = Json::parse(kept);
  REQUIRE(peaks.size() == 1);
  CHECK(peaks.begin().value()["rates"]["multiply_adds"].get<double>() > 0.2);

  const Result text = call(f, {"ls", trace, "--sort", "ratio"}, cache);
  CHECK(contains(text.out, "measured"));
  CHECK(contains(text.out, "predicted / measured of 2 kernels: median error"));
  const Json sorted =
      Json::parse(call(f, {"ls", trace, "--sort", "measured", "--json"}, cache).out)["scopes"];
  for (size_t i = 1; i < sorted.size(); ++i)
    CHECK(sorted[i - 1]["measured_seconds"].get<double>() >= sorted[i]["measured_seconds"].get<double>());
  CHECK(call(f, {"ls", trace, "1", "--predicted"}, cache).code == 2);
  CHECK(!contains(call(f, {"ls", trace}, cache).out, "predicted"));
  const Result one = call(f, {"roofline", trace, std::to_string(sorted[0]["id"].get<int>())}, cache);
  CHECK(contains(one.out, "for each part alone:"));
  CHECK(contains(one.out, "first cache"));
}
