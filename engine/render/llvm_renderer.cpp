// Writes LLVM IR for a linear program in one walk over the instructions.
#include "engine/render/llvm_renderer.h"

#include "engine/base/error.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/c_renderer.h"
#include "engine/render/line_map.h"
#include "engine/render/llvm_dialect.h"
#include "engine/render/llvm_dots.h"
#include "engine/render/llvm_functions.h"
#include "engine/render/llvm_masks.h"
#include "engine/render/llvm_tiles.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>

namespace uopscope {

namespace {

constexpr int kTile = 12; ///< vectors of products that a loop adds up at least to fill the machine's units

class IrWriter {
public:
  IrWriter(const LoweredKernel& kernel, const LlvmDialect& dialect)
      : kernel_(kernel), dialect_(dialect), signature_(signatureOf(kernel)), tiles_(kernel) {
    out_.isOfProcessor = !dialect.hasGroups();
  }

  std::string write(std::vector<TextLine>* lines) {
    checkNesting(kernel_);
    std::optional<LineMap> map;
    if (lines) map.emplace(kernel_.uops);
    for (UOp u : kernel_.uops) {
      visit(u);
      if (map) map->visited(u, out_.body);
    }
    if (streams_) out_.line("fence seq_cst");
    std::string entry = "entry:\n" + allocas_;
    if (map) *lines = map->lines(dialect_.head(), entry);
    return dialect_.module(
        {kernel_, parameters(), entry + out_.body, out_.declarations() + loopMarks(), shared_});
  }

private:
  std::string loopMarks() const {
    if (!wholeLoops_) return {};
    std::string marks = "!0 = !{!\"llvm.loop.unroll.disable\"}\n";
    for (int k = 1; k <= wholeLoops_; ++k) marks += fmt::format("!{0} = distinct !{{!{0}, !0}}\n", k);
    return marks;
  }
  std::string parameters() {
    std::vector<std::string> list;
    for (UOp g : signature_.globals)
      list.push_back(fmt::format("{} noalias align {} %{}", dialect_.pointer(AddrSpace::Global),
                                 g.dtype().scalar().itemsize(), globalName(g)));
    for (UOp v : signature_.vars)
      list.push_back(fmt::format("{} %{}", LlvmText::type(v.dtype()), identifier(v.arg().as<VarArg>().name)));
    if (signature_.hasCoreId() && !dialect_.hasGroups()) list.push_back("i32 %core_id");
    return fmt::format("{}", fmt::join(list, ", "));
  }

  const std::string& value(UOp u) {
    auto it = values_.find(throughAfter(u));
    if (it == values_.end())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} is used before it is computed", kernel_.name, opName(u.op())));
    return it->second;
  }

  /// Opens a rotated loop: its test is at the end, and also in front if the loop may not run at all.
  void openRange(UOp range) {
    std::string name = uniqueLabel(rangeName(range)), type = LlvmText::type(range.dtype());
    out_.line(fmt::format("br label %before_{}", name));
    out_.label("before_" + name);
    if (range.src(0).vmin() < 1) {
      std::string some = out_.emit("some", fmt::format("icmp sgt {} {}, 0", type, value(range.src(0))));
      out_.line(fmt::format("br i1 {0}, label %loop_{1}, label %after_{1}", some, name));
    } else {
      out_.line(fmt::format("br label %loop_{}", name));
    }
    out_.label("loop_" + name);
    out_.line(fmt::format("%{0} = phi {1} [ 0, %before_{0} ], [ %{0}.next, %end_{0} ]", name, type));
    values_[range] = "%" + name;
    open_.push_back(name);
    bodies_.emplace_back();
  }

