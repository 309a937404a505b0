// Each stage as loops of its own around a store.
#include "engine/codegen/stream_stages.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/rules/movement_index.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

constexpr int64_t kColumns = 16; ///< columns are rounded up to whole vectors

/// The place of the terms of a product in a row-major layout.
UOp flatTerms(std::span<const UOp> terms) {
  UOp flat = UOp::index(0);
  for (UOp t : terms) flat = flat * extentOf(t) + t;
  return flat;
}

/// Whether a row has any score yet.
UOp hasAny(UOp maximum) {
  return maximum.alu(Op::CMPNE, {UOp::constant(dtypes::float32, -INFINITY)});
}

/// Whether a number takes more than to load it. Such ones are computed once for all rows of a block.
bool isComputed(UOp operand) {
  return !operand.is(Op::INDEX);
}

} // namespace

Stream::Stream(UOp sink, const SoftmaxSums& sums, UOp store, Block block)
    : sums_(sums), rows_(block.rows), keys_(block.keys), store_(store), loops_(sums.elsewhere),
      nextId_(nextRangeId(sink)), nextMemory_(nextRegister(sink)) {}

Stream::Rows Stream::memory(int64_t size) {
  return {registersOf(dtypes::float32, size, nextMemory_++), {}};
}

/// An element of memory that is about to be filled: after what filled it before. The first time it is within all loops of the kernel, also
/// those that nothing in it depends on, since what follows overwrites it in each of their steps.
UOp Stream::toFill(const Rows& rows, UOp place) const {
  std::vector<UOp> before = loops_;
  if (rows.done) before = {rows.done};
  return (before.empty() ? rows.memory : rows.memory.after(before)).indexed({place});
}

/// Replaces the loop over rows by one over blocks of them. The last one begins earlier where they do not divide the rows. Where a
/// mask lets later blocks see more keys, or fewer, the first and the last one alternate, so that threads have equal work.
void Stream::cutRows() {
  const int64_t rows = extentOf(sums_.row), blocks = ceilDiv(rows, rows_);
  const VisibleKeys sees = visibleKeys(sums_, UOp::index(0), UOp::index(rows - 1));
  isCut_ = sees.begin || sees.end;
  UOp block = UOp::index(0);
  if (blocks > 1 && isCut_) {
    const UOp pair = sums_.row.withSrc({UOp::index(ceilDiv(blocks, 2))}), side = fresh(2);
    if (blocks > 2) loops_.push_back(pair);
    loops_.push_back(side);
    const UOp low = blocks > 2 ? pair : UOp::index(0);
    block = low + side * (UOp::index(blocks - 1) - low * 2);
    if (blocks % 2) again_ = (low >= blocks / 2) & (side >= 1);
  } else if (blocks > 1) {
    block = sums_.row.withSrc({UOp::index(blocks)});
    loops_.push_back(block);
  }
  firstRow_ = block * rows_;
  if (rows % rows_) firstRow_ = firstRow_.minimum(UOp::index(rows - rows_));
  ownFirst_ = block * rows_;
}

/// The address of a row's result. A kernel that reads what it writes must not compute a result twice, as blocks that overlap do, and
/// the one in the middle if their number is odd.
UOp Stream::addressOf(UOp address, UOp row) const {
  if (!readsOwn_) return address;
  UOp once = (firstRow_ + row) >= ownFirst_;
  if (again_) once = once & again_.logicalNot();
  const GatedIndex index = ungate(address);
  return gated(index.index, allOf(index.valid, once));
}

/// Memory that holds `value` before the loop over keys begins.
Stream::Rows Stream::cleared(int64_t size, UOp value) {
  Rows r = memory(size);
  const UOp i = fresh(size);
  r.done = toFill(r, i).store(value).end({i});
  return r;
}

/// A copy of the operand that belongs to rows, with rows side by side.
Stream::Rows Stream::copied(const SoftmaxSums::Product& p) {
  const std::vector<UOp> terms = rangesIn(p.reduce.src().subspan(1));
  UOpMap<UOp> at;
  std::vector<UOp> loops;
  int64_t size = rows_;
  for (UOp t : terms) {
    loops.push_back(at[t] = fresh(extentOf(t)));
    size *= extentOf(t);
  }
  const UOp place = flatTerms(loops), row = fresh(rows_);
  at[sums_.row] = firstRow_ + row;
  loops.push_back(row);
  Rows r = memory(size);
  r.done =
      r.memory.indexed({place * rows_ + row}).store(p.ofRow.substitute(at).cast(dtypes::float32)).end(loops);
  return r;
}

/// The weight of a score. No score at all gives 0, and not the difference of two infinities.
UOp Stream::weightOf(UOp score, UOp maximum) const {
  const UOp zero = UOp::constant(dtypes::float32, 0.0);
  return sums_.weight.substitute(
      {{sums_.score, score}, {sums_.maximum, hasAny(maximum).where(maximum, zero)}});
}

