// Writes a kernel in a C-like language. One walk visits the instructions; expressions are kept as text until
// their users are written.
#include "engine/render/c_writer.h"

#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/codegen/async_copy.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/render/c_vector.h"
#include "engine/render/line_map.h"
#include "engine/render/signature.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace uopscope {

namespace {

constexpr size_t kLongExpression = 100;
/// Whether the text of an operation contains an operand twice, in order to test it; the operand then gets a
/// name.
bool repeatsOperands(UOp u) {
  constexpr OpSet kTested{Op::IDIV, Op::MOD, Op::FDIV, Op::RECIPROCAL, Op::SHL, Op::SHR};
  return u.is(Op::MAX) || (kTested.has(u.op()) && !u.dtype().isFloat());
}

class CWriter {
public:
  CWriter(const LoweredKernel& kernel, CText& language)
      : kernel_(kernel), signature_(signatureOf(kernel)), types_(language) {}

  std::string write(std::vector<TextLine>* lines) {
    checkNesting(kernel_);
    types_.begin(kernel_);
    countUses();
    findAsyncCopies();
    std::optional<LineMap> map;
    if (lines) map.emplace(kernel_.uops);
    for (UOp u : kernel_.uops) {
      visit(u);
      if (map) map->visited(u, body_);
    }
    if (streams_) line("__atomic_thread_fence(__ATOMIC_SEQ_CST);");
    std::string body = body_;
    CFunction function{kernel_, signature_, identifier(kernel_.name), std::move(body_), {}};
    function.stored.insert(stored_.begin(), stored_.end());
    std::string whole = types_.function(function);
    if (size_t at = whole.find(body); map && at != std::string::npos && at > 0) {
      std::string_view head = std::string_view(whole).substr(0, at - 1); // ends with the signature
      size_t line = head.rfind('\n');
      *lines = map->lines(head.substr(0, line == std::string_view::npos ? 0 : line + 1));
    }
    return whole;
  }

private:
  /// The text and the uses of an instruction.
  struct Value {
    std::string text;
    int uses = 0; ///< how many times its text will be written
    bool written = false, named = false, mustName = false;
    bool isMask = false;   ///< a comparison used for selection of lanes alone
    bool isCopied = false; ///< a load that is written with the asynchronous store of its value
  };
  Value& of(UOp u) {
    if (const uint32_t* place = places_.find(u.slot())) return values_[*place];
    places_.set(u.slot(), static_cast<uint32_t>(values_.size()));
    return values_.emplace_back();
  }
  void give(UOp u, std::string text) {
    Value& value = of(u);
    value.text = std::move(text);
    value.written = true;
  }

  /// Counts how many times the text of each value will be written, and marks the values that need a name.
  void countUses() {
    std::map<uint32_t, int> selections;
    for (auto it = kernel_.uops.rbegin(); it != kernel_.uops.rend(); ++it) {
      UOp u = *it;
      if (u.is(Op::SINK)) continue;
      bool address = u.is(Op::INDEX) || (u.is(Op::CAST) && u.dtype().isPtr());
      bool vector = u.in(group::kElementwise) && u.dtype().count() > 1,
           byLane = u.is(Op::GEP) || (vector && !types_.hasVector(u));
      for (UOp s : u.src()) {
        of(s).uses += address ? of(u).uses : 1;
        if (repeatsOperands(u) || isSplat(u) || (byLane && !isSplat(s))) of(s).mustName = true;
      }
      if (vector && selectsByMask(u)) ++selections[throughAfter(u.src(0)).id()];
      if (group::kComparison.has(u.op()) && selections[u.id()] && selections[u.id()] == of(u).uses)
        of(u).isMask = true;
      if (u.is(Op::STORE)) stored_.insert(accessOf(u).pointer.id());
    }
  }