  /// Ends the body of a loop, and gives the mark that it stays a loop, or none. Each step of a tile's sum keeps the machine's units busy, so a kernel whose steps
  /// are written out one after another is hardly faster, and its compilation takes a third longer. Where steps also convert
  /// small floats, written out ones are faster by a tenth.
  std::string loopMark() {
    const Body body = bodies_.back();
    bodies_.pop_back();
    if (!bodies_.empty()) {
      bodies_.back().terms += body.terms;
      bodies_.back().converts |= body.converts;
    }
    if (body.terms < kTile || body.converts || dialect_.hasGroups()) return {};
    return fmt::format(", !llvm.loop !{}", ++wholeLoops_);
  }
  void note(UOp u) {
    if (bodies_.empty()) return;
    const bool widens = u.is(Op::CAST) && !u.dtype().isPtr() && u.dtype().isFloat() &&
                        u.src(0).dtype().scalar().itemsize() < u.dtype().scalar().itemsize();
    bodies_.back().converts |= widens;
    if ((u.is(Op::MULACC) && u.dtype().count() > 1) || isDotProduct(u)) ++bodies_.back().terms;
    if (isTileProduct(u)) bodies_.back().terms += kTile;
  }

  void closeRange(UOp range) {
    std::string name = open_.back(), type = LlvmText::type(range.dtype());
    open_.pop_back();
    out_.line(fmt::format("br label %end_{}", name));
    out_.label("end_" + name);
    out_.line(fmt::format("%{0}.next = add nuw nsw {1} %{0}, 1", name, type));
    out_.line(fmt::format("%{0}.more = icmp slt {1} %{0}.next, {2}", name, type, value(range.src(0))));
    out_.line(fmt::format("br i1 %{0}.more, label %loop_{0}, label %after_{0}{1}", name, loopMark()));
    out_.label("after_" + name);
  }

  std::string uniqueLabel(const std::string& name) {
    int n = used_[name]++;
    return n ? fmt::format("{}.{}", name, n) : name;
  }

  /// The term before a constant offset, null if there is none. The places of a tile then are offsets of one address,
  /// and LLVM need not widen each index of 32 bits on its own, which takes it seconds and megabytes. Both terms are in
  /// bounds if neither is negative.
  static UOp startOf(UOp at) {
    if (!at.is(Op::ADD) || at.dtype() != dtypes::int32 || !at.src(1).is(Op::CONST)) return {};
    int64_t offset = at.src(1).constValue().i;
    bool fits = at.src(0).vmin() >= 0 && offset >= 0 &&
                at.src(0).vmax() + offset <= std::numeric_limits<int32_t>::max();
    return fits ? at.src(0) : UOp();
  }

  std::string pointerTo(const Access& a) const { return dialect_.pointer(a.pointer.dtype().addrspace()); }

  std::string address(const Access& a) {
    DType element = a.pointer.dtype().base();
    std::string pointer = pointerTo(a);
    UOp at = a.index.src(1);
    if (UOp start = startOf(at); start && !a.gate) {
      std::string memory = LlvmText::memoryType(element);
      std::string first = out_.emit("ptr", fmt::format("getelementptr inbounds {}, {} {}, i32 {}", memory,
                                                       pointer, value(a.pointer), value(start)));
      return out_.emit("ptr", fmt::format("getelementptr inbounds {}, {} {}, i64 {}", memory, pointer, first,
                                          at.src(1).constValue().i));
    }
    const std::string& index = value(at);
    // A gated address may lie outside of the buffer. It is then not used, but must not be poison.
    return out_.emit("ptr", fmt::format("getelementptr {}{}, {} {}, {} {}", a.gate ? "" : "inbounds ",
                                        LlvmText::memoryType(element), pointer, value(a.pointer),
                                        LlvmText::type(a.index.src(1).dtype()), index));
  }

  /// Two neighbours are often spread to all lanes, each by the load itself: of a vector of two LLVM makes shuffles of them, which wait
  /// for the unit that multiplies. Where the two stay together it reads them at once again.
  bool isReadOneByOne(DType type) const {
    return type.count() == 2 && type.scalar() == dtypes::float32 && !dialect_.hasGroups();
  }

