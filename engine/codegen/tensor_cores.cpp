// OptOps.TC: a tensor core computes a sum of products. The rows, columns and terms of the matrix product are
// cut into tiles. The coordinates inside a tile are computed from the number of the thread in its warp and
// the number of its element, as the core's layouts describe.
//
//   sum over k of a[i,k] * b[k,j]  becomes  sum over ko of WMMA(8 elements of a, 4 of b, zeros), 4 results a
//   thread; the accumulator replaces the zeros when the sum becomes a loop.
//
// A core that reads shared memory itself (shared_operand.h) gets the reads of a tile, with a PLACEHOLDER range for each
// coordinate; staging.cpp puts descriptors in their place. Tiles of a processor (tile_cores.h) are made alike.
//
// In the Opt, axis is the number of the choice among the (rows, columns, terms) that fit; arg is (core, or -1
// for the first that fits; 2 to pad loops that do not divide; 1).
#include "engine/base/context_var.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"
#include "engine/codegen/tile_cores.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace uopscope {

namespace {

/// Elements from step to step of a range in a read; 0 if the address is not linear in it.
int64_t strideOf(UOp read, UOp range) {
  return coefficientOf(read.src(1), range).value_or(0);
}

/// The coordinate that a layout describes.
UOp coordinate(std::string_view layout, UOp thread, const std::vector<UOp>& elements) {
  UOp sum = UOp::index(0);
  for (size_t i = 0; i < layout.size(); i += 2) {
    auto bit = static_cast<size_t>(layout[i + 1] - '0');
    int64_t weight = int64_t{1} << (i / 2);
    if (layout[i] == 'e') {
      sum = sum + elements[bit] * weight;
      continue;
    }
    // Consecutive bits of the thread's number become one expression.
    size_t run = 1;
    while (i + 2 * run < layout.size() && layout[i + 2 * run] == 'l' &&
           static_cast<size_t>(layout[i + 2 * run + 1] - '0') == bit + run)
      ++run;
    sum = sum + thread / (int64_t{1} << bit) % (int64_t{1} << run) * weight;
    i += 2 * (run - 1);
  }
  return sum;
}

bool contains(const std::vector<UOp>& list, UOp u) {
  return std::find(list.begin(), list.end(), u) != list.end();
}

Arg flat(const std::vector<std::pair<int64_t, int64_t>>& list) {
  std::vector<int64_t> numbers;
  for (auto [id, size] : list) numbers.insert(numbers.end(), {id, size});
  return Arg::of(numbers);
}

/// A product rewritten for a tensor core: its tiles, the threads of a tile and the elements of each thread.
class CoreKernel {
public:
  CoreKernel(const TensorCore& core, const TensorCoreProduct& product, int64_t& nextId)
      : core_(core), p_(product), nextId_(nextId) {
    thread_ = UOp::range(core.threads, nextId_++, AxisType::Warp);
    inA_ = elementsOf(core.a, AxisType::Unroll);
    inB_ = elementsOf(core.b, AxisType::Unroll);
    inC_ = elementsOf(core.c, AxisType::Upcast);
    if (readsShared(core)) {
      rowsInA_ = coordinates(rowsOf(core)), termsInA_ = coordinates(termsOf(core));
      columnsInB_ = coordinates(columnsOf(core)), termsInB_ = coordinates(termsOf(core));
    }
    rows_ = tiles(p_.row, rowsOf(core));
    columns_ = tiles(p_.column, columnsOf(core));
    terms_ = tiles(p_.term, termsOf(core));
  }

  UOp row(const TensorCore::Layout& layout, const std::vector<UOp>& elements) const {
    return rows_ * rowsOf(core_) + coordinate(layout.row, thread_, elements);
  }
  UOp rowOfResult() const { return row(core_.c, inC_); }
  UOp columnOfResult() const { return column(core_.c, inC_); }

