// Sets of input elements, identified by number, and strided views of arrays of sets.
#include "engine/transform/index_sets.h"

#include "engine/base/hash.h"

#include <algorithm>

namespace uopscope {

namespace {

int64_t product(const Extents& shape) {
  int64_t n = 1;
  for (int64_t s : shape) n *= s;
  return n;
}

/// Calls f(a, b) for each element of a shape in order, with its positions under two lists of strides.
template <typename F>
void walk(const Extents& shape, int64_t a, const Extents& stridesA, int64_t b, const Extents& stridesB, F f) {
  int64_t total = product(shape);
  size_t rank = shape.size();
  Extents at(rank, 0);
  for (int64_t n = 0; n < total; ++n) {
    f(a, b);
    for (size_t i = rank; i-- > 0;) {
      a += stridesA[i];
      b += stridesB[i];
      if (++at[i] < shape[i]) break;
      a -= stridesA[i] * shape[i];
      b -= stridesB[i] * shape[i];
      at[i] = 0;
    }
  }
}

/// The extents to visit, with constant axes visited once.
Extents visited(const Extents& shape, const std::vector<bool>& constant) {
  Extents out = shape;
  for (size_t i = 0; i < out.size(); ++i)
    if (constant[i]) out[i] = std::min<int64_t>(out[i], 1);
  return out;
}

} // namespace

// --- sets ---

SetTable::SetTable(size_t mostElements) : most_(mostElements), begin_{0, 0} {}

int32_t SetTable::intern(std::span<const int32_t> sorted) {
  if (sorted.empty()) return 0;
  uint64_t hash = sorted.size();
  for (int32_t e : sorted) hash = mixHash(hash, static_cast<uint64_t>(e));
  auto [from, to] = byHash_.equal_range(hash);
  for (auto it = from; it != to; ++it)
    if (std::ranges::equal(elements(it->second), sorted)) return it->second;
  if (elements_.size() + sorted.size() > most_) throw Full{};
  auto id = static_cast<int32_t>(begin_.size() - 1);
  elements_.insert(elements_.end(), sorted.begin(), sorted.end());
  begin_.push_back(elements_.size());
  byHash_.emplace(hash, id);
  return id;
}

int32_t SetTable::single(int32_t element) {
  return intern(std::span<const int32_t>(&element, 1));
}

int32_t SetTable::unionOf(int32_t a, int32_t b) {
  if (a > b) std::swap(a, b);
  if (a == 0 || a == b) return b;
  uint64_t key = static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b);
  if (auto found = pairs_.find(key); found != pairs_.end()) return found->second;
  scratch_.clear();
  std::ranges::set_union(elements(a), elements(b), std::back_inserter(scratch_));
  return pairs_[key] = intern(scratch_);
}

int32_t SetTable::unionOf(std::vector<int32_t>& sets) {
  std::ranges::sort(sets);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  if (!sets.empty() && sets[0] == 0) sets.erase(sets.begin());
  if (sets.size() <= 2) return sets.empty() ? 0 : unionOf(sets[0], sets.back());
  scratch_.clear();
  for (int32_t s : sets) scratch_.insert(scratch_.end(), elements(s).begin(), elements(s).end());
  std::ranges::sort(scratch_);
  scratch_.erase(std::unique(scratch_.begin(), scratch_.end()), scratch_.end());
  return intern(scratch_);
}

// --- views ---

IndexSets IndexSets::fresh(const Extents& shape, const std::vector<bool>& constant) {
  IndexSets out;
  out.shape_ = shape;
  out.strides_.assign(shape.size(), 0);
  int64_t size = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (constant[i] || shape[i] == 1) continue;
    out.strides_[i] = size;
    size *= shape[i];
  }
  out.sets_ = std::make_shared<std::vector<int32_t>>(static_cast<size_t>(size));
  return out;
}

IndexSets IndexSets::identity(SetTable& table, const Extents& shape) {
  IndexSets out = fresh(shape, std::vector<bool>(shape.size(), false));
  for (size_t i = 0; i < out.sets_->size(); ++i) (*out.sets_)[i] = table.single(static_cast<int32_t>(i));
  return out;
}

IndexSets IndexSets::uniform(int32_t set, const Extents& shape) {
  IndexSets out = fresh(shape, std::vector<bool>(shape.size(), true));
  (*out.sets_)[0] = set;
  return out;
}

template <typename F>
void IndexSets::forEach(const Extents& shape, F f) const {
  walk(shape, offset_, strides_, 0, Extents(shape.size(), 0), [&](int64_t a, int64_t) { f(a); });
}

IndexSets IndexSets::expand(const Extents& to) const {
  IndexSets out = *this;
  for (size_t i = 0; i < to.size(); ++i)
    if (shape_[i] == 1) out.strides_[i] = 0;
  out.shape_ = to;
  return out;
}

IndexSets IndexSets::permute(const Extents& order) const {
  IndexSets out = *this;
  for (size_t i = 0; i < order.size(); ++i) {
    out.shape_[i] = shape_[static_cast<size_t>(order[i])];
    out.strides_[i] = strides_[static_cast<size_t>(order[i])];
  }
  return out;
}

IndexSets IndexSets::shrink(const Extents& begin, const Extents& end) const {
  IndexSets out = *this;
  for (size_t i = 0; i < begin.size(); ++i) {
    out.shape_[i] = end[i] - begin[i];
    out.offset_ += begin[i] * strides_[i];
  }
  return out;
}

