// A table of the form of each operation: the least and the greatest number of sources, and the kinds of
// argument.
#include "replay/read/materialize.h"

#include "engine/base/error.h"
#include "engine/uop/node_check.h"

#include <fmt/format.h>

namespace uopscope {

namespace {
struct Form {
  size_t least, most;
  uint32_t argKinds; ///< bit per ArgKind; 0: not checked
};
constexpr size_t kMany = SIZE_MAX;
constexpr uint32_t bit(ArgKind k) {
  return 1u << static_cast<unsigned>(k);
}
constexpr uint32_t kNumber =
    bit(ArgKind::Bool) | bit(ArgKind::Int) | bit(ArgKind::Float) | bit(ArgKind::Invalid);

Form formOf(Op op) {
  if (group::kUnary.has(op)) return {1, 1, 0};
  if (group::kBinary.has(op)) return {2, 2, 0};
  if (group::kTernary.has(op)) return {3, 3, 0};
  switch (op) {
  case Op::CONST: return {0, kMany, kNumber};
  case Op::VCONST: return {0, 0, bit(ArgKind::Consts)};
  case Op::RANGE: return {1, kMany, bit(ArgKind::Range)};
  case Op::SPECIAL: return {1, 1, bit(ArgKind::String)};
  case Op::DEFINE_VAR: return {0, kMany, bit(ArgKind::Var)};
  case Op::CAST:
  case Op::BITCAST: return {1, 1, 0};
  case Op::GEP: return {1, 1, bit(ArgKind::Ints)};
  case Op::UNROLL:
  case Op::CONTRACT: return {1, 1, bit(ArgKind::Ints)};
  case Op::VECTORIZE: return {0, kMany, 0}; // no source: the shape of a scalar
  case Op::INDEX:
  case Op::LOAD:
  case Op::END:
  case Op::AFTER:
  case Op::BUFFERIZE:
  case Op::CONTIGUOUS:
  case Op::DETACH:
  case Op::COPY: return {1, kMany, 0};
  case Op::STORE:
  case Op::BIND:
  case Op::ASSIGN: return {2, kMany, 0};
  case Op::REDUCE: return {1, kMany, bit(ArgKind::Op)};
  case Op::REDUCE_AXIS: return {1, 1, bit(ArgKind::Reduce)};
  case Op::PERMUTE:
  case Op::FLIP: return {1, 1, bit(ArgKind::Ints)};
  case Op::RESHAPE:
  case Op::EXPAND: return {2, 2, 0};
  case Op::PAD:
  case Op::SHRINK: return {3, 3, 0};
  case Op::WMMA: return {3, kMany, bit(ArgKind::Wmma)}; // behind the operands, the ranges of their elements
  case Op::BUFFER: return {2, 2, bit(ArgKind::Int)};
  case Op::DEFINE_GLOBAL: return {0, kMany, bit(ArgKind::Int)};
  case Op::DEVICE: return {0, 0, bit(ArgKind::String) | bit(ArgKind::Strings)};
  case Op::IF: return {1, kMany, 0};
  default: return {0, kMany, 0};
  }
}
} // namespace

std::string malformed(const NodeFields& node) {
  Form form = formOf(node.op);
  if (node.src.size() < form.least || node.src.size() > form.most)
    return fmt::format("{} with {} sources", opName(node.op), node.src.size());
  if (form.argKinds && !(form.argKinds & bit(node.arg.kind())))
    return fmt::format("{} with argument {}", opName(node.op), node.arg.repr());
  const bool scalarShape = node.src.empty() && node.dtype == dtypes::index;
  if (node.op == Op::VECTORIZE && !scalarShape && !node.dtype.isPtr() &&
      node.src.size() != static_cast<size_t>(node.dtype.count()))
    return fmt::format("VECTORIZE of {} sources to {}", node.src.size(), node.dtype.name());
  return {};
}

UOp Materializer::operator()(NodeId id) {
  std::vector<NodeId> stack{id};
  std::vector<UOp> sources;
  while (!stack.empty()) {
    NodeId at = stack.back();
    if (made_.contains(at)) {
      stack.pop_back();
      continue;
    }
    NodeFields node = read_(at);
    size_t waiting = stack.size();
    for (size_t k = node.src.size(); k-- > 0;)
      if (!made_.contains(node.src[k])) stack.push_back(node.src[k]);
    if (stack.size() > waiting) continue;
    stack.pop_back();
    if (std::string wrong = malformed(node); !wrong.empty())
      throw Error(ErrorKind::File,
                  fmt::format("node {} is no node the engine makes ({}); the trace is damaged", at, wrong));
    sources.clear();
    for (NodeId s : node.src) sources.push_back(made_.at(s));
    checkNode(node.op, sources, node.arg);
    made_.emplace(at, pool_.make(node.op, node.dtype, sources, node.arg, node.tag));
  }
  return made_.at(id);
}

} // namespace uopscope
