// The value of a node: a number for each of its lanes. Nearly all values have one lane, and an interpreter makes millions of
// them: that lane lies in the object itself, and only vectors take memory.
//
//   Lanes v{ConstValue::ofInt(3)};
//   v.push_back(ConstValue::ofInt(4));   // two lanes
#pragma once
#include "engine/uop/arg.h"

#include <initializer_list>
#include <utility>
#include <vector>

namespace uopscope {

class Lanes {
public:
  Lanes() = default;
  Lanes(std::initializer_list<ConstValue> all) : Lanes(all.begin(), all.end()) {}
  Lanes(size_t count, const ConstValue& v) : size_(count), one_(v) {
    if (count > 1) all_.assign(count, v);
  }
  Lanes(const ConstValue* first, const ConstValue* last) : size_(static_cast<size_t>(last - first)) {
    if (size_ == 1)
      one_ = *first;
    else
      all_.assign(first, last);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const ConstValue* begin() const { return size_ == 1 ? &one_ : all_.data(); }
  const ConstValue* end() const { return begin() + size_; }
  ConstValue* begin() { return size_ == 1 ? &one_ : all_.data(); }
  ConstValue* end() { return begin() + size_; }
  const ConstValue& operator[](size_t lane) const { return begin()[lane]; }
  ConstValue& operator[](size_t lane) { return begin()[lane]; }
  const ConstValue& front() const { return *begin(); }
  const ConstValue& back() const { return begin()[size_ - 1]; }
  void reserve(size_t count) {
    if (count > 1) all_.reserve(count);
  }
  void push_back(const ConstValue& v) {
    if (size_ == 0) {
      one_ = v;
    } else {
      const ConstValue added = v; // it may be a lane of this object
      if (size_ == 1) all_.assign(1, one_);
      all_.push_back(added);
    }
    ++size_;
  }

private:
  size_t size_ = 0;
  ConstValue one_;              ///< the lane, if there is one
  std::vector<ConstValue> all_; ///< the lanes, if there are several
};

} // namespace uopscope
