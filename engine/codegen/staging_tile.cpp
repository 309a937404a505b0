// Takes the address of a read apart into digits, and gives each digit its stride in shared memory.
#include "engine/codegen/staging_tile.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"

#include <algorithm>
#include <bit>

namespace uopscope {

namespace {

constexpr int64_t kVectorBytes = 16,
                  kBankBytes = 128; ///< what a thread reads at most, what all banks deliver
constexpr int kColumnBits = 3;      ///< columns of 16 bytes in 128

int bitsIn(int64_t extent) {
  return std::countr_zero(static_cast<uint64_t>(extent));
}

/// The digits of a loop in a sum: all its uses are of the form `loop / divisor % extent`. False if one is not.
bool addDigits(UOp sum, UOp loop, int64_t factor, std::vector<Digit>& digits) {
  if (!sum.dependsOn(loop)) return true;
  if (sum.is(Op::ADD))
    return addDigits(sum.src(0), loop, factor, digits) && addDigits(sum.src(1), loop, factor, digits);
  if (sum.is(Op::MUL) && sum.src(1).isConst())
    return addDigits(sum.src(0), loop, factor * sum.src(1).arg().i(), digits);
  Digit d{loop, 1, extentOf(loop), factor};
  int64_t most = d.extent;
  if (sum.is(Op::MOD) && sum.src(1).isConst()) {
    most = sum.src(1).arg().i();
    sum = sum.src(0);
  }
  if (sum.is(Op::IDIV) && sum.src(1).isConst()) {
    d.divisor = sum.src(1).arg().i();
    sum = sum.src(0);
  }
  if (sum != loop || d.divisor < 1 || d.extent % d.divisor) return false;
  d.extent = std::min(d.extent / d.divisor, most);
  if (d.extent < 1 || extentOf(loop) % (d.divisor * d.extent)) return false;
  if (d.extent > 1) digits.push_back(d);
  return true;
}

/// Whether no two digits take the same bits of their loop.
bool areApart(std::vector<Digit> digits) {
  std::sort(digits.begin(), digits.end(),
            [](const Digit& a, const Digit& b) { return a.divisor < b.divisor; });
  for (size_t i = 1; i < digits.size(); ++i)
    if (digits[i].divisor < digits[i - 1].divisor * digits[i - 1].extent) return false;
  return true;
}

/// Chooses strides in shared memory by use.
void layOutByUse(StagedTile& tile) {
  auto rank = [&](const Digit& d) {
    if (d.loop.axisType() == AxisType::Unroll) return 3;
    if (isThread(d.loop)) return 1;
    for (const Digit& other : tile.digits)
      if (other.loop.axisType() == AxisType::Upcast)
        return other.loop == d.loop ? 0 : 2; // the UPCAST with the smallest stride
    return 2;
  };
  std::vector<size_t> order(tile.digits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(tile.digits[a]) < rank(tile.digits[b]); });
  int64_t at = 1;
  bool padded = false;
  for (size_t i : order) {
    Digit& d = tile.digits[i];
    if (!padded && d.loop.axisType() == AxisType::Unroll) {
      at += kVectorBytes / tile.read.dtype().itemsize();
      padded = true;
    }
    d.inShared = at;
    at *= d.extent;
  }
  tile.step = at;
}

/// The bit of the position that bit `bit` of a thread's number in its warp chooses; -1 if it chooses none.
int positionOfLane(const StagedTile& tile, int bit) {
  for (const Digit& d : tile.digits)
    if (d.loop.axisType() == AxisType::Warp && bitsIn(d.divisor) <= bit &&
        bit < bitsIn(d.divisor) + bitsIn(d.extent))
      return bitsIn(d.inShared) + bit - bitsIn(d.divisor);
  return -1;
}

/// Keeps the order of global memory, and exchanges bits such that the threads whose requests are served
/// together read from different banks. Needs digits that are powers of two.
void layOutByAddress(StagedTile& tile) {
  for (Digit& d : tile.digits) {
    d.inShared = tile.step ? tile.step : 1;
    tile.step = d.inShared * d.extent;
  }
  tile.byAddress = true;
  const int itemsize = tile.read.dtype().itemsize(), column = bitsIn(kVectorBytes / itemsize);
  // Elements that a thread reads at once: the first digits, as far as they are its own.
  int64_t own = 1;
  for (const Digit& d : tile.digits) {
    if (isThread(d.loop)) break;
    own *= d.extent;
  }
  const int64_t bytes = std::clamp<int64_t>(own * itemsize, 4, kVectorBytes);
  const int together = bitsIn(kBankBytes / bytes); // of a warp's threads, those served at once
  std::vector<int> free, crowded;
  for (int k = column; k < column + kColumnBits && k < bitsIn(tile.step); ++k) free.push_back(k);
  for (int bit = 0; bit < together; ++bit) {
    const int position = positionOfLane(tile, bit);
    std::erase(free, position);
    if (position >= column + kColumnBits) crowded.push_back(position);
  }
  for (size_t i = 0; i < std::min(free.size(), crowded.size()); ++i)
    tile.exchanged.emplace_back(crowded[i], free[i]);
}

/// The layout of an operand that a core reads itself. False if the tile has no such form. Needs digits that are powers of two.
bool layOutForCore(StagedTile& tile, const std::vector<UOp>& terms) {
  const int itemsize = tile.read.dtype().itemsize(), column = bitsIn(kVectorBytes / itemsize);
  const int64_t inRow = kSwizzledRow / itemsize;
  auto isOfTerms = [&](const Digit& d) {
    return d.loop.axisType() == AxisType::Unroll ||
           std::find(terms.begin(), terms.end(), d.loop) != terms.end();
  };
  // The digits of a row: those that lie side by side, as many as fill it.
  size_t ofRow = 0;
  int64_t row = 1;
  while (ofRow < tile.digits.size() && row < inRow && tile.digits[ofRow].stride == row) {
    Digit& d = tile.digits[ofRow++];
    if (row * d.extent > inRow) {
      Digit rest{d.loop, d.divisor * (inRow / row), d.extent / (inRow / row), d.stride * (inRow / row)};
      d.extent = inRow / row;
      tile.digits.insert(tile.digits.begin() + static_cast<std::ptrdiff_t>(ofRow), rest);
    }
    row *= tile.digits[ofRow - 1].extent;
  }
  if (row != inRow) return false;
  std::vector<Digit*> across, further; // the digits of the other coordinate; the others of the same one
  for (size_t i = ofRow; i < tile.digits.size(); ++i)
    (isOfTerms(tile.digits[i]) == isOfTerms(tile.digits[0]) ? further : across).push_back(&tile.digits[i]);
  tile.step = 1;
  auto place = [&](std::vector<Digit*> digits) {
    bool coordinates = true;
    for (Digit* d : digits) {
      const bool isCoordinate = d->loop.axisType() == AxisType::Placeholder;
      if (isCoordinate && !coordinates) return false; // the core knows one distance between its lines
      coordinates = isCoordinate;
      d->inShared = tile.step;
      tile.step *= d->extent;
    }
    return !digits.empty() && digits[0]->loop.axisType() == AxisType::Placeholder;
  };
  std::vector<Digit*> first;
  for (size_t i = 0; i < ofRow; ++i) first.push_back(&tile.digits[i]);
  if (!place(first) || !place(across)) return false;
  tile.lead = tile.step * itemsize;
  if (tile.step * itemsize % kSwizzledAtom) return false;
  place(further);
  for (int bit = 0; bit < kColumnBits; ++bit)
    tile.exchanged.emplace_back(column + kColumnBits + bit, column + bit);
  tile.byAddress = tile.isForCore = true;
  return true;
}

/// Bits [first, first + count) of the position.
UOp bitsOf(const StagedTile& tile, const std::vector<UOp>& values, int first, int count) {
  UOp sum = UOp::index(0);
  for (size_t i = 0; i < tile.digits.size(); ++i) {
    const int at = bitsIn(tile.digits[i].inShared), size = bitsIn(tile.digits[i].extent);
    const int from = std::max(first, at), to = std::min(first + count, at + size);
    if (from >= to) continue;
    UOp part = values[i];
    if (from > at) part = part / (int64_t{1} << (from - at));
    if (to < at + size) part = part % (int64_t{1} << (to - from));
    sum = sum + part * (int64_t{1} << (from - first));
  }
  return sum;
}

} // namespace