  /// The sum over tiles of the products of fragments, for each element of the result.
  UOp sum(const std::string& device) const {
    if (readsShared(core_)) return added(productOfShared(device));
    UOp a = fragment(
        p_.left.substitute({{p_.row, row(core_.a, inA_)}, {p_.term, term(core_.a.column, inA_)}}), inA_);
    UOp b = fragment(
        p_.right.substitute({{p_.term, term(core_.b.row, inB_)}, {p_.column, column(core_.b, inB_)}}), inB_);
    DType results = core_.out.vec(1 << inC_.size());
    std::vector<UOp> sources{a, b, UOp::constant(results, 0.0)};
    sources.insert(sources.end(), inA_.begin(), inA_.end());
    sources.insert(sources.end(), inB_.begin(), inB_.end());
    WmmaArg arg{core_.name,
                {columnsOf(core_), rowsOf(core_), termsOf(core_)},
                core_.in,
                core_.out,
                device,
                core_.threads,
                {axes(inA_), axes(inB_), axes(inC_)},
                {}};
    return added(UOp::make(Op::WMMA, results, sources, Arg::of(arg)));
  }

private:
  /// A PLACEHOLDER range for each 64 steps of a coordinate, as many as lie side by side in shared memory, and one for what is
  /// left; the fastest first.
  std::vector<UOp> coordinates(int64_t extent) {
    std::vector<UOp> parts{UOp::range(std::min<int64_t>(extent, 64), nextId_++, AxisType::Placeholder)};
    if (extent > 64) parts.push_back(UOp::range(extent / 64, nextId_++, AxisType::Placeholder));
    return parts;
  }
  static UOp whole(const std::vector<UOp>& parts) {
    return parts.size() == 1 ? parts[0] : parts[1] * extentOf(parts[0]) + parts[0];
  }
  /// The product of tiles that the core reads itself; its operands are the elements at the coordinates.
  UOp productOfShared(const std::string& device) const {
    UOp a = p_.left.substitute({{p_.row, rows_ * rowsOf(core_) + whole(rowsInA_)},
                                {p_.term, terms_ * termsOf(core_) + whole(termsInA_)}}),
        b = p_.right.substitute({{p_.term, terms_ * termsOf(core_) + whole(termsInB_)},
                                 {p_.column, columns_ * columnsOf(core_) + whole(columnsInB_)}});
    DType results = core_.out.vec(1 << inC_.size());
    std::vector<UOp> sources{a, b, UOp::constant(results, 0.0)};
    for (const auto* list : {&rowsInA_, &termsInA_, &columnsInB_, &termsInB_})
      sources.insert(sources.end(), list->begin(), list->end());
    WmmaArg arg{
        sharedName(core_, strideOf(p_.left, p_.term) == 1, strideOf(p_.right, p_.term) == 1, kProductsAhead),
        {columnsOf(core_), rowsOf(core_), termsOf(core_)},
        core_.in,
        core_.out,
        device,
        core_.threads,
        {{}, {}, axes(inC_)},
        {}};
    return UOp::make(Op::WMMA, results, sources, Arg::of(arg));
  }
  UOp added(UOp wmma) const {
    UOp each = UOp::make(Op::UNROLL, core_.out, {wmma}, flat(axes(inC_)));
    return summedBySteps(each, p_.sum, p_.term, terms_);
  }

  /// Ranges of two steps, one for each bit of an element's number. The slowest axis of a vector gets the smallest id: the
  /// expander lays vectors out in this order.
  std::vector<UOp> elementsOf(const TensorCore::Layout& layout, AxisType type) {
    std::vector<UOp> elements(elementBits(layout));
    for (size_t i = elements.size(); i-- > 0;) elements[i] = UOp::range(2, nextId_++, type);
    return elements;
  }
  static UOp tiles(UOp range, int64_t size) {
    int64_t n = range.src(0).arg().i() / size;
    return n == 1 ? UOp::index(0) : range.withSrc({UOp::constant(range.dtype(), n)});
  }
  UOp column(const TensorCore::Layout& layout, const std::vector<UOp>& elements) const {
    return columns_ * columnsOf(core_) + coordinate(layout.column, thread_, elements);
  }
  UOp term(const char* layout, const std::vector<UOp>& elements) const {
    return terms_ * termsOf(core_) + coordinate(layout, thread_, elements);
  }
  /// The axes of a vector as the expander numbers them, the slowest first.
  static std::vector<std::pair<int64_t, int64_t>> axes(const std::vector<UOp>& elements) {
    std::vector<std::pair<int64_t, int64_t>> list;
    for (auto e = elements.rbegin(); e != elements.rend(); ++e)
      list.emplace_back(e->arg().as<RangeArg>().ids[0], 2);
    return list;
  }
  static UOp fragment(UOp value, const std::vector<UOp>& elements) {
    return UOp::make(Op::CONTRACT, value.dtype().vec(1 << elements.size()), {value}, flat(axes(elements)));
  }