/// What sums by an earlier maximum are multiplied by. Those of no score are 0.
UOp Stream::scaleOf(UOp before, UOp maximum) const {
  const UOp reference = sums_.reference.substitute({{sums_.maximum, before}});
  return hasAny(before).where(weightOf(reference, maximum), UOp::constant(dtypes::float32, 0.0));
}

/// The score of a key and a row of the block.
UOp Stream::scores(UOp key, UOp firstKey, UOp row) {
  UOpMap<UOp> at{{sums_.key, firstKey + key}, {sums_.row, firstRow_ + row}};
  for (size_t i = 0; i < sums_.products.size(); ++i) {
    const SoftmaxSums::Product& p = sums_.products[i];
    UOpMap<UOp> inside(at);
    std::vector<UOp> terms;
    for (UOp t : rangesIn(p.reduce.src().subspan(1)))
      terms.push_back(inside[t] = UOp::range(t.src(0), {nextId_++}, AxisType::Reduce));
    const UOp ofRow = operands_[i].at(flatTerms(terms) * rows_ + row).cast(p.ofRow.dtype());
    const UOp ofKey =
        ofKeys_[i].memory ? ofKeys_[i].at(key * p.terms + flatTerms(terms)) : p.ofKey.substitute(inside);
    const UOp term = ofKey.alu(Op::MUL, {ofRow});
    at[p.reduce] = term.reduce(Op::ADD, terms);
  }
  // Whether a hidden key is computed depends on its block, so it must not matter what its score is.
  return (isCut_ ? chosenScore(sums_.score) : sums_.score).substitute(at);
}

/// Fills a copy of the elements of a block of keys, along these loops.
Stream::Rows Stream::copyOfKeys(Rows copy, UOp value, std::span<const UOp> along, UOp firstKey,
                                int64_t keys) {
  const UOp key = fresh(keys);
  UOpMap<UOp> at{{sums_.key, firstKey + key}};
  std::vector<UOp> loops{key};
  UOp place = key;
  for (UOp l : along) {
    loops.push_back(at[l] = fresh(extentOf(l)));
    place = place * extentOf(l) + at[l];
  }
  copy.done = toFill(copy, place).store(value.substitute(at)).end(loops);
  return copy;
}

void Stream::copyKeys(UOp firstKey, int64_t keys) {
  for (size_t i = 0; i < ofKeys_.size(); ++i)
    if (const SoftmaxSums::Product& p = sums_.products[i]; ofKeys_[i].memory)
      ofKeys_[i] = copyOfKeys(ofKeys_[i], p.ofKey, rangesIn(p.reduce.src().subspan(1)), firstKey, keys);
  for (Carried& c : carried_)
    if (c.factor.memory)
      c.factor = copyOfKeys(c.factor, c.sum.factor, std::vector<UOp>{sums_.column}, firstKey, keys);
}

/// The factor of a term, of whole vectors of columns.
UOp Stream::factorOf(const Carried& c, UOp key, UOp firstKey, UOp row, UOp column) const {
  UOpMap<UOp> at{{sums_.key, firstKey + key}, {sums_.row, firstRow_ + row}};
  const int64_t exact = c.columns ? extentOf(sums_.column) : 0;
  if (c.columns) at[sums_.column] = column;
  UOp factor = c.factor.memory ? c.factor.at(key * exact + column) : c.sum.factor.substitute(at);
  if (c.columns == exact) return factor;
  UOpMap<UOp> gates;
  for (UOp u : factor.toposort())
    if (u.is(Op::INDEX) && u.src(1).dependsOn(column)) {
      std::vector<UOp> src(u.src().begin(), u.src().end());
      const GatedIndex index = ungate(src[1]);
      src[1] = gated(index.index, allOf(index.valid, column < exact));
      gates[u] = u.withSrc(src);
    }
  return factor.substitute(gates);
}

/// Adds the terms of a block of keys to what was summed before.
void Stream::sumUp(Carried& c, const Rows& scale, UOp firstKey, int64_t keys, UOp loop) {
  const UOp row = fresh(rows_), column = c.columns ? fresh(c.columns) : UOp::index(0);
  const UOp key = UOp::range(keys, nextId_++, AxisType::Reduce);
  UOp term = weights_.at(key * rows_ + row);
  if (c.sum.factor) term = term.alu(Op::MUL, {factorOf(c, key, firstKey, row, column)});
  const UOp place = c.columns ? row * c.columns + column : row;
  const UOp sum = term.reduce(Op::ADD, std::vector<UOp>{key});
  const UOp scaled = c.rows.at(place, loop).alu(Op::MUL, {scale.at(row)});
  std::vector<UOp> loops{row};
  if (c.columns) loops.push_back(column);
  c.rows.done = c.rows.memory.indexed({place}).store(scaled.alu(Op::ADD, {sum})).end(loops);
}

