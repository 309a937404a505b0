// FLIP: each choice of a schedule between storing a value and computing it again is made the other way, and nothing but
// the kernels changes.
#include "engine/base/context_var.h"
#include "engine/rewrite/observer.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>

using namespace uopscope;

namespace {

/// The numbers of the choices that a schedule tells.
struct Choices : Observer {
  void onDecision(const Decision& d) override {
    const size_t at = d.reason.find("FLIP=");
    if (at == std::string::npos) return;
    numbers.insert(std::stoll(d.reason.substr(at + 5)));
    if (d.reason.starts_with("it is stored")) ++stored;
    CHECK(d.price.has_value());
    CHECK(d.others.size() == 1);
  }
  std::set<int64_t> numbers;
  int stored = 0;
};

std::set<int64_t> choicesOf(const std::vector<Tensor>& results) {
  clearScheduleCache(); // a schedule that is known takes no decisions
  Choices choices;
  const ObserverScope watched(&choices);
  Tensor::schedule(results);
  return choices.numbers;
}

void checkFlips(const std::function<std::vector<Tensor>()>& make, size_t least) {
  std::vector<std::vector<float>> wanted;
  for (const Tensor& t : make()) wanted.push_back(t.values<float>());
  const std::set<int64_t> numbers = choicesOf(make());
  CHECK(numbers.size() >= least);
  CHECK(choicesOf(make()) == numbers);
  const size_t kernels = Tensor::schedule(make()).items.size();
  bool differs = false;
  for (const int64_t number : numbers) {
    CAPTURE(number);
    const ContextScope flipped({{"FLIP", number}});
    differs |= Tensor::schedule(make()).items.size() != kernels;
    const std::vector<Tensor> made = make();
    for (size_t k = 0; k < made.size(); ++k) {
      const std::vector<float> got = made[k].values<float>();
      REQUIRE(got.size() == wanted[k].size());
      for (size_t i = 0; i < got.size(); ++i)
        CHECK(std::abs(got[i] - wanted[k][i]) <= 1e-5F * std::max(1.0F, std::abs(wanted[k][i])));
    }
  }
  CHECK(differs);
}

Tensor numbers(const Ints& shape) {
  Tensor x =
      Tensor::arange(shape[0] * shape[1]).cast(dtypes::float32).reshape({Sint(shape[0]), Sint(shape[1])});
  return (x * 0.001 - 1.0).sin().contiguous().realize();
}

} // namespace

TEST_CASE("a value that two sums read is stored, or computed by each of them") {
  const Tensor a = numbers({1024, 96});
  checkFlips(
      [&] {
        const Tensor h = (a.exp() * a.sin()).abs().sqrt();
        return std::vector<Tensor>{h.sum(Ints{1}), h.sum(Ints{0})};
      },
      1);
}

TEST_CASE("choices of an attention and of a normalisation") {
  const Tensor q = numbers({48, 32}), w = numbers({32, 32});
  checkFlips(
      [&] {
        const Tensor k = q.matmul(w).tanh(), scores = k.matmul(q.transpose()).softmax();
        return std::vector<Tensor>{scores.matmul(k), (k - k.mean(Ints{1}, true)).square().mean(Ints{1})};
      },
      1);
}

TEST_CASE("the scores of an attention are stored, or the keys read again for each block of rows") {
  const Tensor q = numbers({96, 32}), v = numbers({96, 20});
  checkFlips([&] { return std::vector<Tensor>{q.matmul(q.transpose()).softmax().matmul(v)}; }, 1);
}

TEST_CASE("sums of the same memory share a kernel, or have one each") {
  const Tensor a = numbers({512, 300});
  checkFlips([&] { return std::vector<Tensor>{a.sum(Ints{1}), a.max(Ints{1}), a.exp().sum(Ints{1})}; }, 2);
  checkFlips(
      [&] {
        std::vector<Tensor> many; // more accumulators than registers: two kernels
        for (int i = 0; i < 14; ++i) many.push_back((a - i * 0.25).square().sum(Ints{1}));
        return many;
      },
      13);
}

TEST_CASE("a number that no choice has changes nothing") {
  const Tensor a = numbers({64, 8});
  auto make = [&] { return std::vector<Tensor>{a.exp().sum(Ints{1}), a.exp().sum(Ints{0})}; };
  const size_t kernels = Tensor::schedule(make()).items.size();
  const ContextScope flipped({{"FLIP", 5}});
  CHECK(Tensor::schedule(make()).items.size() == kernels);
}
