// The first walk finds the last user of each value, the second counts the values alive.
#include "engine/codegen/registers.h"

#include <algorithm>
#include <vector>

namespace uopscope {

namespace {

int64_t wordsOf(UOp u) {
  if (u.is(Op::DEFINE_REG)) return (u.dtype().size() * u.dtype().base().itemsize() + 3) / 4;
  if (u.dtype().isVoid() || u.dtype().isPtr() || u.isConst() || u.is(Op::VCONST) || u.is(Op::GEP)) return 0;
  return (u.dtype().itemsize() + 3) / 4;
}

} // namespace

int64_t registersOf(std::span<const UOp> program) {
  UOpMap<size_t> place;
  std::vector<size_t> last(program.size()), begins;
  std::vector<std::pair<size_t, size_t>> loops; // their first and last instructions
  for (size_t i = 0; i < program.size(); ++i) {
    UOp u = program[i];
    place[u] = last[i] = i;
    if (u.is(Op::RANGE)) begins.push_back(i);
    for (size_t k = 1; u.is(Op::END) && k < u.srcCount() && !begins.empty(); ++k) {
      loops.emplace_back(begins.back(), i);
      begins.pop_back();
    }
  }
  for (size_t i = 0; i < program.size(); ++i)
    for (UOp s : program[i].src()) {
      auto made = place.find(s);
      if (made == place.end()) continue;
      size_t until = i;
      for (auto [begin, end] : loops)
        if (made->second < begin && begin < i && i < end) until = std::max(until, end);
      last[made->second] = std::max(last[made->second], until);
    }
  std::vector<int64_t> change(program.size() + 1);
  for (size_t i = 0; i < program.size(); ++i) {
    int64_t words = wordsOf(program[i]);
    change[i] += words;
    change[last[i] + 1] -= words;
  }
  int64_t alive = 0, most = 0;
  for (int64_t c : change) most = std::max(most, alive += c);
  return most;
}

} // namespace uopscope