  const TensorCore& core_;
  const TensorCoreProduct p_;
  int64_t& nextId_;
  UOp thread_, rows_, columns_, terms_;
  std::vector<UOp> inA_, inB_, inC_;
  std::vector<UOp> rowsInA_, termsInA_, columnsInB_, termsInB_; ///< of a core that reads shared memory
};

/// Why a core that reads shared memory itself cannot compute a product; null if it can.
const char* whyNotShared(const TensorCoreProduct& p) {
  auto isPlain = [](UOp read) {
    return read.is(Op::INDEX) && read.src(0).is(Op::DEFINE_GLOBAL) && read.srcCount() == 2 &&
           !read.src(1).is(Op::WHERE);
  };
  if (!isPlain(p.left) || !isPlain(p.right)) return "that core reads operands as they lie in memory";
  auto lies = [](UOp read, UOp line, UOp term) {
    const int64_t byLine = strideOf(read, line), byTerm = strideOf(read, term);
    return (byTerm == 1 && byLine > 1) || (byLine == 1 && byTerm > 1);
  };
  if (!lies(p.left, p.row, p.term) || !lies(p.right, p.column, p.term))
    return "neither the terms of an operand nor its lines lie side by side";
  return nullptr;
}

using namespace pat;
constexpr RuleDef kTensorCore[] = {RULE("product-on-tensor-core", any(Op::REDUCE), entry())};
const KnownRules kTensorCoreKnown(kTensorCore);
constexpr RuleDef kDots[] = {RULE("sum-by-dot-products", any(Op::REDUCE), entry())};
const KnownRules kDotsKnown(kDots);
constexpr RuleDef kTiles[] = {RULE("tile-of-tensor-core", any(Op::RANGE), entry())};
const KnownRules kTilesKnown(kTiles);

} // namespace

bool mayUse(const Target& target, const TensorCore& core) {
  return vars::tc && (vars::tcSelect < 0 || &core == target.tensorCores.data() + vars::tcSelect.value());
}

std::vector<TensorCoreProduct> productsFor(const TensorCore& core, const std::vector<UOp>& sums,
                                           const std::vector<UOp>& parallel) {
  std::vector<TensorCoreProduct> found;
  auto narrow = [&](UOp u) { return u.is(Op::CAST) && takesOperand(core, u.src(0).dtype()) ? u.src(0) : u; };
  for (UOp sum : sums) {
    if (sum.arg().op() != Op::ADD || sum.dtype() != core.out) continue;
    UOp product = sum.src(0);
    if (product.is(Op::CAST)) product = product.src(0);
    if (!product.is(Op::MUL)) continue;
    const std::vector<UOp> over = rangesIn(sum.src().subspan(1));
    UOp first = narrow(product.src(0)), second = narrow(product.src(1));
    if (!takesOperand(core, first.dtype()) || !takesOperand(core, second.dtype())) continue;
    auto add = [&](UOp left, UOp right) {
      for (UOp column : parallel)
        for (UOp row : parallel)
          for (UOp term : over) {
            if (!contains(left.ranges(), row) || contains(right.ranges(), row)) continue;
            if (!contains(right.ranges(), column) || contains(left.ranges(), column)) continue;
            if (!contains(left.ranges(), term) || !contains(right.ranges(), term)) continue;
            found.push_back({sum, left, right, row, column, term});
          }
    };
    add(first, second);
    if (isTileCore(core)) add(second, first);
  }
  return found;
}

