// Which kernel reads what another one stores, while values are given their kernels: a kernel that would store a value for others must not
// wait for one of them.
//
//   KernelOrder order;
//   order.addRead(2, 1);                      // kernel 2 reads what kernel 1 stores
//   order.waitsFor(2, 1)                      // true: kernel 2 can't store a value that kernel 1 reads
#pragma once
#include <cstddef>
#include <map>
#include <set>

namespace uopscope::sched {

class KernelOrder {
public:
  /// `reader` reads what `from` stores.
  void addRead(int reader, int from) { reads_[reader].insert(from); }
  /// Whether a kernel needs, directly or through others, what `other` stores. Where that takes more than kMostSteps to find out, it
  /// does: then the value gets a kernel of its own, which is right in any case.
  bool waitsFor(int kernel, int other) const;

private:
  static constexpr size_t kMostSteps = 4096;
  std::map<int, std::set<int>> reads_;
};

} // namespace uopscope::sched
