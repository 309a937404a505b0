// Decodes a linear program. Every value gets slots. Constants are stored before the program starts. AFTER and
// single-lane GEP share the slots of their source.
#include "engine/base/error.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/live_ranges.h"
#include "engine/codegen/program_text.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/signature.h"
#include "engine/runtime/ref_program.h"

#include <fmt/format.h>

#include <set>
#include <sstream>

namespace uopscope {

class RefProgram::Decoder {
public:
  Decoder(RefProgram& program, const LoweredKernel& kernel) : p_(program), kernel_(kernel) {}

  void decode() {
    KernelSignature signature = signatureOf(kernel_);
    for (size_t i = 0; i < signature.globals.size(); ++i) {
      UOp g = signature.globals[i];
      memoryOf_[g] = static_cast<int32_t>(p_.memories_.size());
      p_.memories_.push_back(
          {globalName(g), g.dtype().base(), g.dtype().size(), static_cast<int32_t>(i), 0, false, false});
    }
    checkNesting(kernel_);
    findProducts();
    std::vector<std::string> lines = p_.gpu_ ? linesOf(kernel_) : std::vector<std::string>(), texts;
    for (size_t i = 0; i < kernel_.uops.size(); ++i) {
      visit(kernel_.uops[i]);
      while (told_ < p_.code_.size()) p_.code_[told_++].node = static_cast<int32_t>(i);
      if (p_.gpu_) texts.resize(p_.code_.size(), lines[i]);
    }
    p_.code_.emplace_back();
    if (p_.gpu_) makeWatch(std::move(texts));
  }

private:
  /// The program's text by instruction: "  14 STORE  dtypes.void  [12, 13]".
  static std::vector<std::string> linesOf(const LoweredKernel& kernel) {
    std::vector<std::string> lines;
    std::istringstream text(programText(kernel.uops));
    for (std::string line; std::getline(text, line);) lines.push_back(squeezed(line));
    return lines;
  }
  static std::string squeezed(const std::string& line) {
    std::string out;
    for (char c : line)
      if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
    return out;
  }
  void makeWatch(std::vector<std::string> texts) {
    std::vector<WatchedMemory> memories;
    for (const Memory& m : p_.memories_)
      memories.push_back({m.name, m.element.itemsize(), m.size == DType::kUnsized ? -1 : m.size,
                          m.global >= 0 ? WatchedSpace::Global
                          : m.shared    ? WatchedSpace::Shared
                                        : WatchedSpace::Own,
                          m.ofProducts});
    p_.watch_ = std::make_unique<GpuWatch>(std::move(memories), std::move(texts));
    p_.registers_ = liveRanges(kernel_.uops, kThreadRegisters).general.registers;
  }

  Operand operand(UOp u) const {
    u = throughAfter(u);
    auto it = slotOf_.find(u);
    if (it == slotOf_.end())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} is used before it is computed", kernel_.name, opName(u.op())));
    return {it->second, u.dtype().count() > 1 ? 1 : 0};
  }
  int32_t newSlots(int lanes) {
    auto slot = static_cast<int32_t>(p_.initial_.size());
    p_.initial_.resize(p_.initial_.size() + static_cast<size_t>(lanes), ConstValue::ofInt(0));
    return slot;
  }
  Instruction& emit(Do what, UOp u) {
    Instruction in;
    in.what = what;
    in.op = u.op();
    in.type = u.dtype().scalar();
    in.lanes = u.dtype().count();
    return p_.code_.emplace_back(std::move(in));
  }
  Operand result(UOp u) {
    int lanes = u.dtype().count();
    int32_t slot = newSlots(lanes);
    slotOf_[u] = slot;
    return {slot, lanes > 1 ? 1 : 0};
  }

  void constant(UOp u) {
    int lanes = u.dtype().count();
    int32_t slot = newSlots(lanes);
    for (int i = 0; i < lanes; ++i) {
      ConstValue v =
          u.is(Op::CONST) ? u.constValue() : u.arg().as<std::vector<ConstValue>>()[static_cast<size_t>(i)];
      p_.initial_[static_cast<size_t>(slot) + static_cast<size_t>(i)] = convertConst(u.dtype().scalar(), v);
    }
    slotOf_[u] = slot;
  }