  std::string load(UOp u) {
    Access a = accessOf(u);
    std::string memory = LlvmText::memoryType(u.dtype());
    std::string pointer = address(a);
    std::string instruction =
        fmt::format("load {}, {} {}, align {}", memory, pointerTo(a), pointer, dialect_.alignment(u.dtype()));
    if (!a.gate && isReadOneByOne(u.dtype()))
      return out_.pairOfLoads(u.dtype(), pointerTo(a), pointer, dialect_.alignment(u.dtype().scalar()));
    if (!a.gate) return out_.fromMemory(u.dtype(), out_.emit("val", instruction));
    std::string otherwise = a.alternative ? value(a.alternative) : "zeroinitializer";
    if (u.dtype().isBool() && a.alternative) otherwise = out_.toMemory(u.dtype(), otherwise);
    if (a.gate.dtype().count() > 1)
      return out_.fromMemory(u.dtype(), out_.maskedLoad(u.dtype(), pointer, dialect_.alignment(u.dtype()),
                                                        value(a.gate), otherwise));
    std::string id = uniqueLabel("gate"), from = out_.block;
    out_.line(fmt::format("br i1 {}, label %{}, label %{}_off", value(a.gate), id, id));
    out_.label(id);
    std::string loaded = out_.emit("val", instruction);
    out_.line(fmt::format("br label %{}_off", id));
    out_.label(id + "_off");
    return out_.fromMemory(u.dtype(), out_.emit("val", fmt::format("phi {} [ {}, %{} ], [ {}, %{} ]", memory,
                                                                   loaded, id, otherwise, from)));
  }

  void store(UOp u) {
    Access a = accessOf(u);
    DType type = u.src(1).dtype();
    std::string id;
    if (a.gate) {
      id = uniqueLabel("gate");
      out_.line(fmt::format("br i1 {}, label %{}, label %{}_off", value(a.gate), id, id));
      out_.label(id);
    }
    std::string v = out_.toMemory(type, value(u.src(1)));
    if (isStreamed(u) && !a.gate) {
      streams_ = true;
      return out_.streamedStore(type, v, address(a), dialect_.alignment(type));
    }
    out_.line(fmt::format("store {} {}, {} {}, align {}", LlvmText::memoryType(type), v, pointerTo(a),
                          address(a), dialect_.alignment(type)));
    if (a.gate) {
      out_.line(fmt::format("br label %{}_off", id));
      out_.label(id + "_off");
    }
  }

  std::string vectorize(UOp u) {
    std::string type = LlvmText::type(u.dtype()), element = LlvmText::type(u.dtype().scalar());
    bool constant = true, same = true;
    for (UOp s : u.src()) {
      constant = constant && s.isConst();
      same = same && s == u.src(0);
    }
    if (constant) {
      std::string lanes;
      for (UOp s : u.src()) lanes += fmt::format("{}{} {}", lanes.empty() ? "" : ", ", element, value(s));
      return "<" + lanes + ">";
    }
    if (same) {
      std::string first = out_.emit(
          "vec", fmt::format("insertelement {} poison, {} {}, i32 0", type, element, value(u.src(0))));
      return out_.emit("vec", fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> zeroinitializer",
                                          type, first, u.dtype().count()));
    }
    if (std::string repeated = repeatedGroup(u); !repeated.empty()) return repeated;
    if (std::string mask = writeMaskOfFew(out_, u, [&](UOp s) { return value(s); }); !mask.empty())
      return mask;
    if (std::string shuffled = shuffle(u); !shuffled.empty()) return shuffled;
    std::string v = "poison";
    for (size_t i = 0; i < u.srcCount(); ++i)
      v = out_.emit("vec",
                    fmt::format("insertelement {} {}, {} {}, i32 {}", type, v, element, value(u.src(i)), i));
    return v;
  }