std::optional<StagedTile> tileOf(UOp read, UOp reduction, const std::vector<UOp>& threads,
                                 const std::vector<UOp>& terms) {
  UOp index = read.src(1);
  if (read.srcCount() != 2 || index.is(Op::WHERE) || read.dtype().count() != 1) return {};
  StagedTile tile;
  tile.read = read;
  std::vector<UOp> all = rangesIn(reduction.src().subspan(1));
  for (UOp r : reduction.ranges()) all.push_back(r);
  for (UOp r : rangesIn(std::span<const UOp>(&index, 1)))
    if (std::find(all.begin(), all.end(), r) == all.end()) all.push_back(r); // elements of a fragment
  bool ofWarps = false, hasTerms = false, isForCore = false;
  for (UOp r : all) {
    AxisType type = r.axisType();
    bool inTile =
        isThread(r) || type == AxisType::Upcast || type == AxisType::Unroll || type == AxisType::Placeholder;
    if (!inTile) {
      if (type != AxisType::Global && type != AxisType::Reduce) return {};
      continue;
    }
    std::vector<Digit> digits;
    if (extentOf(r) < 1 || !addDigits(index, r, 1, digits) || !areApart(digits)) return {};
    int64_t chosen = 1;
    for (const Digit& d : digits) {
      if (d.stride < 0) return {};
      if (d.stride == 0) continue;
      tile.digits.push_back(d);
      chosen *= d.extent;
    }
    tile.size *= chosen;
    isForCore = isForCore || type == AxisType::Placeholder;
    ofWarps = ofWarps || type == AxisType::Warp || isForCore;
    hasTerms = hasTerms || (type == AxisType::Unroll && chosen > 1);
    if (type == AxisType::Local) tile.reuse *= extentOf(r) / chosen;
  }
  std::stable_sort(tile.digits.begin(), tile.digits.end(),
                   [](const Digit& a, const Digit& b) { return a.stride < b.stride; });
  int64_t group = 1;
  for (UOp t : threads) group *= extentOf(t);
  if ((!hasTerms && !isForCore) || tile.size % group) return {};
  int64_t each = tile.size / group, widest = kVectorBytes / read.dtype().itemsize(), contiguous = 1;
  for (const Digit& d : tile.digits) {
    if (d.stride != contiguous) break;
    contiguous *= d.extent;
    if (!ofWarps) break; // by use, the next digit lies elsewhere
  }
  while (tile.vector * 2 <= widest && each % (tile.vector * 2) == 0 && contiguous % (tile.vector * 2) == 0)
    tile.vector *= 2;
  if (!ofWarps) {
    layOutByUse(tile);
    return tile;
  }
  for (const Digit& d : tile.digits)
    if (!isPowerOfTwo(d.extent) || !isPowerOfTwo(d.divisor)) return {};
  if (!isForCore)
    layOutByAddress(tile);
  else if (!layOutForCore(tile, terms))
    return {};
  return tile;
}

