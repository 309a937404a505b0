// Statistics compared with published tables and with counts by hand.
#include "replay/experiment/statistics.h"

#include <doctest/doctest.h>

#include <random>

using namespace uopscope;

TEST_CASE("a summary has median, deviation and the interval of order statistics") {
  Summary s = summarize({3, 1, 2, 10, 4});
  CHECK(s.count == 5);
  CHECK(s.median == 3);
  CHECK(s.mean == 4);
  CHECK(s.deviation == doctest::Approx(3.5355339));
  CHECK(s.low == 1); // too few values for 95 %: the range
  CHECK(s.high == 10);
  CHECK(summarize({2, 4}).median == 3);
  CHECK(summarize({}).count == 0);
  std::vector<double> many;
  for (int i = 1; i <= 20; ++i) many.push_back(i);
  // 20 values: the 6th smallest and largest (2 * P(fewer than 6 of 20) = 0.0414), as in tables of the sign
  // test.
  CHECK(summarize(many).low == 6);
  CHECK(summarize(many).high == 15);
}

TEST_CASE("the Mann-Whitney test gives the p of tables") {
  // n = m = 5: U = 2 has p = 0.0317, U = 0 has 2/252.
  CHECK(mannWhitney({1, 2, 3, 4, 7}, {5, 6, 8, 9, 10}) == doctest::Approx(8.0 / 252));
  CHECK(mannWhitney({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}) == doctest::Approx(2.0 / 252));
  CHECK(mannWhitney({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}) == doctest::Approx(2.0 / 252));
  CHECK(mannWhitney({1, 1, 1}, {1, 1, 1}) == 1);
  // n = 3, m = 4, U = 1: 4 of 35 arrangements on either side.
  CHECK(mannWhitney({1, 2, 4}, {3, 5, 6, 7}) == doctest::Approx(4.0 / 35));
}

TEST_CASE("five per cent are found, none are not") {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(1.0, 0.02);
  int found = 0, invented = 0;
  for (int k = 0; k < 100; ++k) {
    std::vector<double> a, b, c;
    for (int i = 0; i < 20; ++i) {
      a.push_back(noise(random));
      b.push_back(noise(random));
      c.push_back(noise(random) * 1.05);
    }
    found += compareSamples(a, c).verdict == Verdict::Slower;
    invented += compareSamples(a, b).verdict != Verdict::NoDifference;
    CHECK(compareSamples(c, a).verdict != Verdict::Slower);
  }
  CHECK(found >= 99);
  CHECK(invented <= 4);
  CHECK(compareSamples({1, 2}, {9, 9}).verdict == Verdict::TooFew);
  // From nothing to something is worse, whatever the ratio.
  const std::vector<double> none(6, 0.0), some{3, 4, 5, 6, 7, 8};
  CHECK(compareSamples(none, some).verdict == Verdict::Slower);
  CHECK(compareSamples(some, none).verdict == Verdict::Faster);
  CHECK(compareSamples(none, none).ratio == 1);
}
