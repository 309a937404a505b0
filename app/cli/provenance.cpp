// uopscope show --what provenance: follows the chain between a line of the script and a line of machine code,
// from either end.
#include "replay/read/provenance.h"

#include "app/cli/output.h"
#include "replay/read/kernel_lines.h"
#include "replay/read/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace uopscope::cli {

namespace {

Json linkJson(Trace& trace, const ProvenanceLink& l) {
  auto read = trace.nodes().reader();
  static constexpr const char* kMakers[] = {"in the graph to begin with", "made by a rule",
                                            "rebuilt: a source changed", "unknown"};
  Json j{{"node", l.node},
         {"text", l.node ? expression(read, l.node, 4, 160) : ""},
         {"how", kMakers[static_cast<int>(l.maker)]}};
  if (l.pass) {
    PassInfo pass = trace.pass(l.pass);
    j["pass"] = pass.name;
    j["scope"] = pass.scope ? trace.scope(pass.scope).name : "";
  }
  if (l.k) j["step"] = l.k;
  if (l.rule) {
    j["rule"] = trace.rule(l.rule).name;
    j["at"] = fileLine(trace.rule(l.rule).at);
  }
  if (l.from) j["from"] = l.from;
  return j;
}

Json originsJson(const std::vector<OriginInfo>& origins) {
  Json out = Json::array();
  for (const OriginInfo& o : origins)
    out.push_back(Json{{"operation", o.operation}, {"script", fileLine(o.script)}});
  return out;
}

Json placeJson(const KernelLines& lines, const TextPlace& p) {
  return Json{{"text", p.text}, {"line", p.line}, {"content", lines.lineText(p.text, p.line)}};
}

Json placesJson(const KernelLines& lines, const std::vector<uint32_t>& instructions) {
  Json out = Json::array();
  for (const TextPlace& p : lines.linesAbout(instructions)) out.push_back(placeJson(lines, p));
  return out;
}

void printPlaces(const Json& places, int64_t limit) {
  std::string last;
  int64_t shown = 0, hidden = 0;
  auto endOf = [&] {
    if (hidden) fmt::print("  ... {} more lines (--limit 0 shows all)\n", hidden);
    hidden = shown = 0;
  };
  for (const auto& p : places) {
    if (p["text"] != last) {
      endOf();
      last = p["text"].get<std::string>();
      fmt::print("{}\n", paint(Paint::Bold, last));
    }
    if (limit > 0 && shown >= limit) {
      ++hidden;
      continue;
    }
    ++shown;
    fmt::print("  {:5}  {}\n", p["line"].get<int64_t>(), p["content"].get<std::string>());
  }
  endOf();
}

void printOrigins(const Json& origins, std::string_view indent) {
  for (const auto& o : origins)
    fmt::print("{}from {} at {}\n", indent, o["operation"].get<std::string>(),
               o["script"].get<std::string>());
}

void printLinks(const char* title, const Json& links) {
  if (links.empty()) return;
  fmt::print("{}\n", paint(Paint::Bold, title));
  for (const auto& j : links) {
    std::string where;
    if (j.contains("rule"))
      where += fmt::format(" {} ({})", j["rule"].get<std::string>(), j["at"].get<std::string>());
    if (j.contains("pass"))
      where += fmt::format(", {} pass \"{}\"{}", j["scope"].get<std::string>(), j["pass"].get<std::string>(),
                           j.contains("step") ? fmt::format(" step {}", j["step"].get<int64_t>()) : "");
    fmt::print("  {} {}\n      {}{}\n", j["node"].get<int64_t>(), j["text"].get<std::string>(),
               j["how"].get<std::string>(), where);
  }
}

int ofNode(Trace& trace, ScopeId scope, NodeId node, const LookOptions& o) {
  Provenance provenance(trace, scope);
  Json out{{"node", node},
           {"text", expression(trace.nodes().reader(), node, 6, 400)},
           {"origins", originsJson(provenance.origins(node))},
           {"came_from", Json::array()},
           {"became", Json::array()},
           {"lines", Json::array()}};
  for (const auto& l : provenance.chain(node)) out["came_from"].push_back(linkJson(trace, l));
  for (const auto& l : provenance.fate(node)) out["became"].push_back(linkJson(trace, l));
  KernelLines lines(trace, scope);
  if (auto position = lines.positionOf(node)) {
    out["instruction"] = *position;
    out["lines"] = placesJson(lines, {*position});
  }
  if (o.json) {
    printJson(out);
    return kFine;
  }
  fmt::print("{} {}\n", node, out["text"].get<std::string>());
  printOrigins(out["origins"], "  ");
  printLinks("came from", out["came_from"]);
  printLinks("became", out["became"]);
  printPlaces(out["lines"], o.limit);
  return kFine;
}

/// Shows a line of a kernel's text: its instructions, their origins, and their lines in the other texts.
int ofKernelLine(Trace& trace, ScopeId scope, const std::string& text, int64_t line, const LookOptions& o) {
  KernelLines lines(trace, scope);
  std::string name = trace.scope(scope).name;
  if (line < 1 || line > lines.lineCount(text))
    throw Error(ErrorKind::Index, lines.lineCount(text) ? fmt::format("the {} of \"{}\" has lines 1 to {}",
                                                                      text, name, lines.lineCount(text))
                                                        : fmt::format("\"{}\" has no {}", name, text));
  if (!lines.mapped(text))
    throw Error(
        ErrorKind::Key,
        fmt::format(
            "the recording does not know the origin of the lines of the {} of \"{}\"; its renderer or "
            "compiler does not tell",
            text, name));
  Provenance provenance(trace, scope);
  std::vector<uint32_t> instructions = lines.own(text, line);
  auto read = trace.nodes().reader();
  Json out{{"kernel", name}, {"text", text}, {"line", line}, {"content", lines.lineText(text, line)}};
  out["instructions"] = Json::array();
  for (uint32_t i : instructions) {
    NodeId node = lines.program()[i];
    out["instructions"].push_back(Json{{"instruction", i},
                                       {"node", node},
                                       {"text", expression(read, node, 3, 100)},
                                       {"origins", originsJson(provenance.origins(node))},
                                       {"rewrites", provenance.chain(node).size() - 1}});
  }
  out["lines"] = placesJson(lines, instructions);
  if (o.json) {
    printJson(out);
    return kFine;
  }
  fmt::print("{} {}:{}  {}\n", paint(Paint::Bold, name), text, line, lines.lineText(text, line));
  for (const auto& j : out["instructions"]) {
    fmt::print("  instruction {}, node {}  {}\n", j["instruction"].get<int64_t>(), j["node"].get<int64_t>(),
               j["text"].get<std::string>());
    printOrigins(j["origins"], "      ");
  }
  printPlaces(out["lines"], o.limit);
  return kFine;
}

/// The file of the trace that a person means by a name or by the end of a path.
std::string scriptNamed(Trace& trace, const std::string& name) {
  std::set<std::string> files;
  for (const OriginInfo& o : trace.allOrigins()) files.insert(o.script.file);
  std::string list;
  for (const std::string& f : files) {
    if (f == name || f.ends_with("/" + name)) return f;
    list += (list.empty() ? "" : ", ") + f;
  }
  throw Error(ErrorKind::Key, fmt::format("no tensor of the trace was made in {}; there are: {}", name,
                                          list.empty() ? "none" : list));
}

int ofScriptLine(Trace& trace, ScopeId only, const FileLine& given, const LookOptions& o) {
  FileLine script{scriptNamed(trace, given.file), given.line};
  Json out{{"script", fileLine(script)}, {"operations", Json::array()}, {"kernels", Json::array()}};
  std::map<std::string, int64_t> operations;
  for (const OriginInfo& origin : trace.allOrigins())
    if (origin.script.file == script.file && origin.script.line == script.line)
      ++operations[origin.operation];
  for (const auto& [name, nodes] : operations)
    out["operations"].push_back(Json{{"operation", name}, {"nodes", nodes}});
  Provenance shared(trace, 0);
  for (const ScopeInfo& s : trace.scopes()) {
    if (s.kind != ScopeKind::Kernel || (only && s.id != only)) continue;
    std::vector<uint32_t> instructions = shared.of(s.id)->instructionsOf(script);
    if (instructions.empty()) continue;
    KernelLines lines(trace, s.id);
    out["kernels"].push_back(Json{{"kernel", s.id},
                                  {"name", s.name},
                                  {"instructions", instructions},
                                  {"of", lines.program().size()},
                                  {"lines", placesJson(lines, instructions)}});
  }
  if (o.json) {
    printJson(out);
    return kFine;
  }
  std::string names;
  for (const auto& [name, nodes] : operations) names += (names.empty() ? "" : ", ") + name;
  fmt::print("{}  {}\n", paint(Paint::Bold, fileLine(script)), names.empty() ? "no tensor operation" : names);
  for (const auto& k : out["kernels"]) {
    fmt::print("{}\n",
               paint(Paint::Bold, fmt::format("kernel {} {}: {} of {} instructions",
                                              k["kernel"].get<int64_t>(), k["name"].get<std::string>(),
                                              k["instructions"].size(), k["of"].get<int64_t>())));
    printPlaces(k["lines"], only ? o.limit : o.limit > 0 ? o.limit : 8);
  }
  if (out["kernels"].empty()) fmt::print("nothing of it is left in a kernel\n");
  return kFine;
}

/// Shows every line of the kernel's source with the script lines it came from.
int ofKernel(Trace& trace, ScopeId scope, const LookOptions& o) {
  KernelLines lines(trace, scope);
  if (!lines.mapped("source"))
    throw Error(ErrorKind::Value,
                "--what provenance needs --node ID, --line TEXT:N (source:12, ir:3, asm:40, "
                "model.py:6), or --pass P --step K for the node that the step made");
  Provenance provenance(trace, scope);
  Json out = Json::array();
  Table table({"script", "line", "source"});
  for (int64_t line = 1; line <= lines.lineCount("source"); ++line) {
    std::vector<std::string> places;
    for (uint32_t i : lines.own("source", line))
      for (const OriginInfo& origin : provenance.origins(lines.program()[i])) {
        std::string place = fmt::format("{}:{}", origin.script.file.substr(origin.script.file.rfind('/') + 1),
                                        origin.script.line);
        if (origin.script.known() && std::ranges::find(places, place) == places.end())
          places.push_back(place);
      }
    out.push_back(Json{{"line", line}, {"content", lines.lineText("source", line)}, {"script", places}});
    std::string shown = places.empty() ? "" : places[0];
    if (places.size() > 1) shown += fmt::format(" +{}", places.size() - 1);
    table.add({shown, fmt::format("{}", line), lines.lineText("source", line)});
  }
  if (o.json)
    printJson(out);
  else
    table.print();
  return kFine;
}

} // namespace

int showProvenance(Trace& trace, ScopeId scope, const LookOptions& o) {
  if (!o.line.empty()) {
    size_t colon = o.line.rfind(':');
    int64_t number = 0;
    if (colon != std::string::npos)
      std::from_chars(o.line.data() + colon + 1, o.line.data() + o.line.size(), number);
    if (number < 1)
      throw Error(
          ErrorKind::Value,
          fmt::format("--line {}: a text and a line, as in source:12, ir:3, asm:40 or model.py:6", o.line));
    std::string text = o.line.substr(0, colon);
    if (text == "source" || text == "ir" || text == "asm") return ofKernelLine(trace, scope, text, number, o);
    return ofScriptLine(trace, scope, {text, static_cast<int>(number)}, o);
  }
  auto node = static_cast<NodeId>(o.node);
  if (!node && !o.pass.empty()) {
    Cursor cursor(trace, trace.findPass(scope, o.pass));
    if (o.step > 0) node = cursor.step(o.step).after;
  }
  if (!node) return ofKernel(trace, scope, o);
  trace.nodes().raw(node);
  return ofNode(trace, scope, node, o);
}

} // namespace uopscope::cli