  /// Lanes that repeat a group of 32 bits, such as the two terms that a dot product needs in each of its lanes: the group is
  /// repeated as one number. Empty for other lanes.
  std::string repeatedGroup(UOp u) {
    const auto size = static_cast<size_t>(u.dtype().scalar().itemsize());
    const size_t group = size ? 4 / size : 0;
    if (group < 2 || u.dtype().isBool() || u.dtype().isPtr() || u.srcCount() <= group || u.srcCount() % group)
      return {};
    for (size_t i = group; i < u.srcCount(); ++i)
      if (u.src(i) != u.src(i - group)) return {};
    const UOp from = u.src(0).is(Op::GEP) ? u.src(0).src(0) : UOp();
    bool whole = from && from.dtype().count() == static_cast<int>(group);
    for (size_t i = 0; whole && i < group; ++i)
      whole = u.src(i).is(Op::GEP) && u.src(i).src(0) == from &&
              u.src(i).arg().ints() == std::vector<int64_t>{static_cast<int64_t>(i)};
    const DType element = u.dtype().scalar();
    const std::string narrow = LlvmText::type(element.vec(static_cast<int>(group)));
    std::string lanes = whole ? value(from) : "poison";
    for (size_t i = 0; !whole && i < group; ++i)
      lanes = out_.emit("vec", fmt::format("insertelement {} {}, {} {}, i32 {}", narrow, lanes,
                                           LlvmText::type(element), value(u.src(i)), i));
    const std::string one = out_.emit("group", fmt::format("bitcast {} {} to i32", narrow, lanes));
    const std::string wide = fmt::format("<{} x i32>", u.srcCount() / group);
    const std::string put =
                          out_.emit("vec", fmt::format("insertelement {} poison, i32 {}, i32 0", wide, one)),
                      all = out_.emit(
                          "vec",
                          fmt::format("shufflevector {0} {1}, {0} poison, {0} zeroinitializer", wide, put));
    return out_.emit("vec", fmt::format("bitcast {} {} to {}", wide, all, LlvmText::type(u.dtype())));
  }

  /// Lanes of one vector or two, in any order; empty where they come from elsewhere.
  std::string shuffle(UOp u) {
    UOp first, second;
    std::string mask;
    for (UOp s : u.src()) {
      if (!s.is(Op::GEP) || s.arg().ints().size() != 1 || s.src(0).dtype().count() == 1) return {};
      UOp from = s.src(0);
      if (!first) first = second = from;
      if (second == first) second = from;
      if ((from != first && from != second) || from.dtype() != first.dtype()) return {};
      int64_t at = s.arg().ints()[0] + (from == first ? 0 : from.dtype().count());
      mask += fmt::format("{}i32 {}", mask.empty() ? "" : ", ", at);
    }
    std::string shuffled = out_.emit("vec", fmt::format("shufflevector {0} {1}, {0} {2}, <{3} x i32> <{4}>",
                                                        LlvmText::type(first.dtype()), value(first),
                                                        value(second), u.srcCount(), mask));
    const int depth = 1 + std::max(shuffles_[first], shuffles_[second]);
    shuffles_[u] = depth;
    // LLVM looks through shuffles of shuffles for each lane; a transposed square, four rounds of them, took it 16 ms.
    // A fence ends such a search. It is no instruction.
    if (depth % 2 == 0 && u.dtype().isFloat() && !dialect_.hasGroups())
      shuffled = out_.fenced(u.dtype(), shuffled);
    return shuffled;
  }

  std::string gep(UOp u) {
    const std::vector<int64_t>& lanes = u.arg().ints();
    std::string from = LlvmText::type(u.src(0).dtype());
    if (u.src(0).dtype().count() == 1) return value(u.src(0));
    if (lanes.size() == 1)
      return out_.emit("gep", fmt::format("extractelement {} {}, i32 {}", from, value(u.src(0)), lanes[0]));
    std::string mask;
    for (int64_t l : lanes) mask += fmt::format("{}i32 {}", mask.empty() ? "" : ", ", l);
    return out_.emit("gep", fmt::format("shufflevector {0} {1}, {0} poison, <{2} x i32> <{3}>", from,
                                        value(u.src(0)), lanes.size(), mask));
  }

