// Writes the table of instructions.
#include "engine/codegen/program_text.h"

#include <fmt/format.h>

namespace uopscope {

std::string programText(std::span<const UOp> program) {
  UOpMap<size_t> number;
  for (size_t i = 0; i < program.size(); ++i) number[program[i]] = i;
  std::string text;
  int depth = 0;
  for (size_t i = 0; i < program.size(); ++i) {
    UOp u = program[i];
    std::string sources;
    for (UOp s : u.src()) {
      if (!sources.empty()) sources += ", ";
      auto hit = number.find(s);
      sources += s.isConst() ? s.arg().repr() : hit == number.end() ? "?" : fmt::format("{}", hit->second);
    }
    if (u.is(Op::END) || u.is(Op::ENDIF)) depth = depth > 0 ? depth - 1 : 0;
    std::string op = fmt::format("{:{}}{}", "", depth * 2, opName(u.op()));
    text += fmt::format("{:4d} {:24s} {:32s} [{}]{}{}\n", i, op, u.dtype().name(), sources,
                        u.arg() ? " " : "", u.arg() ? u.arg().repr() : "");
    if (u.is(Op::RANGE) || u.is(Op::IF)) ++depth;
  }
  return text;
}

} // namespace uopscope
