// OptOps.TC: a sum of products is computed by a tensor core. The rows, columns and terms of a product of
// matrices are cut into tiles; inside a tile they follow from the thread's number in its warp and from which
// of its elements is meant, as the core's layouts say.
//
//   sum over k of a[i,k] * b[k,j]  becomes  sum over ko of WMMA(8 elements of a, 4 of b, zeros), 4 results a
//   thread; the accumulator takes the place of the zeros when the sum becomes a loop.
//
// Opt: axis is the number of the choice among (rows, columns, terms) that fit; arg is (core or -1 for the
// first that fits, 2 to pad what does not divide, 1).
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>

namespace uopscope {

namespace {

/// A sum of products, and which of its loops can be rows, columns and terms.
struct Product {
  UOp sum, left, right;
  UOp row, column, term;
};

int bitsOf(std::string_view layout) {
  return static_cast<int>(layout.size() / 2);
}
int64_t rowsOf(const TensorCore& core) {
  return int64_t{1} << bitsOf(core.c.row);
}
int64_t columnsOf(const TensorCore& core) {
  return int64_t{1} << bitsOf(core.c.column);
}
int64_t termsOf(const TensorCore& core) {
  return int64_t{1} << bitsOf(core.a.column);
}
/// Ranges of two steps, one for each bit of an element's number.
size_t elementBits(const TensorCore::Layout& layout) {
  std::string all = std::string(layout.row) + layout.column;
  return static_cast<size_t>(std::count(all.begin(), all.end(), 'e'));
}

/// The coordinate a layout describes.
UOp coordinate(std::string_view layout, UOp thread, const std::vector<UOp>& elements) {
  UOp sum = UOp::index(0);
  for (size_t i = 0; i < layout.size(); i += 2) {
    auto bit = static_cast<size_t>(layout[i + 1] - '0');
    int64_t weight = int64_t{1} << (i / 2);
    if (layout[i] == 'e') {
      sum = sum + elements[bit] * weight;
      continue;
    }
    // Neighbouring bits of the thread's number are taken at once.
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

/// Everything a tensor core with these types could compute, in order.
std::vector<Product> productsFor(const TensorCore& core, const std::vector<UOp>& sums,
                                 const std::vector<UOp>& parallel) {
  std::vector<Product> found;
  for (UOp sum : sums) {
    if (sum.arg().op() != Op::ADD || sum.dtype() != core.out) continue;
    UOp product = sum.src(0);
    if (product.is(Op::CAST)) product = product.src(0);
    if (!product.is(Op::MUL)) continue;
    std::vector<UOp> over = rangesIn(sum.src().subspan(1));
    UOp left = product.src(0), right = product.src(1);
    auto narrow = [&](UOp u) { return u.is(Op::CAST) && u.src(0).dtype() == core.in ? u.src(0) : u; };
    left = narrow(left);
    right = narrow(right);
    if (left.dtype() != core.in || right.dtype() != core.in) continue;
    for (UOp column : parallel)
      for (UOp row : parallel)
        for (UOp term : over) {
          if (!contains(left.ranges(), row) || contains(right.ranges(), row)) continue;
          if (!contains(right.ranges(), column) || contains(left.ranges(), column)) continue;
          if (!contains(left.ranges(), term) || !contains(right.ranges(), term)) continue;
          found.push_back({sum, left, right, row, column, term});
        }
  }
  return found;
}

using namespace pat;
constexpr RuleDef kTensorCore[] = {RULE("product-on-tensor-core", any(Op::REDUCE), entry())};
constexpr RuleDef kTiles[] = {RULE("tile-of-tensor-core", any(Op::RANGE), entry())};

} // namespace

void Scheduler::useTensorCore(const Opt& opt) {
  require(!target_->tensorCores.empty(), opt, "the target has no tensor cores");
  require(axesOf({AxisType::Warp}).empty(), opt, "it uses tensor cores already");
  require(!dontUseLocals_, opt, "locals are switched off");
  int64_t select = opt.arg.empty() ? -1 : opt.arg[0], effort = opt.arg.size() > 1 ? opt.arg[1] : 0;
  require(opt.arg.size() < 3 || opt.arg[2] == 1, opt, "the third number is 1: use tensor cores");
  require(select < static_cast<int64_t>(target_->tensorCores.size()), opt, "the target has no such core");
  auto choice = static_cast<size_t>(std::max(0, opt.axis));

  const TensorCore* core = nullptr;
  std::vector<Product> found;
  for (size_t i = 0; i < target_->tensorCores.size() && found.empty(); ++i) {
    if (select >= 0 && static_cast<int64_t>(i) != select) continue;
    core = &target_->tensorCores[i];
    found = productsFor(*core, reduces_, parallelRanges());
  }
  require(!found.empty(), opt,
          "it sums no product of the types a tensor core takes, over loops of its own each");
  require(choice < found.size(), opt, "there are fewer choices of rows, columns and terms");

  // Padding makes the kernel anew, so its parts are looked up again.
  UOp before = ast_;
  try {
    for (int part = 0; part < 3; ++part) {
      const Product& p = found[choice];
      UOp range = part == 0 ? p.row : part == 1 ? p.column : p.term;
      int64_t tile = part == 0 ? rowsOf(*core) : part == 1 ? columnsOf(*core) : termsOf(*core);
      auto axis = static_cast<size_t>(std::find(ranges_.begin(), ranges_.end(), range) - ranges_.begin());
      require(axis < ranges_.size() && extent(axis) > 0, opt, "a loop is symbolic or has one step");
      if (extent(axis) % tile == 0) continue;
      if (effort < 2) refuse(opt, fmt::format("{} does not divide {}", tile, extent(axis)));
      padTo(axis, tile);
      refresh();
      found = productsFor(*core, reduces_, parallelRanges());
      require(choice < found.size(), opt, "padded, the products are no longer found");
    }
  } catch (...) {
    ast_ = before;
    refresh();
    throw;
  }

  const Product p = found[choice];
  // The slowest axis of a vector has the smallest id, which is how the expander lays vectors out.
  auto elementsOf = [&](const TensorCore::Layout& layout, AxisType type) {
    std::vector<UOp> elements(elementBits(layout));
    for (size_t i = elements.size(); i-- > 0;) elements[i] = UOp::range(2, nextId_++, type);
    return elements;
  };
  UOp thread = UOp::range(core->threads, nextId_++, AxisType::Warp);
  std::vector<UOp> inA = elementsOf(core->a, AxisType::Unroll), inB = elementsOf(core->b, AxisType::Unroll),
                   inC = elementsOf(core->c, AxisType::Upcast);
  auto tiles = [](UOp range, int64_t size) {
    int64_t n = range.src(0).arg().i() / size;
    return n == 1 ? UOp::index(0) : range.withSrc({UOp::constant(range.dtype(), n)});
  };
  UOp rows = tiles(p.row, rowsOf(*core)), columns = tiles(p.column, columnsOf(*core)),
      terms = tiles(p.term, termsOf(*core));
  auto at = [&](UOp tile, int64_t size, const char* layout, const std::vector<UOp>& elements) {
    return tile * size + coordinate(layout, thread, elements);
  };
  // Axes of a vector, the slowest first, as the expander counts them.
  auto axes = [](const std::vector<UOp>& elements) {
    std::vector<std::pair<int64_t, int64_t>> list;
    for (auto e = elements.rbegin(); e != elements.rend(); ++e)
      list.emplace_back(e->arg().as<RangeArg>().ids[0], 2);
    return list;
  };
  auto flat = [](const std::vector<std::pair<int64_t, int64_t>>& list) {
    std::vector<int64_t> numbers;
    for (auto [id, size] : list) numbers.insert(numbers.end(), {id, size});
    return Arg::of(numbers);
  };
  auto fragment = [&](UOp value, const std::vector<UOp>& elements) {
    return UOp::make(Op::CONTRACT, value.dtype().vec(1 << elements.size()), {value}, flat(axes(elements)));
  };
  UOp a = fragment(p.left.substitute({{p.row, at(rows, rowsOf(*core), core->a.row, inA)},
                                      {p.term, at(terms, termsOf(*core), core->a.column, inA)}}),
                   inA);
  UOp b = fragment(p.right.substitute({{p.term, at(terms, termsOf(*core), core->b.row, inB)},
                                       {p.column, at(columns, columnsOf(*core), core->b.column, inB)}}),
                   inB);
  DType results = core->out.vec(1 << inC.size());
  std::vector<UOp> sources{a, b, UOp::constant(results, 0.0)};
  sources.insert(sources.end(), inA.begin(), inA.end());
  sources.insert(sources.end(), inB.begin(), inB.end());
  WmmaArg arg{core->name,
              {columnsOf(*core), rowsOf(*core), termsOf(*core)},
              core->in,
              core->out,
              target_->device,
              core->threads,
              {axes(inA), axes(inB), axes(inC)},
              {}};
  UOp wmma = UOp::make(Op::WMMA, results, sources, Arg::of(arg));
  UOp each = UOp::make(Op::UNROLL, core->out, {wmma}, flat(axes(inC)));
  std::vector<UOp> over;
  for (UOp r : rangesIn(p.sum.src().subspan(1)))
    if (r != p.term)
      over.push_back(r);
    else if (terms.is(Op::RANGE))
      over.push_back(terms);
  UOp sum = over.empty() ? each : each.reduce(Op::ADD, over);
  static const PatternMatcher useCore({kTensorCore}), tiled({kTiles});
  replace({{p.sum, sum}}, useCore);
  replace({{p.row, at(rows, rowsOf(*core), core->c.row, inC)},
           {p.column, at(columns, columnsOf(*core), core->c.column, inC)}},
          tiled);
}

} // namespace uopscope