IndexSets IndexSets::flip(const Extents& flags) const {
  IndexSets out = *this;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!flags[i] || shape_[i] == 0) continue;
    out.offset_ += (shape_[i] - 1) * strides_[i];
    out.strides_[i] = -strides_[i];
  }
  return out;
}

IndexSets IndexSets::pad(const Extents& before, const Extents& after) const {
  Extents to = shape_;
  std::vector<bool> constant(shape_.size());
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] += before[i] + after[i];
    constant[i] = strides_[i] == 0 && to[i] == shape_[i];
  }
  IndexSets out = fresh(to, constant); // zero is the empty set
  int64_t at = 0;
  for (size_t i = 0; i < to.size(); ++i) at += before[i] * out.strides_[i];
  walk(visited(shape_, constant), offset_, strides_, at, out.strides_, [&](int64_t a, int64_t b) {
    (*out.sets_)[static_cast<size_t>(b)] = (*sets_)[static_cast<size_t>(a)];
  });
  return out;
}

IndexSets IndexSets::reshape(const Extents& to) const {
  IndexSets out;
  out.shape_ = to;
  out.strides_.assign(to.size(), 0);
  out.offset_ = offset_;
  out.sets_ = sets_;
  // Axes are grouped so that each group has the same number of elements before and after. If every group is
  // evenly strided, the result stays a view.
  bool fits = product(to) != 0;
  for (size_t i = 0, o = 0; fits && (i < shape_.size() || o < to.size());) {
    size_t i0 = i, o0 = o;
    int64_t have = i < shape_.size() ? shape_[i++] : 1, want = o < to.size() ? to[o++] : 1;
    while (have != want) (have < want ? have *= shape_[i++] : want *= to[o++]);
    int64_t stride = 0, length = 1; // of the group as one axis, from its last axis on
    for (size_t k = i; fits && k-- > i0;) {
      if (shape_[k] == 1) continue;
      fits = length == 1 || strides_[k] == stride * length;
      if (length == 1) stride = strides_[k];
      length *= shape_[k];
    }
    for (size_t k = o; k-- > o0; stride *= to[k])
      if (to[k] != 1) out.strides_[k] = stride;
  }
  if (fits) return out;
  IndexSets copy = fresh(to, std::vector<bool>(to.size(), false));
  *copy.sets_ = flat();
  return copy;
}

IndexSets IndexSets::reduce(SetTable& table, const Extents& axes) const {
  std::vector<bool> reduced(shape_.size(), false), constant(shape_.size());
  for (int64_t a : axes) reduced[static_cast<size_t>(a)] = true;
  Extents to = shape_, inner;
  for (size_t i = 0; i < to.size(); ++i) {
    constant[i] = strides_[i] == 0;
    if (reduced[i]) to[i] = 1;
  }
  Extents strides;
  for (size_t i = 0; i < to.size(); ++i)
    if (reduced[i]) {
      inner.push_back(constant[i] ? std::min<int64_t>(shape_[i], 1) : shape_[i]);
      strides.push_back(strides_[i]);
    }
  IndexSets out = fresh(to, constant);
  std::vector<int32_t> all;
  walk(visited(to, constant), offset_, strides_, 0, out.strides_, [&](int64_t a, int64_t b) {
    all.clear();
    walk(inner, a, strides, 0, Extents(inner.size(), 0),
         [&](int64_t at, int64_t) { all.push_back((*sets_)[static_cast<size_t>(at)]); });
    (*out.sets_)[static_cast<size_t>(b)] = table.unionOf(all);
  });
  return out;
}

bool IndexSets::sameMemoryAs(const IndexSets& o) const {
  return sets_ == o.sets_ && offset_ == o.offset_ && strides_ == o.strides_;
}

IndexSets IndexSets::with(SetTable& table, const IndexSets& other) const {
  if (sameMemoryAs(other)) return *this;
  std::vector<bool> constant(shape_.size());
  for (size_t i = 0; i < shape_.size(); ++i) constant[i] = strides_[i] == 0 && other.strides_[i] == 0;
  IndexSets out = fresh(shape_, constant);
  size_t at = 0;
  walk(visited(shape_, constant), offset_, strides_, other.offset_, other.strides_,
       [&](int64_t a, int64_t b) {
         (*out.sets_)[at++] =
             table.unionOf((*sets_)[static_cast<size_t>(a)], (*other.sets_)[static_cast<size_t>(b)]);
       });
  return out;
}

IndexSets IndexSets::chosen(std::span<const uint8_t> condition, const IndexSets& other) const {
  IndexSets out = fresh(shape_, std::vector<bool>(shape_.size(), false));
  size_t at = 0;
  walk(shape_, offset_, strides_, other.offset_, other.strides_, [&](int64_t a, int64_t b) {
    (*out.sets_)[at] =
        condition[at] ? (*sets_)[static_cast<size_t>(a)] : (*other.sets_)[static_cast<size_t>(b)];
    ++at;
  });
  return out;
}

std::vector<int32_t> IndexSets::flat() const {
  std::vector<int32_t> out;
  out.reserve(static_cast<size_t>(product(shape_)));
  forEach(shape_, [&](int64_t at) { out.push_back((*sets_)[static_cast<size_t>(at)]); });
  return out;
}

} // namespace uopscope
