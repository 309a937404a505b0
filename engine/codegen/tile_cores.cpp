// Lists the instructions, computes what they compute, and rewrites a product for them.
#include "engine/codegen/tile_cores.h"

#include "engine/base/context_var.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"

#include <array>
#include <cmath>

namespace uopscope {

namespace {

/// tdpb, the signs of the left and of the right operand, d.
std::string nameOf(const TensorCore& core, DType left, DType right) {
  if (!isByte(core.in)) return core.name;
  auto sign = [](DType d) { return d == dtypes::int8 ? 's' : 'u'; };
  return std::string("tdpb") + sign(left) + sign(right) + 'd';
}

/// A range of `extent` / `size` steps, or the only step.
UOp tilesOf(UOp range, int64_t size) {
  const int64_t n = extentOf(range) / size;
  return n == 1 ? UOp::index(0) : range.withSrc({UOp::constant(range.dtype(), n)});
}

} // namespace

std::vector<TensorCore> tileCores(bool ofBFloat16, bool ofHalf, bool ofBytes) {
  constexpr TensorCore::Layout kResults{"e4e5e6e7", "e0e1e2e3"};
  constexpr TensorCore::Layout kLeftPairs{"e5e6e7e8", "e0e1e2e3e4"}, kRightPairs{"e0e5e6e7e8", "e1e2e3e4"};
  constexpr TensorCore::Layout kLeftFours{"e6e7e8e9", "e0e1e2e3e4e5"},
      kRightFours{"e0e1e6e7e8e9", "e2e3e4e5"};
  // Products a cycle, from Intel's "Optimization Reference Manual": an instruction begins every 16 cycles.
  constexpr int64_t kPairsRate = 512, kFoursRate = 1024;
  std::vector<TensorCore> cores;
  auto ofPairs = [&](const char* name, DType in) {
    cores.push_back({name, in, dtypes::float32, kLeftPairs, kRightPairs, kResults, 1, kPairsRate});
  };
  if (ofBFloat16) ofPairs("tdpbf16ps", dtypes::bfloat16);
  if (ofHalf) ofPairs("tdpfp16ps", dtypes::float16);
  if (ofBytes)
    cores.push_back(
        {"tdpbssd", dtypes::int8, dtypes::int32, kLeftFours, kRightFours, kResults, 1, kFoursRate});
  return cores;
}

bool isTileCore(const TensorCore& core) {
  return core.threads == 1 && rowsOf(core) > 1;
}
bool isTileProduct(UOp u) {
  if (!u.is(Op::WMMA) || u.arg().kind() != ArgKind::Wmma) return false;
  const WmmaArg& arg = u.arg().as<WmmaArg>();
  return arg.threads == 1 && arg.dims.size() == 3 && arg.dims[0] == kTileLines && arg.dims[1] == kTileLines;
}
bool takesOperand(const TensorCore& core, DType type) {
  if (!isTileCore(core)) return type == core.in;
  if (core.in.isFloat() && vars::strictFloat) return false;
  return type == core.in || (isByte(core.in) && isByte(type));
}
int64_t placeInRightTile(int64_t term, int64_t column, int64_t itemsize) {
  const int64_t together = 4 / itemsize;
  return (term / together * kTileLines + column) * together + term % together;
}

std::vector<ConstValue> tileProduct(DType sum, int64_t terms, std::span<const ConstValue> a,
                                    std::span<const ConstValue> b, std::span<const ConstValue> c) {
  const int64_t itemsize = kTileBytes / kTileLines / terms;
  std::vector<ConstValue> results(c.begin(), c.end());
  for (int64_t row = 0; row < kTileLines; ++row)
    for (int64_t column = 0; column < kTileLines; ++column) {
      auto left = [&](int64_t term) { return a[static_cast<size_t>(row * terms + term)]; };
      auto right = [&](int64_t term) {
        return b[static_cast<size_t>(placeInRightTile(term, column, itemsize))];
      };
      ConstValue& result = results[static_cast<size_t>(row * kTileLines + column)];
      if (sum.isInt()) {
        auto total = static_cast<uint32_t>(result.i);
        for (int64_t k = 0; k < terms; ++k) total += static_cast<uint32_t>(left(k).i * right(k).i);
        result = ConstValue::ofInt(static_cast<int32_t>(total));
        continue;
      }
      std::array<float, 2> parts{};
      for (int64_t k = 0; k < terms; ++k) {
        float& part = parts[static_cast<size_t>(k % 2)];
        part = withoutDenormal(std::fma(withoutDenormal(static_cast<float>(left(k).f)),
                                        withoutDenormal(static_cast<float>(right(k).f)), part));
      }
      result = ConstValue::ofFloat(withoutDenormal(withoutDenormal(static_cast<float>(result.f)) +
                                                   withoutDenormal(parts[0] + parts[1])));
    }
  return results;
}

std::unordered_set<UOp, UOpHash> tileMemoryOf(UOp sink) {
  std::unordered_set<UOp, UOpHash> memory, seen;
  if (!sink.below().has(Op::WMMA)) return memory;
  std::vector<UOp> next;
  for (UOp u : sink.toposort())
    if (isTileProduct(u)) next.push_back(u);
  while (!next.empty()) {
    UOp u = next.back();
    next.pop_back();
    if (!seen.insert(u).second) continue;
    if (u.is(Op::INDEX) && u.bufferOf().is(Op::DEFINE_REG)) memory.insert(u.bufferOf());
    if (u.in(OpSet{Op::WMMA, Op::GEP, Op::CAT, Op::VECTORIZE, Op::LOAD, Op::CAST}))
      next.insert(next.end(), u.src().begin(), u.src().end());
  }
  return memory;
}

ByTiles byTiles(const TensorCore& core, const TensorCoreProduct& p, int64_t& nextId,
                const std::string& device) {
  UOp rows = tilesOf(p.row, rowsOf(core)), columns = tilesOf(p.column, columnsOf(core)),
      terms = tilesOf(p.term, termsOf(core));
  // The results of a tile lie row by row: the slower axis has the smaller id.
  UOp row = UOp::range(rowsOf(core), nextId++, AxisType::Upcast),
      column = UOp::range(columnsOf(core), nextId++, AxisType::Upcast);
  auto coordinate = [&](int64_t extent) { return UOp::range(extent, nextId++, AxisType::Placeholder); };
  UOp leftRow = coordinate(rowsOf(core)), leftTerm = coordinate(termsOf(core)),
      rightTerm = coordinate(termsOf(core)), rightColumn = coordinate(columnsOf(core));
  UOp left = p.left.substitute(
          {{p.row, rows * rowsOf(core) + leftRow}, {p.term, terms * termsOf(core) + leftTerm}}),
      right = p.right.substitute(
          {{p.term, terms * termsOf(core) + rightTerm}, {p.column, columns * columnsOf(core) + rightColumn}});
  const std::vector<std::pair<int64_t, int64_t>> results{{idOf(row), rowsOf(core)},
                                                         {idOf(column), columnsOf(core)}};
  WmmaArg arg{nameOf(core, left.dtype(), right.dtype()),
              {columnsOf(core), rowsOf(core), termsOf(core)},
              core.in,
              core.out,
              device,
              1,
              {{}, {}, results},
              {}};
  const DType tile = core.out.vec(static_cast<int>(rowsOf(core) * columnsOf(core)));
  UOp none = core.out.isFloat() ? UOp::constant(tile, 0.0) : UOp::constant(tile, int64_t{0});
  UOp product =
      UOp::make(Op::WMMA, tile, {left, right, none, leftRow, leftTerm, rightTerm, rightColumn}, Arg::of(arg));
  UOp each = UOp::make(Op::UNROLL, core.out, {product},
                       Arg::of(std::vector<int64_t>{idOf(row), rowsOf(core), idOf(column), columnsOf(core)}));
  return {summedBySteps(each, p.sum, p.term, terms), rows * rowsOf(core) + row,
          columns * columnsOf(core) + column};
}

} // namespace uopscope
