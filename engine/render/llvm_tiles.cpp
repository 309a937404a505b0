// Finds the operands that lie in rows and the sums that leave their registers, and writes the calls.
#include "engine/render/llvm_tiles.h"

#include "engine/base/error.h"
#include "engine/codegen/tile_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace uopscope {

namespace {

constexpr int64_t kRowBytes = kTileBytes / kTileLines;
constexpr const char* kToTile = "llvm.x86.cast.vector.to.tile.v256i32";
constexpr const char* kToVector = "llvm.x86.cast.tile.to.vector.v256i32";

/// The place of a LOAD in its buffer as a term and a number, both in elements.
struct Place {
  UOp buffer, start;
  int64_t offset = 0;
};
std::optional<Place> placeOf(UOp load) {
  if (!load.is(Op::LOAD) || load.srcCount() != 1) return {};
  UOp index = load.src(0);
  while (index.is(Op::CAST)) index = index.src(0);
  if (!index.is(Op::INDEX) || index.srcCount() != 2) return {};
  UOp at = index.src(1);
  if (at.isConst()) return Place{index.src(0), {}, at.constValue().i};
  if (at.is(Op::ADD) && at.src(1).isConst()) return Place{index.src(0), at.src(0), at.src(1).constValue().i};
  return Place{index.src(0), at, 0};
}

/// The LOADs that a vector consists of, each whole and in its place; none for another vector.
std::vector<UOp> loadsOf(UOp vector) {
  std::vector<UOp> loads;
  if (!vector.is(Op::VECTORIZE)) return {};
  for (size_t i = 0; i < vector.srcCount();) {
    if (!vector.src(i).is(Op::GEP)) return {};
    UOp load = vector.src(i).src(0);
    const auto lanes = static_cast<size_t>(load.dtype().count());
    for (size_t k = 0; k < lanes; ++k)
      if (i + k >= vector.srcCount() || !vector.src(i + k).is(Op::GEP) || vector.src(i + k).src(0) != load ||
          vector.src(i + k).arg().ints() != std::vector<int64_t>{static_cast<int64_t>(k)})
        return {};
    loads.push_back(load);
    i += lanes;
  }
  return loads;
}

/// `stored`: buffers that the kernel writes to. Their rows are read where the program reads them.
std::optional<TileRows> rowsIn(UOp vector, const std::unordered_set<UOp, UOpHash>& stored) {
  const std::vector<UOp> loads = loadsOf(vector);
  if (loads.size() != static_cast<size_t>(kTileLines)) return {};
  std::vector<Place> places;
  for (UOp load : loads) {
    const auto place = placeOf(load);
    if (!place || stored.contains(place->buffer) ||
        load.dtype().count() * load.dtype().scalar().itemsize() != kRowBytes)
      return {};
    places.push_back(*place);
  }
  const int64_t stride = places[1].offset - places[0].offset;
  for (size_t r = 0; r < places.size(); ++r)
    if (places[r].buffer != places[0].buffer || places[r].start != places[0].start ||
        places[r].offset - places[0].offset != static_cast<int64_t>(r) * stride)
      return {};
  return TileRows{loads[0], stride * loads[0].dtype().scalar().itemsize()};
}

} // namespace

LlvmTiles::LlvmTiles(const LoweredKernel& kernel) {
  if (std::ranges::none_of(kernel.uops, isTileProduct)) return;
  UOpMap<std::vector<UOp>> users;
  std::unordered_set<UOp, UOpHash> stored;
  for (UOp u : kernel.uops) {
    for (UOp s : u.src()) users[s].push_back(u);
    if (u.is(Op::STORE)) stored.insert(u.src(0).bufferOf());
  }
  auto readsTile = [](UOp user, UOp operand, size_t last) {
    return isTileProduct(user) &&
           std::find(user.src().begin(), user.src().begin() + static_cast<std::ptrdiff_t>(last), operand) !=
               user.src().begin() + static_cast<std::ptrdiff_t>(last);
  };
  for (auto u = kernel.uops.rbegin(); u != kernel.uops.rend(); ++u) {
    const std::vector<UOp>& by = users[*u];
    if (by.empty()) continue;
    if (std::ranges::all_of(by, [&](UOp user) { return isLeftOut(user); })) {
      // Of the loads of rows, the first has the address.
      if (u->in(OpSet{Op::GEP, Op::LOAD})) leftOut_.insert(*u);
    } else if (std::ranges::all_of(by, [&](UOp user) { return readsTile(user, *u, 2); })) {
      if (auto rows = rowsIn(*u, stored)) {
        rows_[*u] = *rows;
        leftOut_.insert(*u);
      }
    } else if (u->is(Op::LOAD) && u->dtype().count() * u->dtype().scalar().itemsize() == kTileBytes &&
               u->dtype().scalar().itemsize() == 4 &&
               std::ranges::any_of(by, [&](UOp user) { return !isTileProduct(user); })) {
      sums_.insert(*u);
    }
  }
}