/// One block of keys, in each step of `loop`.
void Stream::goThrough(UOp firstKey, int64_t keys, UOp loop) {
  copyKeys(firstKey, keys);
  UOp key = fresh(keys), row = fresh(rows_);
  UOp place = key * rows_ + row;
  weights_.done = toFill(weights_, place).store(scores(key, firstKey, row)).end({key, row});

  row = fresh(rows_);
  before_.done = toFill(before_, row).store(largest_.at(row, loop)).end({row});
  row = fresh(rows_);
  key = UOp::range(keys, nextId_++, AxisType::Reduce);
  const UOp largest = weights_.at(key * rows_ + row).reduce(Op::MAX, std::vector<UOp>{key});
  largest_.done = largest_.memory.indexed({row}).store(before_.at(row).maximum(largest)).end({row});
  row = fresh(rows_);
  before_.done = before_.memory.indexed({row}).store(scaleOf(before_.at(row), largest_.at(row))).end({row});

  row = fresh(rows_);
  key = fresh(keys);
  place = key * rows_ + row;
  weights_.done =
      weights_.memory.indexed({place}).store(weightOf(weights_.at(place), largest_.at(row))).end({row, key});
  Rows scale = before_;
  for (Carried& c : carried_) {
    sumUp(c, scale, firstKey, keys, loop);
    scale.done = c.rows.done; // the next one follows
  }
}

void Stream::finish(UOp done) {
  largest_.done = weights_.done = before_.done = done;
  for (Rows& r : ofKeys_) r.done = done;
  for (Carried& c : carried_) c.rows.done = c.factor.done = done;
}

UOp Stream::kernel() {
  const UOp own = store_.src(0).bufferOf();
  readsOwn_ = !visitBelow(sums_.value, [&](UOp u) {
    return u.is(Op::INDEX) && u.bufferOf() == own ? Visit::Stop : Visit::Below;
  });
  cutRows();
  const int64_t keys = extentOf(sums_.key), blocks = keys / keys_, rest = keys % keys_;
  const int64_t most = std::min(keys, keys_);
  for (const SoftmaxSums::Product& p : sums_.products) {
    operands_.push_back(copied(p));
    ofKeys_.push_back(isComputed(p.ofKey) ? memory(most * p.terms) : Rows{});
  }
  weights_ = memory(most * rows_);
  before_ = memory(rows_);
  largest_ = cleared(rows_, UOp::constant(dtypes::float32, -INFINITY));
  const UOp zero = UOp::constant(dtypes::float32, 0.0);
  for (const SoftmaxSums::Sum& sum : sums_.sums) {
    const bool hasColumns = sums_.column && sum.factor && sum.factor.dependsOn(sums_.column);
    const int64_t columns = hasColumns ? roundUp(extentOf(sums_.column), kColumns) : 0;
    const bool hasCopy = columns && isComputed(sum.factor) && !sum.factor.dependsOn(sums_.row);
    carried_.push_back({sum, cleared(std::max<int64_t>(columns, 1) * rows_, zero), columns,
                        hasCopy ? memory(most * extentOf(sums_.column)) : Rows{}});
  }
  const VisibleKeys visible = visibleKeys(sums_, firstRow_, firstRow_ + (rows_ - 1));
  auto goInLoop = [&](UOp steps, auto first, int64_t size) {
    const UOp loop = UOp::range(steps, {nextId_++}, AxisType::Reduce);
    goThrough(first(loop), size, loop);
    finish(carried_.back().rows.done.end({loop}));
  };
  if (blocks) {
    UOp begin = UOp::index(0), end = UOp::index(blocks);
    if (visible.begin) begin = visible.begin.maximum(begin) / keys_;
    if (visible.end) end = end.minimum((visible.end.maximum(UOp::index(0)) + (keys_ - 1)) / keys_);
    goInLoop(end - begin, [&](UOp loop) { return (begin + loop) * keys_; }, keys_);
  }
  if (rest) {
    const UOp first = UOp::index(blocks * keys_), one = UOp::index(1), none = UOp::index(0);
    UOp steps = one;
    if (visible.end) steps = (first < visible.end).where(steps, none);
    if (visible.begin) steps = (visible.begin < keys).where(steps, none);
    goInLoop(steps, [&](UOp) { return first; }, rest);
  }

  UOp row = fresh(rows_), column = sums_.column ? fresh(extentOf(sums_.column)) : UOp::index(0);
  UOpMap<UOp> at{{sums_.row, firstRow_ + row}, {sums_.maximum, largest_.at(row)}};
  if (sums_.column) at[sums_.column] = column;
  for (const Carried& c : carried_) at[c.sum.reduce] = c.rows.at(c.columns ? row * c.columns + column : row);
  std::vector<UOp> loops = loops_;
  loops.push_back(row);
  if (sums_.column) loops.push_back(column);
  const UOp to = store_.src(0);
  const UOp address = addressOf(to.src(1).substitute(sums_.split).substitute(at), row);
  return to.withSrc({to.src(0), address}).store(sums_.value.substitute(at)).end(loops);
}

} // namespace uopscope