  void defineArray(UOp u) {
    bool isShared = u.is(Op::DEFINE_LOCAL) && dialect_.hasGroups();
    const char* prefix = u.is(Op::DEFINE_REG) ? "acc" : "temp";
    DType element = u.dtype().base();
    int64_t size = u.dtype().size();
    std::string array = fmt::format("[{} x {}]", size, LlvmText::memoryType(element));
    int align = dialect_.arrayAlignment(element, size);
    AddrSpace space = isShared ? AddrSpace::Local : AddrSpace::Reg;
    std::string pointer = dialect_.pointer(space);
    // "ptr addrspace(5)" is the type of the pointer; the array itself is said to be in addrspace(5).
    std::string place = pointer.size() > 4 ? pointer.substr(4) : "";
    values_[u] = fmt::format("{}{}{}", isShared ? '@' : '%', prefix, out_.number(prefix));
    if (isShared)
      shared_ += fmt::format("{} = internal unnamed_addr {} global {} poison, align {}\n", values_[u], place,
                             array, align);
    else
      allocas_ += fmt::format("  {} = alloca {}, align {}{}{}\n", values_[u], array, align,
                              place.empty() ? "" : ", ", place);
  }

  /// An operand of a tile product, or its sum so far, as a tile.
  std::string tile(UOp operand) {
    if (heldIn_ != out_.block) held_.clear();
    heldIn_ = out_.block;
    std::string& held = held_[operand];
    if (!held.empty()) return held;
    const auto rows = tiles_.rowsOf(operand);
    return held = rows ? LlvmTiles::load(out_, address(accessOf(rows->first)), rows->stride)
                       : LlvmTiles::fromVector(out_, operand.dtype(), value(operand));
  }
  std::string stackTile(DType type) {
    const std::string name = fmt::format("%store{}", out_.number("store"));
    allocas_ += fmt::format("  {} = alloca {}, align 64\n", name, LlvmText::type(type));
    return name;
  }
  void tileProduct(UOp u) {
    std::vector<std::string> operands;
    for (size_t i = 0; i < 3; ++i) operands.push_back(tile(u.src(i)));
    const std::string result = held_[u] = LlvmTiles::product(out_, u, operands);
    values_[u] = LlvmTiles::toVector(out_, u.dtype(), result, {});
  }

