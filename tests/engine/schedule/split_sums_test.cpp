// The rule "split-reduce" on products: long ones come in pieces, short ones and those without a reuse stay whole.
#include "engine/base/context_var.h"
#include "engine/rewrite/observer.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace uopscope;

namespace {

Tensor small(const Ints& shape, double step) {
  Tensor x =
      Tensor::arange(shape[0] * shape[1]).cast(dtypes::float32).reshape({Sint(shape[0]), Sint(shape[1])});
  return (x * step).sin().contiguous().realize();
}
size_t kernelsOf(const Tensor& t) {
  clearScheduleCache();
  return Tensor::schedule({t}).items.size();
}
/// a.T @ b, whose terms lie apart in both operands.
Tensor apart(int64_t m, int64_t k, int64_t n) {
  return small({k, m}, 0.7).transpose().matmul(small({k, n}, 0.3));
}
Tensor plainProduct(int64_t m, int64_t k, int64_t n) {
  return small({m, k}, 0.7).matmul(small({k, n}, 0.3));
}

struct Pieces : Observer {
  void onDecision(const Decision& d) override {
    if (!d.reason.starts_with("a product in")) return;
    pieces = std::stoll(d.reason.substr(13));
    CHECK(*d.price < d.others.at(0).price);
  }
  int64_t pieces = 0;
};
int64_t piecesOf(const Tensor& t) {
  clearScheduleCache();
  Pieces seen;
  const ObserverScope watched(&seen);
  Tensor::schedule({t});
  return seen.pieces;
}

} // namespace

TEST_CASE("a product of many terms comes in pieces of some 1,024") {
  CHECK(piecesOf(plainProduct(64, 8192, 64)) == 8);
  CHECK(piecesOf(plainProduct(64, 16384, 96)) == 16);
  CHECK(piecesOf(plainProduct(64, 12000, 64)) == 12);
  CHECK(piecesOf(plainProduct(64, 4096, 64)) == 0);
  CHECK(kernelsOf(plainProduct(64, 8192, 64)) == 2);
}

TEST_CASE("fewer terms are enough where they lie apart in both operands") {
  CHECK(piecesOf(apart(64, 2048, 96)) == 2);
  CHECK(piecesOf(apart(64, 4096, 96)) == 4);
  CHECK(piecesOf(apart(64, 1024, 96)) == 0);
}

TEST_CASE("terms of two axes are cut once") {
  // A batch of 3 sequences of 2,048: three pieces of 2,048 terms would be cut again.
  const Tensor x = small({3 * 2048, 64}, 0.7).reshape({3, 2048, 64, 1}),
               g = small({3 * 2048, 96}, 0.3).reshape({3, 2048, 1, 96});
  CHECK(piecesOf((x * g).sum(Ints{0, 1})) == 8); // of 3 times 256 terms
  CHECK(kernelsOf((x * g).sum(Ints{0, 1})) == 2);
}

TEST_CASE("what has no tiles, or no divisor, stays whole") {
  CHECK(piecesOf(plainProduct(64, 8192, 1)) == 0);  // a matrix times a vector
  CHECK(piecesOf(plainProduct(64, 8191, 64)) == 0); // a prime number of terms
  CHECK(piecesOf(apart(8, 2048, 8)) == 0);          // a kernel costs more
  CHECK(kernelsOf((small({64, 8192}, 0.7) + small({64, 8192}, 0.2)).sum(Ints{1})) == 1); // no product
  const ContextScope plain({{"PLAIN", 1}});
  CHECK(kernelsOf(plainProduct(64, 8192, 64)) == 1);
}

TEST_CASE("pieces add up to the product") {
  const Tensor a = small({3072, 40}, 0.7), b = small({3072, 72}, 0.3);
  CHECK(piecesOf(a.transpose().matmul(b)) > 1);
  const auto got = a.transpose().matmul(b).values<float>(), x = a.values<float>(), y = b.values<float>();
  for (size_t i = 0; i < 40; ++i)
    for (size_t j = 0; j < 72; ++j) {
      double wanted = 0;
      for (size_t k = 0; k < 3072; ++k)
        wanted += static_cast<double>(x[k * 40 + i]) * static_cast<double>(y[k * 72 + j]);
      CHECK(std::abs(static_cast<double>(got[i * 72 + j]) - wanted) < 1e-3);
    }
}
