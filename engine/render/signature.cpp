// Reads parameters and names off a linear program, for renderers and loaders alike.
#include "engine/render/signature.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace uopscope {

KernelSignature signatureOf(const LoweredKernel& kernel) {
  KernelSignature s;
  for (UOp u : kernel.uops) {
    if (u.is(Op::DEFINE_GLOBAL)) s.globals.push_back(u);
    if (u.is(Op::DEFINE_VAR)) (u.arg().as<VarArg>().name == "core_id" ? s.coreIds : s.vars).push_back(u);
    if (u.is(Op::SPECIAL) && (u.arg().str() == "core_id" || u.arg().str() == "gidx0")) s.coreIds.push_back(u);
  }
  for (UOp g : s.globals)
    if (g.dtype().isImage())
      throw Error(
          ErrorKind::Compile,
          fmt::format(
              "kernel {}: parameter {} is an image, {}: no device has image memory; use memory of float32",
              kernel.name, g.arg().i(), g.dtype().name()));
  auto nameOf = [](UOp v) -> const std::string& { return v.arg().as<VarArg>().name; };
  std::stable_sort(s.globals.begin(), s.globals.end(),
                   [](UOp a, UOp b) { return a.arg().i() < b.arg().i(); });
  std::stable_sort(s.vars.begin(), s.vars.end(), [&](UOp a, UOp b) { return nameOf(a) < nameOf(b); });
  for (UOp v : s.vars) {
    auto at =
        std::find_if(kernel.vars.begin(), kernel.vars.end(), [&](UOp k) { return nameOf(k) == nameOf(v); });
    if (at == kernel.vars.end())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: variable {} is used but not among the kernel's variables",
                              kernel.name, nameOf(v)));
    s.varSlots.push_back(static_cast<int>(at - kernel.vars.begin()));
  }
  return s;
}

std::string globalName(UOp g) {
  return g.dtype().size() > 0 ? fmt::format("data{}_{}", g.arg().i(), g.dtype().size())
                              : fmt::format("data{}", g.arg().i());
}

std::string rangeName(UOp range) {
  const RangeArg& arg = range.arg().as<RangeArg>();
  std::string name = fmt::format("{}idx", axisTypeLetter(arg.type));
  for (size_t i = 0; i < arg.ids.size(); ++i) {
    if (i) name += '_';
    name += arg.ids[i] < 0 ? fmt::format("m{}", -arg.ids[i]) : fmt::format("{}", arg.ids[i]);
  }
  return name;
}

std::string formatCustom(std::string_view text, std::span<const std::string> arguments) {
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      out += c;
      ++i;
    } else if (c == '{') {
      size_t close = text.find('}', i);
      if (close == std::string_view::npos)
        throw Error(ErrorKind::Compile, fmt::format("CUSTOM text \"{}\": '{{' without '}}'", text));
      std::string_view field = text.substr(i + 1, close - i - 1);
      size_t which = next;
      if (field.empty())
        ++next;
      else if (auto [end, error] = std::from_chars(field.begin(), field.end(), which);
               error != std::errc() || end != field.end())
        throw Error(ErrorKind::Compile,
                    fmt::format("CUSTOM text \"{}\": field {{{}}} is no number", text, field));
      if (which >= arguments.size())
        throw Error(ErrorKind::Compile,
                    fmt::format("CUSTOM text \"{}\" wants source {} of {}", text, which, arguments.size()));
      out += arguments[which];
      i = close;
    } else {
      out += c;
    }
  }
  return out;
}

std::string identifier(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0]))) out.insert(0, 1, '_');
  return out;
}

void checkNesting(const LoweredKernel& kernel) {
  std::vector<UOp> open;
  auto close = [&](UOp what) {
    if (open.empty())
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: END or ENDIF without its RANGE or IF", kernel.name));
    if (what ? open.back() != what : !open.back().is(Op::IF))
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: {}, which is not the innermost open range", kernel.name,
                              what ? fmt::format("END closes {}", rangeName(what)) : "ENDIF closes an IF"));
    open.pop_back();
  };
  for (UOp u : kernel.uops) {
    if (u.is(Op::RANGE) || u.is(Op::IF)) open.push_back(u);
    if (u.is(Op::ENDIF)) close({});
    if (u.is(Op::END))
      for (UOp range : u.src().subspan(1)) close(range);
  }
  if (!open.empty())
    throw Error(
        ErrorKind::Compile,
        fmt::format(
            "kernel {}: {} RANGE or IF without its END: close every range with .end(range) before .sink()",
            kernel.name, open.size()));
}

void checkCpuIndex(const LoweredKernel& kernel, UOp special) {
  const std::string& name = special.arg().str();
  if (name != "core_id" && name != "gidx0")
    throw Error(ErrorKind::Compile,
                fmt::format("kernel {}: index {}: a CPU kernel has one launch dimension, core_id",
                            kernel.name, name));
}

UOp throughAfter(UOp u) {
  while ((u.is(Op::AFTER) || u.is(Op::NOOP) || u.is(Op::GROUP)) && u.srcCount()) u = u.src(0);
  return u;
}

Access accessOf(UOp u) {
  Access a;
  a.type = u.is(Op::STORE) ? u.src(1).dtype() : u.dtype();
  UOp index = u.src(0);
  while (index.is(Op::CAST) || index.is(Op::AFTER)) index = index.src(0);
  if (!index.is(Op::INDEX))
    throw Error(ErrorKind::Compile, fmt::format("{} of {}: a linear program accesses memory through INDEX",
                                                opName(u.op()), opName(index.op())));
  a.index = index;
  a.pointer = index.src(0);
  while (a.pointer.is(Op::CAST) || a.pointer.is(Op::AFTER)) a.pointer = a.pointer.src(0);
  if (index.srcCount() > 2 && index.src(2).dtype().isBool()) a.gate = index.src(2);
  if (u.is(Op::LOAD)) {
    if (u.srcCount() > 1 && !u.src(1).dtype().isVoid()) a.alternative = u.src(1);
    if (u.srcCount() > 2 && u.src(2).dtype().isBool()) a.gate = u.src(2);
  } else if (u.srcCount() > 2 && u.src(2).dtype().isBool()) {
    a.gate = u.src(2);
  }
  return a;
}

} // namespace uopscope