  void visit(UOp u) {
    note(u);
    if (tiles_.isLeftOut(u)) return;
    switch (u.op()) {
    case Op::NOOP:
    case Op::GROUP:
    case Op::AFTER:
    case Op::SINK:
    case Op::INDEX: return;
    case Op::BARRIER:
      if (!closesCopies(u)) dialect_.barrier(out_);
      return;
    case Op::DEFINE_GLOBAL: values_[u] = "%" + globalName(u); return;
    case Op::DEFINE_VAR: {
      const std::string& name = u.arg().as<VarArg>().name;
      values_[u] = name == "core_id" ? LlvmDialect().special(out_, kernel_, u) : "%" + identifier(name);
      return;
    }
    case Op::SPECIAL: values_[u] = dialect_.special(out_, kernel_, u); return;
    case Op::DEFINE_LOCAL:
    case Op::DEFINE_REG: defineArray(u); return;
    case Op::RANGE: openRange(u); return;
    case Op::END:
      for (size_t i = 1; i < u.srcCount(); ++i) closeRange(u.src(i));
      return;
    case Op::IF: {
      std::string id = uniqueLabel("if");
      out_.line(fmt::format("br i1 {}, label %{}, label %{}_after", value(u.src(0)), id, id));
      out_.label(id);
      open_.push_back(id);
      return;
    }
    case Op::ENDIF: {
      std::string id = open_.back();
      open_.pop_back();
      out_.line(fmt::format("br label %{}_after", id));
      out_.label(id + "_after");
      return;
    }
    case Op::STORE: store(u); return;
    case Op::LOAD:
      values_[u] = load(u);
      if (tiles_.isStored(u)) {
        const std::string sum = LlvmTiles::fromVector(out_, u.dtype(), values_[u]);
        values_[u] = LlvmTiles::toVector(out_, u.dtype(), sum, stackTile(u.dtype()));
      }
      return;
    case Op::CONST: values_[u] = LlvmText::constant(u.dtype(), u.constValue()); return;
    case Op::VCONST:
      values_[u] = LlvmText::constants(u.dtype(), u.arg().as<std::vector<ConstValue>>());
      return;
    case Op::VECTORIZE: values_[u] = vectorize(u); return;
    case Op::GEP: values_[u] = gep(u); return;
    case Op::CAST:
      if (!u.dtype().isPtr()) values_[u] = out_.cast(u.dtype(), u.src(0).dtype(), value(u.src(0)));
      return;
    case Op::BITCAST: values_[u] = out_.bitcast(u.dtype(), u.src(0).dtype(), value(u.src(0))); return;
    case Op::CUSTOM:
    case Op::CUSTOMI: {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(values_.contains(throughAfter(s)) ? value(s) : std::string());
      if (const auto f = machineFunctionOf(u)) {
        values_[u] = writeMachineCall(out_, *f, u.dtype(), operands);
        return;
      }
      std::string text = formatCustom(u.arg().str(), operands);
      if (u.dtype().isVoid())
        out_.line(text);
      else
        values_[u] = out_.emit("custom", text);
      return;
    }
    case Op::WMMA: {
      if (isTileProduct(u)) return tileProduct(u);
      std::vector<std::string> fragments;
      for (size_t i = 0; i < 3; ++i) fragments.push_back(value(u.src(i)));
      values_[u] = dialect_.wmma(out_, kernel_, u, fragments);
      return;
    }
    default: {
      if (!u.in(group::kAlu))
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: {} has no form in LLVM IR: it must be lowered before rendering",
                                kernel_.name, opName(u.op())));
      // Of fewer lanes the halves combined are as fast (AVX2: a sine takes 0.97 of the time).
      const UOp lanes = u.is(Op::OR) && u.dtype().isBool() ? combinedVector(u) : UOp();
      if (lanes && lanes.dtype().count() >= 16) {
        values_[u] = out_.anyLane(lanes.dtype(), value(lanes));
        return;
      }
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(value(s));
      values_[u] = out_.alu(u, operands);
    }
    }
  }

  const LoweredKernel& kernel_;
  const LlvmDialect& dialect_;
  KernelSignature signature_;
  LlvmTiles tiles_;
  LlvmText out_;
  UOpMap<std::string> values_;
  UOpMap<std::string> held_; ///< operands and results of tile products in the block `heldIn_`
  std::string heldIn_;
  UOpMap<int> shuffles_; ///< of a vector made of lanes of others: how many shuffles follow one another
  std::string allocas_, shared_;
  std::vector<std::string> open_; ///< labels of the open blocks
  /// Of an open loop: vectors of products that its body adds up, and whether it widens small floats.
  struct Body {
    int terms = 0;
    bool converts = false;
  };
  std::vector<Body> bodies_;
  int wholeLoops_ = 0;
  bool streams_ = false; ///< some store goes past the caches
  std::map<std::string, int> used_;
};

} // namespace

Target amxTarget(std::string device) {
  constexpr int kLanes = 16;
  Target t = cpuTarget("LLVM");
  t.device = std::move(device);
  t.hasThreads = false;
  t.aluLanes = t.maxVectorLanes = kLanes;
  t.computesHalf = false;
  t.maskedLoads = 1;
  t.nativeOps = t.nativeOps | OpSet{Op::MULACC};
  t.tensorCores = dotProducts(true, true);
  for (const TensorCore& core : tileCores(true, true, true)) t.tensorCores.push_back(core);
  return t;
}

std::string LlvmRenderer::renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const {
  return writeLlvm(kernel, LlvmDialect(), lines);
}

std::string writeLlvm(const LoweredKernel& kernel, const LlvmDialect& dialect, std::vector<TextLine>* lines) {
  return IrWriter(kernel, dialect).write(lines);
}

} // namespace uopscope