  /// Marks the loads that become one statement with an asynchronous store: nobody else uses their value, and
  /// both have one gate.
  void findAsyncCopies() {
    for (UOp store : kernel_.uops) {
      if (!isAsyncCopy(store)) continue;
      UOp load = throughAfter(store.src(1));
      if (!load.is(Op::LOAD) || of(load).uses != 1) continue;
      const Access to = accessOf(store), from = accessOf(load);
      const int64_t bytes = from.type.itemsize();
      of(load).isCopied = from.pointer.is(Op::DEFINE_GLOBAL) && to.pointer.is(Op::DEFINE_LOCAL) &&
                          canCopyAsync(bytes) && (!from.gate || from.gate == to.gate) &&
                          types_.hasAsyncCopies();
    }
  }

  void line(const std::string& text) {
    body_.append(2 * static_cast<size_t>(depth_), ' ').append(text).push_back('\n');
  }

  const std::string& text(UOp u) {
    Value& value = of(throughAfter(u));
    if (!value.written)
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {} is used before it is computed", kernel_.name, opName(u.op())));
    return value.text;
  }
  /// One lane of a vector, or the scalar itself.
  std::string lane(UOp u, int i) {
    u = throughAfter(u);
    if (u.dtype().count() == 1) return text(u);
    if (!of(u).named) {
      if (u.is(Op::VECTORIZE)) return text(u.src(static_cast<size_t>(i)));
      if (u.is(Op::CONST)) return types_.constant(u.dtype().scalar(), u.constValue());
      if (u.is(Op::VCONST))
        return types_.constant(u.dtype().scalar(),
                               u.arg().as<std::vector<ConstValue>>()[static_cast<size_t>(i)]);
    }
    return types_.lane(text(u), i);
  }
  template <typename F>
  std::string vectorOf(DType type, F laneText) {
    std::vector<std::string> lanes;
    for (int i = 0; i < type.count(); ++i) lanes.push_back(bare(laneText(i)));
    return types_.vectorOf(type, lanes);
  }

  /// Stores an expression for its users. It gets a name if it has several uses, is long, or must be computed
  /// here.
  void keep(UOp u, std::string expression, const char* prefix, bool nameIt = false) {
    Value& value = of(u);
    bool atom = u.is(Op::CONST) || (isSplat(u) && types_.hasSplat());
    if (nameIt || (!atom && (value.uses > 1 || value.mustName || expression.size() > kLongExpression))) {
      DType type =
          value.isMask ? maskType(u.src(0).dtype().scalar().itemsize(), u.dtype().count()) : u.dtype();
      // clang's masks have lanes of char or long, which are different types from signed char and long long.
      if (value.isMask && (type.scalar().itemsize() == 1 || type.scalar().itemsize() == 8))
        expression = fmt::format("({})({})", types_.name(type), bare(expression));
      std::string name = fmt::format(FMT_COMPILE("{}{}"), prefix, counters_[prefix]++);
      line(types_.declare(type, name, bare(expression)));
      expression = name;
      value.named = true;
    }
    give(u, std::move(expression));
  }

  CPlace place(const Access& a) {
    UOp at = throughAfter(a.index.src(1));
    return {text(a.pointer),
            text(a.index.src(1)),
            a.pointer.dtype().base(),
            a.type,
            a.pointer.dtype().addrspace(),
            at.dtype().itemsize() == 8,
            at.is(Op::ADD) && !a.gate};
  }

  /// The operands of an operation on whole vectors. A scalar replaces its splat if a different operand is a
  /// vector.
  std::vector<std::string> vectorOperands(UOp u) {
    bool scalars = u.srcCount() == 2 && scalarMayStandForSplat(u.src(0).dtype()) && !u.is(Op::MAX);
    std::vector<std::string> operands;
    for (size_t i = 0; i < u.srcCount(); ++i) {
      UOp s = u.src(i);
      bool otherIsVector = scalars && (i == 1 || !isSplat(u.src(1)));
      operands.push_back(isSplat(s) && otherIsVector && !(i == 0 && isSplat(u.src(1))) ? text(s.src(0))
                                                                                       : text(s));
    }
    return operands;
  }