  void memory(UOp u) {
    bool shared = u.is(Op::DEFINE_LOCAL);
    size_t& used = shared ? p_.sharedBytes_ : p_.ownBytes_;
    memoryOf_[u] = static_cast<int32_t>(p_.memories_.size());
    const auto bytes =
        static_cast<size_t>(u.dtype().size()) * static_cast<size_t>(u.dtype().base().itemsize());
    constexpr size_t kAtom = kSwizzledAtom;
    if (shared && bytes >= kAtom) used = (used + kAtom - 1) & ~(kAtom - 1);
    p_.memories_.push_back({fmt::format("{} {}", shared ? "local memory" : "registers", u.arg().repr()),
                            u.dtype().base(), u.dtype().size(), -1, used, shared,
                            ofProducts_.contains(u.id())});
    used += (static_cast<size_t>(u.dtype().size()) * static_cast<size_t>(u.dtype().base().itemsize()) + 63) &
            ~size_t{63};
  }

  int32_t memoryOf(UOp pointer) const { return memoryOf_.at(throughAfter(pointer)); }

  void box(UOp u) {
    const Access a = accessOf(u);
    const Operand place = operand(a.index.src(1)), gate = a.gate ? operand(a.gate) : Operand{},
                  position = operand(u.src(1).src(1));
    Instruction& in = emit(Do::CopyBox, u);
    in.memory = memoryOf_.at(a.pointer);
    in.fromMemory = memoryOf(u.src(1).src(0));
    in.a = place, in.b = gate, in.c = position;
    in.box = boxOf(u);
  }

  void access(UOp u) {
    if (isBox(u)) return box(u);
    Access a = accessOf(u);
    auto memory = memoryOf_.find(a.pointer);
    if (memory == memoryOf_.end())
      throw Error(ErrorKind::Compile, fmt::format("kernel {}: {} of {}, which is no memory", kernel_.name,
                                                  opName(u.op()), opName(a.pointer.op())));
    Operand index = operand(a.index.src(1)), gate = a.gate ? operand(a.gate) : Operand{}, third;
    if (u.is(Op::STORE))
      third = operand(u.src(1));
    else if (a.alternative)
      third = operand(a.alternative);
    Operand to = u.is(Op::LOAD) ? result(u) : Operand{};
    Instruction& in = emit(u.is(Op::LOAD) ? Do::Load : Do::Store, u);
    in.type = a.type.scalar();
    in.lanes = a.type.count();
    in.memory = memory->second;
    in.a = index;
    in.b = gate;
    in.c = third;
    in.to = to;
    in.isAsync = isAsyncCopy(u);
    in.ofProduct = ofProducts_.contains(u.id());
  }

  void alu(UOp u) {
    Operand a = operand(u.src(0)), b = u.srcCount() > 1 ? operand(u.src(1)) : Operand{},
            c = u.srcCount() > 2 ? operand(u.src(2)) : Operand{};
    DType from = u.src(u.is(Op::WHERE) ? 1 : 0).dtype().scalar();
    // Operations of inner loops have a fast path with the same results as evalAlu.
    Do what = Do::Alu;
    constexpr OpSet kFastFloat{Op::ADD, Op::SUB, Op::MUL, Op::FDIV},
        kFastInt{Op::ADD, Op::SUB, Op::MUL, Op::AND, Op::OR};
    if (u.dtype().scalar() == dtypes::float32 && kFastFloat.has(u.op())) what = Do::FastFloat;
    if (u.dtype().isInt() && kFastInt.has(u.op())) what = Do::FastInt;
    Operand to = result(u);
    Instruction& in = emit(what, u);
    in.operandType = from;
    in.to = to;
    in.a = a;
    in.b = b;
    in.c = c;
  }

  /// The number of a byte in the group's memory.
  void sharedAddress(UOp u) {
    const auto memory = static_cast<size_t>(memoryOf_.at(throughAfter(u.src(0))));
    const int32_t slot = newSlots(1);
    p_.initial_[static_cast<size_t>(slot)] =
        ConstValue::ofInt(static_cast<int64_t>(p_.memories_[memory].offset));
    slotOf_[u] = slot;
  }

  void machineCall(UOp u) {
    const Operand a = operand(u.src(0)), b = u.srcCount() > 1 ? operand(u.src(1)) : Operand{}, to = result(u);
    Instruction& in = emit(Do::Function, u);
    in.a = a, in.b = b, in.to = to;
    in.function = *machineFunctionOf(u);
  }

