// What is recognised as sums that a softmax weights, which loops are its rows and columns, and how many keys a mask leaves.
#include "engine/base/context_var.h"
#include "engine/rules/algebra.h"
#include "engine/rules/softmax_sums.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>

using namespace uopscope;

namespace {

/// The kernel of a result, if it has one alone; its value and loops.
struct OneKernel {
  std::shared_ptr<Pool> pool; ///< of the nodes; current while they are worked with
  UOp value;
  std::vector<UOp> loops;
};
std::optional<OneKernel> oneKernel(const Tensor& result) {
  const Schedule schedule = Tensor::schedule({result});
  if (schedule.items.size() != 1) return {};
  auto pool = std::make_shared<Pool>();
  const UOp end = pool->import(schedule.items[0].ast).src(0);
  return OneKernel{pool, end.src(0).src(1), {end.src().begin() + 1, end.src().end()}};
}

Tensor made(const std::vector<int64_t>& shape, double by = 1) {
  Tensor t = Tensor::full(Shape(shape.begin(), shape.end()), ConstValue::ofFloat(by)).contiguous();
  t.realize();
  return t;
}

int64_t steps(UOp range) {
  return range.src(0).arg().i();
}

/// The keys that rows from 10 to 20 may see; -1 for a bound that is not known.
std::pair<int64_t, int64_t> visible(const Tensor& scores, const Tensor& values) {
  const auto kernel = oneKernel(scores.softmax(-1).matmul(values));
  REQUIRE(kernel);
  const PoolScope scopeOfKernel(*kernel->pool);
  const auto sums = softmaxSumsOf(kernel->value, kernel->loops);
  REQUIRE(sums);
  const VisibleKeys keys = visibleKeys(*sums, UOp::index(10), UOp::index(20));
  auto numberOf = [](UOp bound) { return bound ? constantOf(bound).value() : -1; };
  return {numberOf(keys.begin), numberOf(keys.end)};
}

} // namespace

TEST_CASE("attention: rows, columns, keys and the product in the score are told apart") {
  const Tensor q = made({3, 70, 8}), k = made({3, 90, 8}), v = made({3, 90, 5});
  const auto kernel = oneKernel(q.scaledDotProductAttention(k, v));
  REQUIRE(kernel);
  const PoolScope scopeOfKernel(*kernel->pool);
  const auto sums = softmaxSumsOf(kernel->value, kernel->loops);
  REQUIRE(sums);
  CHECK(steps(sums->row) == 70);
  CHECK(steps(sums->column) == 5);
  CHECK(steps(sums->key) == 90);
  REQUIRE(sums->elsewhere.size() == 1);
  CHECK(steps(sums->elsewhere[0]) == 3);
  REQUIRE(sums->sums.size() == 2); // of the values, and of the weights alone
  CHECK(static_cast<bool>(sums->sums[0].factor) != static_cast<bool>(sums->sums[1].factor));
  REQUIRE(sums->products.size() == 1);
  CHECK(sums->products[0].terms == 8);
  CHECK_FALSE(sums->products[0].ofRow.dependsOn(sums->key));
  CHECK_FALSE(sums->products[0].ofKey.dependsOn(sums->row));
  CHECK_FALSE(visibleKeys(*sums, UOp::index(0), UOp::index(69)).end);
}

TEST_CASE("a log-sum-exp of a product has no columns, and heads that share an axis with columns are split "
          "from them") {
  const auto sum = oneKernel(made({80, 16}).matmul(made({16, 100})).logsumexp(std::vector<int64_t>{1}));
  REQUIRE(sum);
  const PoolScope scopeOfSum(*sum->pool);
  const auto sums = softmaxSumsOf(sum->value, sum->loops);
  REQUIRE(sums);
  CHECK_FALSE(sums->column);
  CHECK(sums->reference != sums->maximum); // 0 where the maximum is infinite

  const Tensor q = made({2, 70, 8}), k = made({2, 90, 8}), v = made({2, 90, 4});
  const auto joined =
      oneKernel(q.scaledDotProductAttention(k, v).permute({1, 0, 2}).reshape({70, 8}).contiguous());
  REQUIRE(joined);
  const PoolScope scopeOfJoined(*joined->pool);
  const auto split = softmaxSumsOf(joined->value, joined->loops);
  REQUIRE(split);
  CHECK(steps(split->row) == 70);
  CHECK(steps(split->column) == 4);
  CHECK(split->split.size() == 3);

  // Where values lie transposed, one index goes through heads and columns, and nothing asks for the remainder.
  const Tensor turned = made({2, 4, 90}).permute({0, 2, 1});
  const auto through =
      oneKernel(q.scaledDotProductAttention(k, turned).permute({1, 0, 2}).reshape({70, 8}).contiguous());
  REQUIRE(through);
  const PoolScope scopeOfThrough(*through->pool);
  const auto columns = softmaxSumsOf(through->value, through->loops);
  REQUIRE(columns);
  REQUIRE(columns->column);
  CHECK(steps(columns->column) == 4);
}

TEST_CASE("a mask of places bounds the keys that a block of rows sees") {
  const Tensor q = made({96, 8}), k = made({8, 96}), v = made({96, 8}), scores = q.matmul(k);
  const Tensor row = Tensor::arange(96).reshape({96, 1}), key = Tensor::arange(96).reshape({1, 96});
  auto chosen = [&](const Tensor& condition) { return visible(condition.where(scores, -INFINITY), v); };
  using Keys = std::pair<int64_t, int64_t>;
  CHECK(visible(scores, v) == Keys{-1, -1});
  CHECK(chosen(key.lt(row)) == Keys{-1, 20});
  CHECK(chosen(key.lt(row + 1)) == Keys{-1, 21});
  CHECK(visible(scores + key.lt(row + 1).where(0.0, -INFINITY), v) == Keys{-1, 21});
  CHECK(chosen(row.lt(key).logicalNot()) == Keys{-1, 21});
  CHECK(chosen(key.lt(row * 2)) == Keys{-1, 40});
  CHECK(chosen(key.lt(row * -1 + 95)) == Keys{-1, 85});
  CHECK(chosen(key.lt(50)) == Keys{-1, 50});
  CHECK(chosen(row.lt(key)) == Keys{11, -1});
  CHECK(chosen(row.lt(key + 5)) == Keys{6, -1});
  CHECK(chosen(row.lt(key + 5).bitAnd(key.lt(row + 1))) == Keys{6, 21});
  CHECK(chosen((key * 2).lt(row)) == Keys{-1, -1});
}

TEST_CASE("what is no streamed softmax") {
  auto streams = [](const Tensor& result) {
    const auto kernel = oneKernel(result);
    if (!kernel) return false;
    const PoolScope scope(*kernel->pool);
    return softmaxSumsOf(kernel->value, kernel->loops).has_value();
  };
  CHECK(streams(made({64, 4}).scaledDotProductAttention(made({64, 4}), made({64, 4}))));
  CHECK_FALSE(streams(made({63, 4}).scaledDotProductAttention(made({64, 4}), made({64, 4}))));
  CHECK_FALSE(streams(made({64, 4}).scaledDotProductAttention(made({63, 4}), made({63, 4}))));
  CHECK_FALSE(streams(made({64, 2000}).matmul(made({2000, 64})).softmax(-1).matmul(made({64, 4}))));
  CHECK_FALSE(streams(made({64, 64}).softmax(-1).matmul(made({64, 4})))); // no product in the scores
  const ContextScope plain({{"PLAIN", 1}});
  CHECK_FALSE(streams(made({64, 4}).scaledDotProductAttention(made({64, 4}), made({64, 4}))));
}