  std::string vectorAlu(UOp u) {
    std::string mask;
    if (u.is(Op::WHERE) && u.src(0).dtype().count() > 1) {
      UOp condition = throughAfter(u.src(0));
      DType type = maskType(u.dtype().scalar().itemsize(), u.dtype().count());
      mask = of(condition).isMask
                 ? text(condition)
                 : fmt::format("__builtin_convertvector({}, {}) != 0", text(condition), types_.name(type));
    }
    std::string expression = vectorExpression(types_, u, vectorOperands(u), mask);
    bool isMask = group::kComparison.has(u.op()) && !u.src(0).dtype().isBool();
    return isMask && !of(u).isMask
               ? fmt::format("__builtin_convertvector(-{}, {})", expression, types_.name(u.dtype()))
               : expression;
  }

  std::string alu(UOp u) {
    if (types_.hasVector(u)) return vectorAlu(u);
    DType type = u.dtype(), from = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
    auto computed = [&](int i) {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(lane(s, i));
      return u.is(Op::CAST) ? types_.cast(type.scalar(), from.scalar(), operands[0])
                            : types_.alu(u, type.scalar(), from.scalar(), operands);
    };
    return type.count() == 1 ? computed(0) : vectorOf(type, computed);
  }

  /// A vector of three lanes is accessed lane by lane, since clang would access a fourth element.
  static bool byLane(const CPlace& p) { return p.type.count() == 3 && p.element != p.type; }
  static CPlace laneOf(CPlace p, int i) {
    p.type = p.element;
    if (i) p.index = fmt::format("({} + {})", p.index, i);
    return p;
  }
  std::string load(UOp u) {
    Access a = accessOf(u);
    CPlace at = place(a);
    if (a.gate && a.gate.dtype().count() > 1) return maskedLoad(a, at);
    std::string value =
        byLane(at) ? vectorOf(a.type, [&](int i) { return types_.load(laneOf(at, i)); }) : types_.load(at);
    if (!a.gate) return value;
    return types_.select(text(a.gate), value, a.alternative ? text(a.alternative) : zero(u.dtype()));
  }
  /// Lanes whose gate does not hold read nothing, so each is a choice of its own.
  std::string maskedLoad(const Access& a, const CPlace& at) {
    return vectorOf(a.type, [&](int i) {
      const std::string otherwise = a.alternative ? lane(a.alternative, i) : zero(a.type.scalar());
      return types_.select(lane(a.gate, i), types_.load(laneOf(at, i)), otherwise);
    });
  }
  std::string zero(DType type) {
    std::string scalar = types_.constant(type.scalar(), ConstValue::ofInt(0));
    if (type.count() == 1) return scalar;
    return types_.vectorOf(type, std::vector<std::string>(static_cast<size_t>(type.count()), scalar));
  }

  void visit(UOp u) {
    if (u.in({Op::NOOP, Op::GROUP, Op::AFTER, Op::SINK, Op::INDEX})) return;
    if (u.in({Op::RANGE, Op::END, Op::IF, Op::ENDIF, Op::BARRIER})) return block(u);
    if (u.in(group::kDefines | OpSet{Op::DEFINE_VAR, Op::SPECIAL})) return definition(u);
    if (u.in({Op::CONST, Op::VCONST, Op::VECTORIZE, Op::GEP})) return lanes(u);
    if (u.is(Op::STORE)) return store(u);
    if (u.in({Op::CUSTOM, Op::CUSTOMI})) return custom(u);
    value(u);
  }

  void definition(UOp u) {
    switch (u.op()) {
    case Op::DEFINE_GLOBAL: give(u, globalName(u)); return;
    case Op::DEFINE_VAR: give(u, identifier(u.arg().as<VarArg>().name)); return;
    case Op::SPECIAL: {
      std::string index = types_.special(kernel_, u);
      const std::string& name = u.arg().str();
      if (index != "core_id") line(types_.declare(u.dtype(), name, index));
      give(u, index == "core_id" ? index : name);
      return;
    }
    default: {
      const char* prefix = u.is(Op::DEFINE_REG) ? "acc" : "temp";
      give(u, fmt::format(FMT_COMPILE("{}{}"), prefix, counters_[prefix]++));
      line(types_.array(u.dtype().base(), text(u), u.dtype().size(), u.dtype().addrspace()));
    }
    }
  }