std::vector<UOp> valuesOfLoops(const StagedTile& tile) {
  std::vector<UOp> values;
  for (const Digit& d : tile.digits) {
    if (d.loop.axisType() == AxisType::Placeholder) {
      values.push_back(UOp::index(0));
      continue;
    }
    UOp value = d.divisor == 1 ? d.loop : d.loop / d.divisor;
    values.push_back(d.divisor * d.extent == extentOf(d.loop) ? value : value % d.extent);
  }
  return values;
}

std::vector<UOp> valuesOfElement(const StagedTile& tile, UOp element) {
  std::vector<UOp> values;
  for (size_t i = 0; i < tile.digits.size(); ++i) {
    values.push_back(i + 1 == tile.digits.size() ? element : element % tile.digits[i].extent);
    element = element / tile.digits[i].extent;
  }
  return values;
}

UOp placeOf(const StagedTile& tile, const std::vector<UOp>& values) {
  if (tile.exchanged.empty()) {
    UOp place = UOp::index(0);
    for (size_t i = 0; i < tile.digits.size(); ++i) place = place + values[i] * tile.digits[i].inShared;
    return place;
  }
  const int column = bitsIn(kVectorBytes / tile.read.dtype().itemsize()), row = column + kColumnBits;
  UOp added = UOp::index(0);
  for (auto [from, to] : tile.exchanged)
    added = added + bitsOf(tile, values, from, 1) * (int64_t{1} << (to - column));
  return bitsOf(tile, values, 0, column) +
         (bitsOf(tile, values, column, kColumnBits) ^ added) * (int64_t{1} << column) +
         bitsOf(tile, values, row, 62 - row) * (int64_t{1} << row);
}

} // namespace uopscope