std::optional<TileRows> LlvmTiles::rowsOf(UOp operand) const {
  auto it = rows_.find(operand);
  return it == rows_.end() ? std::nullopt : std::optional(it->second);
}

std::string LlvmTiles::load(LlvmText& out, const std::string& address, int64_t stride) {
  out.declare("declare x86_amx @llvm.x86.tileloadd64.internal(i16, i16, ptr, i64)\n");
  return out.emit("tile",
                  fmt::format("call x86_amx @llvm.x86.tileloadd64.internal(i16 {}, i16 {}, ptr {}, i64 {})",
                              kTileLines, kRowBytes, address, stride));
}

std::string LlvmTiles::fromVector(LlvmText& out, DType type, const std::string& vector) {
  out.declare(fmt::format("declare x86_amx @{}(<256 x i32>)\n", kToTile));
  const std::string words =
      type.scalar() == dtypes::int32
          ? vector
          : out.emit("words", fmt::format("bitcast {} {} to <256 x i32>", LlvmText::type(type), vector));
  return out.emit("tile", fmt::format("call x86_amx @{}(<256 x i32> {})", kToTile, words));
}

std::string LlvmTiles::toVector(LlvmText& out, DType type, const std::string& tile,
                                const std::string& memory) {
  if (!memory.empty()) {
    out.declare("declare void @llvm.x86.tilestored64.internal(i16, i16, ptr, i64, x86_amx)\n");
    out.line(
        fmt::format("call void @llvm.x86.tilestored64.internal(i16 {}, i16 {}, ptr {}, i64 {}, x86_amx {})",
                    kTileLines, kRowBytes, memory, kRowBytes, tile));
    return out.emit("val", fmt::format("load {}, ptr {}, align 64", LlvmText::type(type), memory));
  }
  out.declare(fmt::format("declare <256 x i32> @{}(x86_amx)\n", kToVector));
  const std::string words =
      out.emit("words", fmt::format("call <256 x i32> @{}(x86_amx {})", kToVector, tile));
  return type.scalar() == dtypes::int32
             ? words
             : out.emit("vec", fmt::format("bitcast <256 x i32> {} to {}", words, LlvmText::type(type)));
}

std::string LlvmTiles::product(LlvmText& out, UOp wmma, std::span<const std::string> tiles) {
  constexpr std::array kNames{"tdpbf16ps", "tdpfp16ps", "tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud"};
  const WmmaArg& arg = wmma.arg().as<WmmaArg>();
  if (std::ranges::find(kNames, arg.name) == kNames.end() || wmma.dtype().count() != 256)
    throw Error(ErrorKind::Compile,
                fmt::format("no instruction computes {} for {} results", arg.name, wmma.dtype().count()));
  const std::string function = fmt::format("llvm.x86.{}.internal", arg.name);
  out.declare(fmt::format("declare x86_amx @{}(i16, i16, i16, x86_amx, x86_amx, x86_amx)\n", function));
  return out.emit("tile",
                  fmt::format("call x86_amx @{}(i16 {}, i16 {}, i16 {}, x86_amx {}, x86_amx {}, x86_amx {})",
                              function, kTileLines, kRowBytes, kRowBytes, tiles[2], tiles[0], tiles[1]));
}

} // namespace uopscope