  void block(UOp u) {
    switch (u.op()) {
    case Op::RANGE: {
      std::string name = rangeName(u);
      give(u, name);
      // It stands behind a comparison, which binds more tightly than a choice or an operation on bits.
      const bool bindsTighter = u.src(0).in({Op::ADD, Op::SUB, Op::MUL, Op::IDIV, Op::MOD});
      line(types_.loop(u.dtype(), name, bindsTighter ? bare(text(u.src(0))) : text(u.src(0))));
      ++depth_;
      return;
    }
    case Op::IF:
      line(fmt::format("if ({}) {{", bare(text(u.src(0)))));
      conditions_.push_back(u.src(0));
      ++depth_;
      return;
    case Op::ENDIF:
      conditions_.pop_back();
      close(1);
      return;
    case Op::END: close(u.srcCount() - 1); return;
    default:
      if (waitsForBoxes(u)) return waitForBoxes(u);
      if (std::string text = barrier(u); !text.empty()) line(text);
    }
  }

  /// A statement for each barrier.
  void waitForBoxes(UOp u) {
    for (UOp at : u.src())
      if (at.is(Op::INDEX)) line(types_.waitForBoxes(addressOf(at), bare(text(u.src(0)))));
  }
  CPlace addressOf(UOp index) {
    UOp pointer = throughAfter(index.src(0));
    UOp at = throughAfter(index.src(1));
    return {text(pointer),          text(index.src(1)),          pointer.dtype().base(),
            pointer.dtype().base(), pointer.dtype().addrspace(), at.dtype().itemsize() == 8,
            at.is(Op::ADD)};
  }

  /// The names of the registers that WMMAs add to.
  std::vector<std::string> sumsOfProducts() {
    std::vector<std::string> names;
    for (UOp u : kernel_.uops) {
      if (!u.is(Op::WMMA)) continue;
      UOp sum = throughAfter(u.src(2));
      if (sum.is(Op::VECTORIZE)) sum = throughAfter(sum.src(0));
      if (!sum.is(Op::LOAD)) continue;
      const UOp array = accessOf(sum).pointer;
      if (array.is(Op::DEFINE_REG) && std::find(names.begin(), names.end(), text(array)) == names.end())
        names.push_back(text(array));
    }
    return names;
  }

  std::string barrier(UOp u) {
    if (const BoxBarriers count = preparesBoxes(u); count.stages)
      return types_.prepareBoxes(addressOf(u.src(0)), count);
    if (closesCopies(u)) return types_.closeCopies();
    const std::optional<int64_t> left = copiesLeft(u);
    if (left) return types_.barrierForCopies(*left, showsToUnits(u));
    if (beginsProducts(u)) return types_.beginProducts(sumsOfProducts());
    if (waitsForAllProducts(u)) return types_.waitForAllProducts(sumsOfProducts());
    const std::optional<int64_t> products = productsLeft(u);
    return products ? types_.waitForProducts(*products) : types_.barrier();
  }

  void lanes(UOp u) {
    auto laneOfThis = [&](int i) { return lane(u, i); };
    switch (u.op()) {
    case Op::CONST:
      keep(u,
           u.dtype().count() == 1 ? types_.constant(u.dtype(), u.constValue())
                                  : vectorOf(u.dtype(), laneOfThis),
           "const");
      return;
    case Op::VCONST: keep(u, vectorOf(u.dtype(), laneOfThis), "const"); return;
    case Op::VECTORIZE:
      if (isSplat(u) && types_.hasSplat())
        // clang makes all bits of a lane from a bool, as OpenCL says: true would be 255.
        keep(u,
             fmt::format("({}){}{}", types_.name(u.dtype()),
                         u.dtype().isBool() && !u.src(0).isConst() ? "(unsigned char)" : "", text(u.src(0))),
             "vec");
      else
        keep(u, vectorOf(u.dtype(), [&](int i) { return text(u.src(static_cast<size_t>(i))); }), "vec");
      return;
    default: {
      const std::vector<int64_t>& picked = u.arg().ints();
      auto laneText = [&](int i) { return lane(u.src(0), static_cast<int>(picked[static_cast<size_t>(i)])); };
      if (picked.size() == 1)
        give(u, laneText(0));
      else
        keep(u, vectorOf(u.dtype(), laneText), "gep");
    }
    }
  }