/// Padding rebuilds the kernel, so its products are searched again. The kernel is unchanged if padding fails.
std::vector<TensorCoreProduct> KernelOptimizer::paddedToTiles(const Opt& opt, const TensorCore& core,
                                                              size_t choice, bool mayPad) {
  std::vector<TensorCoreProduct> found = productsFor(core, reduces_, parallelRanges());
  UOp before = ast_;
  try {
    for (int part = 0; part < 3; ++part) {
      const TensorCoreProduct& p = found[choice];
      UOp range = part == 0 ? p.row : part == 1 ? p.column : p.term;
      int64_t tile = part == 0 ? rowsOf(core) : part == 1 ? columnsOf(core) : termsOf(core);
      auto axis = static_cast<size_t>(std::find(ranges_.begin(), ranges_.end(), range) - ranges_.begin());
      require(axis < ranges_.size() && extent(axis) > 0, opt, "a loop is symbolic or has one step");
      if (extent(axis) % tile == 0) continue;
      if (!mayPad) refuse(opt, fmt::format("{} does not divide {}", tile, extent(axis)));
      padTo(axis, tile);
      refresh();
      found = productsFor(core, reduces_, parallelRanges());
      require(choice < found.size(), opt, "padded, the products are no longer found");
    }
  } catch (...) {
    ast_ = before;
    refresh();
    throw;
  }
  return found;
}

/// The choice is among the sums and terms that fit; there is nothing to pad.
void KernelOptimizer::useDotProducts(const Opt& opt, int64_t select, size_t choice) {
  std::vector<DotSum> found = dotSums(*target_, reduces_, stores_);
  if (select >= 0)
    std::erase_if(
        found, [&](const DotSum& d) { return d.core != &target_->tensorCores[static_cast<size_t>(select)]; });
  require(!found.empty(), opt,
          "it sums no product of the types, and as many terms, that a dot product takes");
  require(choice < found.size(), opt, "there are fewer choices of sums and terms");
  static const PatternMatcher useDots({kDots});
  replace({{found[choice].sum, byDotProducts(found[choice], nextId_, target_->device)}}, useDots);
}

void KernelOptimizer::useTensorCore(const Opt& opt) {
  require(!target_->tensorCores.empty(), opt, "the target has no tensor cores");
  require(axesOf({AxisType::Warp}).empty(), opt, "it uses tensor cores already");
  require(!dontUseLocals_, opt, "locals are switched off");
  int64_t select = opt.arg.empty() ? -1 : opt.arg[0], effort = opt.arg.size() > 1 ? opt.arg[1] : 0;
  require(opt.arg.size() < 3 || opt.arg[2] == 1, opt, "the third number is 1: use tensor cores");
  require(select < static_cast<int64_t>(target_->tensorCores.size()), opt, "the target has no such core");
  auto choice = static_cast<size_t>(std::max(0, opt.axis));
  const bool asksForTiles = select >= 0 && isTileCore(target_->tensorCores[static_cast<size_t>(select)]);
  if (isDotProduct(target_->tensorCores[0]) && !asksForTiles) return useDotProducts(opt, select, choice);

  const TensorCore* core = nullptr;
  std::vector<TensorCoreProduct> found;
  for (size_t i = 0; i < target_->tensorCores.size() && found.empty(); ++i) {
    if (select >= 0 && static_cast<int64_t>(i) != select) continue;
    core = &target_->tensorCores[i];
    found = productsFor(*core, reduces_, parallelRanges());
  }
  require(!found.empty(), opt,
          "it sums no product of the types a tensor core takes, over loops of its own each");
  require(choice < found.size(), opt, "there are fewer choices of rows, columns and terms");

  const TensorCoreProduct p = paddedToTiles(opt, *core, choice, effort >= 2)[choice];
  if (readsShared(*core))
    if (const char* why = whyNotShared(p)) refuse(opt, why);
  static const PatternMatcher useCore({kTensorCore}), tiled({kTiles});
  if (isTileCore(*core)) {
    const ByTiles tiles = byTiles(*core, p, nextId_, target_->device);
    replace({{p.sum, tiles.sum}}, useCore);
    replace({{p.row, tiles.row}, {p.column, tiles.column}}, tiled);
    return;
  }
  CoreKernel kernel(*core, p, nextId_);
  replace({{p.sum, kernel.sum(target_->device)}}, useCore);
  replace({{p.row, kernel.rowOfResult()}, {p.column, kernel.columnOfResult()}}, tiled);
}

} // namespace uopscope
