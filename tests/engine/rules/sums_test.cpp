// Long sums: they have one form whatever the order of their terms, in time near linear in their number.
#include "engine/base/clock.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/rules.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace uopscope;

namespace {

/// n terms over n/2 loops, in random order, as a chain or as a balanced tree.
UOp manyTerms(size_t n, unsigned seed, bool balanced) {
  std::mt19937 random(seed);
  std::vector<UOp> terms;
  for (size_t i = 0; i < n; ++i) {
    UOp r = UOp::range(7, static_cast<int64_t>(i % (n / 2)));
    terms.push_back(i % 5 == 0 ? r % 4 : i % 5 == 1 ? r / 4 * 4 : r * static_cast<int64_t>(i % 3 + 1));
  }
  std::shuffle(terms.begin(), terms.end(), random);
  while (balanced && terms.size() > 1) {
    std::vector<UOp> next;
    for (size_t i = 0; i < terms.size(); i += 2)
      next.push_back(i + 1 < terms.size() ? terms[i] + terms[i + 1] : terms[i]);
    terms = next;
  }
  UOp sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) sum = sum + terms[i];
  return sum;
}

double secondsToSimplify(size_t n) {
  double best = 1e9;
  for (unsigned seed = 0; seed < 3; ++seed) {
    Pool pool;
    PoolScope scope(pool);
    UOp sum = manyTerms(n, seed, seed == 1);
    int64_t start = nowNs();
    simplify(sum);
    best = std::min(best, static_cast<double>(nowNs() - start) * 1e-9);
  }
  return best;
}

} // namespace

TEST_CASE("sums of the same terms become the same node") {
  for (size_t n : {50u, 500u, 5000u}) {
    Pool pool;
    PoolScope scope(pool);
    UOp a = simplify(manyTerms(n, 1, false)), b = simplify(manyTerms(n, 2, true));
    CHECK(a == b);
    CHECK(simplify(a) == a);
    // A sum that a comparison uses gets the same order.
    UOp used = graphRewrite(UOp::sink(std::vector{manyTerms(n, 3, false) < 5}), symbolic()).src(0);
    CHECK(used == simplify(a < 5));
  }
}

TEST_CASE("time is near linear from 50 to 50,000 terms") {
  double small = secondsToSimplify(500) / 500, large = secondsToSimplify(50000) / 50000;
  MESSAGE("simplifying a sum: ", small * 1e9, " ns a term at 500, ", large * 1e9, " at 50,000");
  CHECK(large < small * 12); // n log n and caches; the square would be 100 times
  Pool pool;
  PoolScope scope(pool);
  UOp sum = manyTerms(50000, 5, false);
  int64_t start = nowNs();
  simplify(sum / 4 + sum % 4);
  CHECK(nowNs() - start < 20'000'000'000);
}

TEST_CASE("sums that leave 64 bits stay as they are") {
  Pool pool;
  PoolScope scope(pool);
  UOp r = UOp::range(2, 0);
  UOp huge = r * INT64_MAX;
  UOp sum = huge + huge;
  UOp s = simplify(sum);
  CHECK(evaluate(s, {{r, ConstValue::ofInt(0)}})->i == 0);
  CHECK(simplify(r * INT64_MAX * 3).dtype() == dtypes::index);
}