  void store(UOp u) {
    Access a = accessOf(u);
    bool gated = a.gate && std::find(conditions_.begin(), conditions_.end(), a.gate) == conditions_.end();
    auto put = [&](const std::string& statement) {
      line(gated ? types_.when(bare(text(a.gate)), statement) : statement);
    };
    // The brackets around a difference stay, as those inside of it do.
    const bool isDifference = throughAfter(u.src(1)).is(Op::SUB);
    auto write = [&](const CPlace& to, const std::string& value) {
      put(types_.store(to, isDifference ? value : bare(value)));
    };
    CPlace to = place(a);
    if (isBox(u)) return put(types_.copyBox(to, addressOf(u.src(1)), boxOf(u)));
    if (UOp load = throughAfter(u.src(1)); isAsyncCopy(u) && of(load).isCopied)
      return put(types_.copyAsync(to, place(accessOf(load))));
    if (isStreamed(u)) {
      streams_ = true;
      return put(types_.streamedStore(to, text(u.src(1))));
    }
    if (!byLane(to)) return write(to, text(u.src(1)));
    for (int i = 0; i < 3; ++i) write(laneOf(to, i), lane(u.src(1), i));
  }

  void custom(UOp u) {
    std::vector<std::string> operands;
    for (UOp s : u.src()) operands.push_back(of(throughAfter(s)).written ? text(s) : std::string());
    const auto f = machineFunctionOf(u);
    std::string text =
        f ? types_.machineCall(*f, u.dtype(), operands) : formatCustom(u.arg().str(), operands);
    if (u.dtype().isVoid())
      line(text);
    else
      keep(u, text, "custom", u.is(Op::CUSTOM));
  }

  void value(UOp u) {
    switch (u.op()) {
    case Op::LOAD:
      if (!of(u).isCopied) keep(u, load(u), "val", true);
      return;
    case Op::WMMA: {
      std::vector<std::string> operands;
      for (UOp s : u.src()) operands.push_back(text(s));
      keep(u, types_.wmma(u, operands), "wmma", true);
      return;
    }
    case Op::CAST:
      if (u.src(0).dtype().isPtr() && !u.dtype().isPtr())
        keep(u, types_.sharedAddress(text(u.src(0))), "address", true);
      else if (!u.dtype().isPtr())
        keep(u, alu(u), "cast");
      return;
    case Op::BITCAST: keep(u, types_.bitcast(u.dtype(), u.src(0).dtype(), text(u.src(0))), "cast"); return;
    default:
      if (!u.in(group::kAlu))
        throw Error(ErrorKind::Compile,
                    fmt::format("kernel {}: {} has no form in text: it must be lowered before rendering",
                                kernel_.name, opName(u.op())));
      keep(u, alu(u), of(u).isMask ? "mask" : "alu");
    }
  }

  void close(size_t blocks) {
    for (size_t i = 0; i < blocks; ++i) {
      --depth_;
      line("}");
    }
  }

  const LoweredKernel& kernel_;
  KernelSignature signature_;
  CText& types_;
  IdMap<uint32_t> places_; ///< index in values_, by slot
  std::deque<Value> values_;
  std::set<uint32_t> stored_;                ///< ids of the written buffers
  std::map<std::string_view, int> counters_; ///< by prefixes, which are literals
  std::string body_;
  bool streams_ = false;        ///< some store goes past the caches
  std::vector<UOp> conditions_; ///< conditions of the open IFs
  int depth_ = 1;
};

} // namespace

std::string writeC(const LoweredKernel& kernel, CText& language, std::vector<TextLine>* lines) {
  return CWriter(kernel, language).write(lines);
}

} // namespace uopscope
