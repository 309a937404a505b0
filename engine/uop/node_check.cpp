// The declarations of ops.def as a table, and the check of a node against it.
#include "engine/uop/node_check.h"

#include "engine/base/error.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

constexpr size_t kMany = SIZE_MAX;

constexpr uint32_t bit(ArgKind kind) {
  return uint32_t{1} << static_cast<unsigned>(kind);
}
constexpr uint32_t kNone = bit(ArgKind::None), kInt = bit(ArgKind::Int), kInvalid = bit(ArgKind::Invalid),
                   kNumber = bit(ArgKind::Bool) | bit(ArgKind::Int) | bit(ArgKind::Float),
                   kOp = bit(ArgKind::Op), kString = bit(ArgKind::String), kInts = bit(ArgKind::Ints),
                   kStrings = bit(ArgKind::Strings), kRange = bit(ArgKind::Range),
                   kReduce = bit(ArgKind::Reduce), kVar = bit(ArgKind::Var),
                   kBufferize = bit(ArgKind::Bufferize), kKernel = bit(ArgKind::Kernel),
                   kConsts = bit(ArgKind::Consts), kWmma = bit(ArgKind::Wmma), kAny = ~uint32_t{0};

struct Declared {
  size_t fewest, most;
  uint32_t args;
};
constexpr Declared kDeclared[] = {
#define X(name, fewest, most, args, doc) {fewest, most, args},
#include "engine/uop/ops.def"
#undef X
};
static_assert(std::size(kDeclared) == kOpCount);

std::string allowedArgs(uint32_t kinds) {
  std::string text;
  for (unsigned k = 0; k <= static_cast<unsigned>(ArgKind::Opts); ++k)
    if (kinds >> k & 1)
      text += (text.empty() ? "" : " or ") + std::string(argKindWords(static_cast<ArgKind>(k)));
  return text;
}

std::string allowedSources(const Declared& d) {
  if (d.fewest == d.most) return fmt::format("{} source{}", d.most, d.most == 1 ? "" : "s");
  if (d.most == kMany) return fmt::format("{} source{} or more", d.fewest, d.fewest == 1 ? "" : "s");
  return fmt::format("{} to {} sources", d.fewest, d.most);
}

} // namespace

SourceLimits sourceLimits(Op op) {
  const Declared& d = kDeclared[static_cast<size_t>(op)];
  return {d.fewest, d.most};
}

void checkNode(Op op, std::span<const UOp> src, Arg arg) {
  if (static_cast<int>(op) >= kOpCount)
    throw Error(ErrorKind::Spec, fmt::format("no operation has the number {}", static_cast<int>(op)));
  const Declared& d = kDeclared[static_cast<size_t>(op)];
  for (size_t i = 0; i < src.size(); ++i)
    if (!src[i]) throw Error(ErrorKind::Spec, fmt::format("UOp {}: source {} is no node", opName(op), i));
  if (src.size() < d.fewest || src.size() > d.most)
    throw Error(ErrorKind::Spec, fmt::format("UOp {} takes {}, {} {} given", opName(op), allowedSources(d),
                                             src.size(), src.size() == 1 ? "was" : "were"));
  bool isOpen = !arg && OpSet{Op::DEFINE_GLOBAL, Op::DEFINE_VAR}.has(op); // in patterns
  if (!(d.args & bit(arg.kind())) && !isOpen)
    throw Error(ErrorKind::Spec, fmt::format("UOp {}: its argument is {}, {} was given", opName(op),
                                             allowedArgs(d.args), arg ? arg.repr() : "none"));
}

UOp makeChecked(Op op, DType dtype, std::span<const UOp> src, Arg arg, Arg tag) {
  checkNode(op, src, arg);
  return UOp::make(op, dtype, src, arg, tag);
}

} // namespace uopscope