  void dot(UOp u) {
    const auto terms = static_cast<int>(termsOfDot(u));
    for (size_t s = 0; s < 2; ++s)
      if (u.src(s).dtype().count() != terms * u.dtype().count())
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: operand {} of {} has {} lanes for {} sums", kernel_.name, s,
                                u.arg().as<WmmaArg>().name, u.src(s).dtype().count(), u.dtype().count()));
    const Operand a = operand(u.src(0)), b = operand(u.src(1)), c = operand(u.src(2)), to = result(u);
    Instruction& in = emit(Do::Dot, u);
    in.a = a, in.b = b, in.c = c, in.to = to;
    in.left = terms;
  }

  void tiles(UOp u) {
    const Operand a = operand(u.src(0)), b = operand(u.src(1)), c = operand(u.src(2)), to = result(u);
    Instruction& in = emit(Do::Tiles, u);
    in.a = a, in.b = b, in.c = c, in.to = to;
    in.left = u.arg().as<WmmaArg>().dims[2];
  }

  void tensorCore(UOp u) {
    const std::string& name = u.arg().as<WmmaArg>().name;
    const auto& cores = p_.gpu_ ? p_.gpu_->cores : std::vector<TensorCore>();
    const TensorCore* core = coreNamed(cores, name);
    if (!core)
      throw Error(ErrorKind::Unsupported, fmt::format("kernel {}: WMMA on {}, a tensor core that {} lacks",
                                                      kernel_.name, name, p_.gpu_ ? "this GPU" : "REF"));
    const std::pair<const TensorCore::Layout*, UOp> fragments[] = {
        {&core->a, u.src(0)}, {&core->b, u.src(1)}, {&core->c, u.src(2)}, {&core->c, u}};
    for (const auto& [layout, fragment] : fragments)
      if (fragment.dtype().count() != 1 << elementBits(*layout))
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: a fragment of {} has {} elements, this one has {}", kernel_.name,
                                name, 1 << elementBits(*layout), fragment.dtype().count()));
    const Operand a = operand(u.src(0)), b = operand(u.src(1)), c = operand(u.src(2)), to = result(u);
    Instruction& in = emit(Do::Wmma, u);
    in.memory = static_cast<int32_t>(core - cores.data());
    if (readsShared(*core)) in.sideBySide = {termsSideBySide(name, 0), termsSideBySide(name, 1)};
    in.a = a, in.b = b, in.c = c, in.to = to;
    p_.warp_ = std::max(p_.warp_, static_cast<size_t>(core->threads));
  }

  void barrier(UOp u) {
    const std::optional<int64_t> products = productsLeft(u);
    if (waitsForBoxes(u)) {
      const Operand phase = operand(u.src(0));
      std::vector<int32_t> barriers;
      for (UOp at : u.src())
        if (at.is(Op::INDEX)) barriers.insert(barriers.end(), {memoryOf(at.src(0)), operand(at.src(1)).slot});
      Instruction& in = emit(Do::WaitForBoxes, u);
      in.a = phase;
      in.barriers = std::move(barriers);
      return;
    }
    Instruction& in = emit(closesCopies(u)                      ? Do::CloseCopies
                           : beginsProducts(u)                  ? Do::BeginProducts
                           : products || waitsForAllProducts(u) ? Do::WaitForProducts
                                                                : Do::Barrier,
                           u);
    in.left = products ? products : copiesLeft(u);
    in.forUnits = showsToUnits(u);
    in.prepares = preparesBoxes(u);
    if (in.prepares.stages) in.memory = memoryOf(u.src(0).src(0));
  }

  /// Finds the loads and stores of registers that products under way add to: the core reads and writes them itself.
  void findProducts() {
    UOpMap<int> uses;
    for (UOp u : kernel_.uops)
      for (UOp s : u.src()) ++uses[throughAfter(s)];
    auto isAsyncProduct = [&](UOp u) {
      const TensorCore* core =
          u.is(Op::WMMA) && p_.gpu_ ? coreNamed(p_.gpu_->cores, u.arg().as<WmmaArg>().name) : nullptr;
      return core && readsShared(*core);
    };
    auto add = [&](UOp access) {
      ofProducts_.insert(access.id());
      ofProducts_.insert(accessOf(access).pointer.id());
    };
    for (UOp u : kernel_.uops) {
      if (isAsyncProduct(u)) {
        UOp sum = throughAfter(u.src(2));
        std::vector<UOp> loads = sum.is(Op::VECTORIZE) ? std::vector<UOp>(sum.src().begin(), sum.src().end())
                                                       : std::vector<UOp>{sum};
        for (UOp load : loads)
          if (load = throughAfter(load); load.is(Op::LOAD) && uses[load] == 1) add(load);
      }
      if (!u.is(Op::STORE)) continue;
      UOp value = throughAfter(u.src(1));
      if (value.is(Op::GEP)) value = throughAfter(value.src(0));
      if (isAsyncProduct(value) && accessOf(u).pointer.is(Op::DEFINE_REG)) add(u);
    }
  }

  void copy(UOp u, std::vector<int32_t> from) {
    Operand to = result(u);
    Instruction& in = emit(Do::Copy, u);
    in.to = to;
    in.from = std::move(from);
  }

  void visit(UOp u) {
    switch (u.op()) {
    case Op::NOOP:
    case Op::GROUP:
    case Op::AFTER:
    case Op::SINK:
    case Op::INDEX:
    case Op::DEFINE_GLOBAL: return;
    case Op::CONST:
    case Op::VCONST: constant(u); return;
    case Op::DEFINE_REG:
    case Op::DEFINE_LOCAL: memory(u); return;
    case Op::DEFINE_VAR:
    case Op::SPECIAL: {
      std::string name = u.is(Op::SPECIAL) ? u.arg().str() : u.arg().as<VarArg>().name;
      int32_t slot = result(u).slot;
      if (u.is(Op::SPECIAL) || name == "core_id") {
        p_.specials_.emplace_back(slot, name == "core_id" ? "gidx0" : name);
        return;
      }
      for (size_t i = 0; i < kernel_.vars.size(); ++i)
        if (kernel_.vars[i].arg().as<VarArg>().name == name)
          p_.varSlots_.emplace_back(slot, static_cast<int>(i));
      return;
    }
    case Op::LOAD:
    case Op::STORE: access(u); return;
    case Op::RANGE: {
      Operand extent = operand(u.src(0)), to = result(u);
      open_.push_back(static_cast<int32_t>(p_.code_.size()));
      Instruction& in = emit(Do::Range, u);
      in.a = extent;
      in.to = to;
      return;
    }
    case Op::END:
      for (size_t i = 1; i < u.srcCount(); ++i) close(u);
      return;
    case Op::IF: {
      Operand gate = operand(u.src(0));
      open_.push_back(static_cast<int32_t>(p_.code_.size()));
      emit(Do::If, u).a = gate;
      return;
    }
    case Op::ENDIF: close(u); return;
    case Op::BARRIER: barrier(u); return;
    case Op::GEP: {
      Operand from = operand(u.src(0));
      std::vector<int32_t> slots;
      for (int64_t lane : u.arg().ints()) slots.push_back(from.slot + from.step * static_cast<int32_t>(lane));
      if (slots.size() == 1)
        slotOf_[u] = slots[0];
      else
        copy(u, std::move(slots));
      return;
    }
    case Op::VECTORIZE: {
      std::vector<int32_t> slots;
      for (UOp s : u.src()) slots.push_back(operand(s).slot);
      copy(u, std::move(slots));
      return;
    }
    case Op::CAST:
      if (u.src(0).dtype().isPtr() && !u.dtype().isPtr()) return sharedAddress(u);
      if (u.dtype().isPtr()) return;
      alu(u);
      return;
    case Op::BITCAST: alu(u); return;
    case Op::WMMA:
      if (isDotProduct(u)) return dot(u);
      return isTileProduct(u) ? tiles(u) : tensorCore(u);
    case Op::CUSTOM:
    case Op::CUSTOMI:
      if (machineFunctionOf(u)) return machineCall(u);
      throw Error(ErrorKind::Unsupported,
                  fmt::format("kernel {}: {} is text of another target; REF runs plain operations alone",
                              kernel_.name, opName(u.op())));
    default:
      if (!u.in(group::kAlu))
        throw Error(ErrorKind::Compile, fmt::format("kernel {}: {} cannot be run: it must be lowered first",
                                                    kernel_.name, opName(u.op())));
      alu(u);
    }
  }

  void close(UOp u) {
    int32_t opener = open_.back();
    open_.pop_back();
    if (p_.code_[static_cast<size_t>(opener)].what == Do::Range) emit(Do::End, u).jump = opener;
    p_.code_[static_cast<size_t>(opener)].jump = static_cast<int32_t>(p_.code_.size());
  }

  RefProgram& p_;
  const LoweredKernel& kernel_;
  UOpMap<int32_t> slotOf_, memoryOf_;
  std::set<uint32_t> ofProducts_; ///< ids of registers that products add to, and of their loads and stores
  std::vector<int32_t> open_;
  size_t told_ = 0; ///< instructions that know their node
};

