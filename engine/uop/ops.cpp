// Names, symbols and one-line descriptions of the operations, from the table in ops.def.
#include "engine/uop/ops.h"

#include <unordered_map>

namespace uopscope {

namespace {
constexpr std::string_view kNames[] = {
#define X(name, fewest, most, args, doc) #name,
#include "engine/uop/ops.def"
#undef X
};
constexpr std::string_view kDocs[] = {
#define X(name, fewest, most, args, doc) doc,
#include "engine/uop/ops.def"
#undef X
};
static_assert(std::size(kNames) == kOpCount);
} // namespace

std::string_view opName(Op op) {
  auto i = static_cast<size_t>(op);
  return i < std::size(kNames) ? kNames[i] : "UNKNOWN";
}

std::string_view opDoc(Op op) {
  auto i = static_cast<size_t>(op);
  return i < std::size(kDocs) ? kDocs[i] : "";
}

std::string_view opSymbol(Op op) {
  switch (op) {
  case Op::ADD: return "+";
  case Op::SUB: return "-";
  case Op::MUL: return "*";
  case Op::IDIV: return "//";
  case Op::FDIV: return "/";
  case Op::MOD: return "%";
  case Op::SHL: return "<<";
  case Op::SHR: return ">>";
  case Op::AND: return "&";
  case Op::XOR: return "^";
  case Op::OR: return "|";
  case Op::CMPLT: return "<";
  case Op::CMPNE: return "!=";
  case Op::CMPEQ: return "==";
  default: return {};
  }
}

std::optional<Op> opFromName(std::string_view name) {
  static const std::unordered_map<std::string_view, Op> byName = [] {
    std::unordered_map<std::string_view, Op> m;
    for (int i = 0; i < kOpCount; ++i) m.emplace(kNames[i], static_cast<Op>(i));
    return m;
  }();
  if (name.starts_with("Ops.")) name.remove_prefix(4);
  auto it = byName.find(name);
  if (it == byName.end()) return std::nullopt;
  return it->second;
}

} // namespace uopscope