RefProgram::RefProgram(const LoweredKernel& kernel, std::optional<RefGpu> gpu)
    : name_(kernel.name), gpu_(std::move(gpu)) {
  Decoder(*this, kernel).decode();
}

std::string RefProgram::assembly() const {
  auto place = [](Operand o) { return o.slot < 0 ? std::string("-") : fmt::format("v{}", o.slot); };
  std::string out;
  for (size_t i = 0; i < code_.size(); ++i) {
    const Instruction& in = code_[i];
    std::string lanes = in.lanes > 1 ? fmt::format(".{}", in.lanes) : "";
    switch (in.what) {
    case Do::Alu:
    case Do::FastFloat:
    case Do::FastInt:
      out += fmt::format("{:4} {}{} {} {} <- {} {} {}\n", i, opName(in.op), lanes, in.type.name(),
                         place(in.to), place(in.a), place(in.b), place(in.c));
      break;
    case Do::Copy: {
      std::string from;
      for (int32_t f : in.from) from += fmt::format(" v{}", f);
      out += fmt::format("{:4} COPY{} {} <-{}\n", i, lanes, place(in.to), from);
      break;
    }
    case Do::Load:
      out +=
          fmt::format("{:4} LOAD{} {} <- {}[{}] gate {} else {}\n", i, lanes, place(in.to),
                      memories_[static_cast<size_t>(in.memory)].name, place(in.a), place(in.b), place(in.c));
      break;
    case Do::Store:
      out +=
          fmt::format("{:4} STORE{} {}[{}] <- {} gate {}\n", i, lanes,
                      memories_[static_cast<size_t>(in.memory)].name, place(in.a), place(in.c), place(in.b));
      break;
    case Do::Range:
      out += fmt::format("{:4} RANGE {} to {}, after it {}\n", i, place(in.to), place(in.a), in.jump);
      break;
    case Do::End: out += fmt::format("{:4} END, back to {}\n", i, in.jump); break;
    case Do::If: out += fmt::format("{:4} IF {}, else {}\n", i, place(in.a), in.jump); break;
    case Do::CopyBox:
      out += fmt::format("{:4} BOX {}[{}] <- {}[{}], {} lines of {}, gate {}\n", i,
                         memories_[static_cast<size_t>(in.memory)].name, place(in.a),
                         memories_[static_cast<size_t>(in.fromMemory)].name, place(in.c), in.box.lines,
                         in.box.columns, place(in.b));
      break;
    case Do::WaitForBoxes: out += fmt::format("{:4} WAIT for boxes, phase {}\n", i, place(in.a)); break;
    case Do::BeginProducts: out += fmt::format("{:4} BEGIN PRODUCTS\n", i); break;
    case Do::WaitForProducts:
      out += fmt::format("{:4} WAIT for {}\n", i,
                         in.left ? fmt::format("products but {}", *in.left) : "all products");
      break;
    case Do::Function:
      out += fmt::format("{:4} {}{} {} <- {} {}\n", i, instructionName(in.function), lanes, place(in.to),
                         place(in.a), place(in.b));
      break;
    case Do::Dot:
      out += fmt::format("{:4} DOT{} {} <- {} {} {}\n", i, lanes, place(in.to), place(in.a), place(in.b),
                         place(in.c));
      break;
    case Do::Tiles:
      out +=
          fmt::format("{:4} TILES {} <- {} {} {}\n", i, place(in.to), place(in.a), place(in.b), place(in.c));
      break;
    case Do::CloseCopies: out += fmt::format("{:4} CLOSE COPIES\n", i); break;
    case Do::Barrier:
      out +=
          fmt::format("{:4} BARRIER{}{}\n", i, in.left ? fmt::format(" after copies but {}", *in.left) : "",
                      in.forUnits ? ", shown to cores" : "");
      break;
    case Do::Wmma:
      out += fmt::format("{:4} WMMA {} {} <- {} {} {}\n", i, gpu_->cores[static_cast<size_t>(in.memory)].name,
                         place(in.to), place(in.a), place(in.b), place(in.c));
      break;
    case Do::Done: out += fmt::format("{:4} DONE\n", i); break;
    }
  }
  return out;
}

} // namespace uopscope
