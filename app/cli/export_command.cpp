// uopscope export TRACE ... -o FILE: writes a graph, steps or statistics in a form that other programs read.
// The extension of FILE chooses the form.
#include "app/cli/event_export.h"
#include "app/cli/graph_text.h"
#include "app/cli/json_lines.h"
#include "app/cli/output.h"
#include "app/cli/parquet_export.h"
#include "app/cli/trace_folder.h"
#include "replay/read/print.h"
#include "replay/schema/html_text.h"
#include "replay/schema/quantity_text.h"
#include "viz/page/session_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace uopscope::cli {

namespace {

Json graphJson(Cursor& cursor, int64_t k) {
  Json nodes = Json::array();
  for (NodeId id : cursor.graphAt(k)) {
    NodeFields n = cursor.fields(id);
    Json j{{"id", nodeName(id)}, {"op", opName(n.op)}, {"dtype", n.dtype.name()}};
    if (n.arg) j["arg"] = n.arg.repr();
    if (n.tag) j["tag"] = n.tag.repr();
    j["src"] = Json::array();
    for (NodeId s : n.src) j["src"].push_back(nodeName(s));
    nodes.push_back(j);
  }
  return Json{
      {"pass", cursor.info().name}, {"step", k}, {"root", nodeName(cursor.rootAt(k))}, {"nodes", nodes}};
}

std::string stepsCsv(Trace& trace, PassId pass) {
  std::string out = "step,rule,at,way,before,after,took_ns,before_text,after_text\n";
  auto read = trace.nodes().reader();
  for (const StepInfo& s : trace.steps(pass)) {
    const RuleInfo& rule = trace.rule(s.rule);
    const char* way = s.kind == StepKind::WayUp ? "up" : s.kind == StepKind::WayDown ? "down" : "error";
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", s.k, csvField(rule.name), csvField(fileLine(rule.at)),
                       way, s.before, s.after, s.ns, csvField(expression(read, s.before, 6, 400)),
                       csvField(s.after ? expression(read, s.after, 6, 400) : ""));
  }
  return out;
}

std::string statsCsv(Trace& trace, ScopeId scope) {
  std::string out = "rule,at,matches,attempts,rejected_early,structure_differs,declined,applied,unchanged,"
                    "match_ns,total_ns\n";
  for (const MatchTotals& t : trace.matchTotals(MatchGroup::Rule, scope)) {
    const RuleInfo& rule = trace.rule(t.rule);
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", csvField(rule.name), csvField(fileLine(rule.at)),
                       t.matches(), t.attempts(), t.count[0], t.count[1], t.count[2], t.count[3], t.count[4],
                       t.matchNs(), t.totalNs());
  }
  return out;
}

/// One self-contained page: the kernel's texts, its passes, and the graph where it can be drawn.
std::string htmlPage(Trace& trace, ScopeId scope, Cursor* cursor, int64_t k, int timeout) {
  std::string name =
      scope ? trace.scope(scope).name : std::filesystem::path(trace.path()).filename().string();
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><meta "
      "charset=\"utf-8\"><title>{0}</title>\n<style>body{{font:15px/1.5 system-ui,sans-serif;"
      "max-width:1100px;margin:2em auto;padding:0 1em}}table{{border-collapse:collapse}}td,th{{padding:.2em "
      ".8em;text-align:left;"
      "border-bottom:1px solid "
      "#ccc}}td.n{{text-align:right}}pre{{background:#f4f4f4;padding:1em;overflow:auto}}svg{{max-width:100%;"
      "height:auto}}@media(prefers-color-scheme:dark){{body{{background:#181818;color:#eee}}pre{{background:#"
      "262626}}svg{{background:#fff}}}}"
      "</style>\n<h1>{0}</h1>\n<p>{1}, recorded {2}, {3}</p>\n",
      htmlText(name), htmlText(trace.meta("script")), htmlText(trace.meta("time.began")),
      htmlText(trace.status()));
  if (!scope) {
    out += "<h2>Kernels and schedules</h2>\n<table><tr><th>#<th>kind<th>name<th>steps<th>script line\n";
    for (const ScopeInfo& s : trace.scopes())
      out += fmt::format("<tr><td class=n>{}<td>{}<td>{}<td class=n>{}<td>{}\n", s.id,
                         s.kind == ScopeKind::Kernel     ? "kernel"
                         : s.kind == ScopeKind::Schedule ? "schedule"
                                                         : "",
                         htmlText(s.name), countText(s.steps), htmlText(fileLine(s.script)));
    return out + "</table>\n</html>\n";
  }
  out += "<h2>Passes</h2>\n<table><tr><th>#<th>pass<th>steps<th>time\n";
  const auto& passes = trace.passes(scope);
  for (size_t n = 0; n < passes.size(); ++n)
    out += fmt::format("<tr><td class=n>{}<td style=\"padding-left:{}em\">{}<td class=n>{}<td class=n>{}\n",
                       n + 1, 1 + passes[n].depth, htmlText(passes[n].name), countText(passes[n].steps),
                       passes[n].endNs ? durationText(*passes[n].endNs - passes[n].beginNs) : "");
  out += "</table>\n";
  if (cursor) {
    out +=
        fmt::format("<h2>{}, after step {} of {}</h2>\n", htmlText(cursor->info().name), k, cursor->steps());
    try {
      std::string svg = drawDot(dotGraph(*cursor, k, nullptr), "svg", {.seconds = timeout});
      out += svg.substr(std::min(svg.size(), svg.find("<svg")));
    } catch (const Error& e) {
      out += fmt::format("<p>No picture: {}</p>\n<pre>{}</pre>\n", htmlText(e.what()),
                         htmlText(printTree(cursor->reader(), cursor->rootAt(k), 2000)));
    }
    auto read = trace.nodes().reader();
    out += "<table><tr><th>step<th>rule<th>before<th>after\n";
    for (const StepInfo& s : trace.steps(cursor->pass()))
      out += fmt::format("<tr><td class=n>{}<td>{}<td><code>{}</code><td><code>{}</code>\n", s.k,
                         htmlText(trace.rule(s.rule).name), htmlText(expression(read, s.before, 4, 160)),
                         s.after ? htmlText(expression(read, s.after, 4, 160)) : "REWRITE_ERROR");
    out += "</table>\n";
  }
  for (const char* kind : {"source", "ir", "asm", "uops"})
    if (auto text = trace.artifact(scope, kind))
      out += fmt::format("<h2>{}</h2>\n<pre>{}</pre>\n", kind, htmlText(*text));
  return out + "</html>\n";
}

std::string textOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::File, fmt::format("{}: {}; give a Markdown file", path, strerror(errno)));
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The bookmarks beside the trace (FILE.uoptrace.notes.json, which the window writes) as a list of links in Markdown: a talk
/// goes with the session. Empty where there are none.
std::string talkOf(const std::string& trace) {
  std::ifstream file(trace + ".notes.json", std::ios::binary);
  const Json marks = Json::parse(file, nullptr, false);
  std::string out;
  if (!marks.is_array()) return out;
  auto plain = [](std::string text) { // brackets and line ends belong to Markdown
    for (char& c : text)
      if (c == '[' || c == ']' || c == '\n' || c == '\r') c = ' ';
    return text;
  };
  for (const Json& m : marks) {
    if (!m.is_object()) continue;
    auto text = [&](const char* key) {
      return m.contains(key) && m[key].is_string() ? m[key].get<std::string>() : std::string();
    };
    std::string link = text("link"), note = text("note"), place = text("place");
    if (const size_t tab = link.find("&tab="); tab != std::string::npos) link.erase(tab);
    if (link.find_first_of("() \n") == std::string::npos && !link.empty())
      out += fmt::format("1. [{}]({})\n", plain(note.empty() ? place : note), link);
  }
  return out.empty() ? out : "## Talk\n\n" + out;
}

/// Writes a session for stepping offline, in one file. stderr and the page list the parts that it leaves out.
int exportSession(Trace& trace, const ExportOptions& o) {
  if (!o.output.ends_with(".html"))
    throw Error(ErrorKind::Value, fmt::format("-o {}: a session is an .html file", o.output));
  SessionChoice choice{
      .kernel = o.kernel, .pass = o.pass, .mostBytes = o.megabytes * 1'000'000, .progress = {}};
  std::string talk = talkOf(o.trace);
  if (!o.lesson.empty()) talk += (talk.empty() ? "" : "\n") + textOf(o.lesson);
  const SessionPage page = sessionPage(trace, choice, talk);
  std::ofstream file(o.output, std::ios::binary);
  file << page.html;
  file.flush();
  if (!file)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", o.output, strerror(errno)));
  for (const std::string& limit : page.limits) fmt::print(stderr, "uopscope: {}\n", limit);
  if (o.json) printJson(Json{{"file", o.output}, {"bytes", page.html.size()}, {"limits", page.limits}});
  return kFine;
}

} // namespace

int exportFile(const ExportOptions& o) {
  const bool folder = std::filesystem::is_directory(o.trace);
  if (o.output.ends_with(".parquet") || o.output.ends_with('/')) {
    const std::vector<std::string> traces = folder ? tracesIn(o.trace) : std::vector{o.trace};
    for (const std::string& path : traces) Trace{path}; // an unreadable trace throws here
    return exportParquet(traces, o.output, o.json);
  }
  if (folder)
    throw Error(ErrorKind::Value,
                fmt::format("{}: a folder of traces is exported to -o FILE.parquet or -o FOLDER/", o.trace));
  Trace trace(o.trace);
  warnAbout(trace);
  if (o.what == "session") return exportSession(trace, o);
  if (!o.lesson.empty()) throw Error(ErrorKind::Value, "--lesson goes with --what session");
  std::string ending = std::filesystem::path(o.output).extension().string();
  if (ending.empty())
    throw Error(ErrorKind::Value,
                fmt::format("-o {}: the name must end in .svg, .png, .pdf, .dot, .json, .html, .csv, .jsonl, "
                            ".trace.json or .parquet, or be a folder that ends in /",
                            o.output));
  ending.erase(0, 1);
  bool chrome = o.output.ends_with(".trace.json") || o.output.ends_with(".perfetto.json");
  if (chrome || ending == "jsonl") {
    std::ofstream file(o.output, std::ios::binary);
    if (file) chrome ? writeChromeTrace(trace, file) : writeJsonLines(trace, file);
    file.flush();
    if (!file)
      throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", o.output, strerror(errno)));
    if (o.json) printJson(Json{{"file", o.output}, {"bytes", std::filesystem::file_size(o.output)}});
    return kFine;
  }
  ScopeId scope = o.kernel.empty() || o.kernel == "0" ? 0 : trace.findScope(o.kernel);
  PassId pass = 0;
  if (!o.pass.empty()) {
    pass = trace.findPass(scope, o.pass);
  } else if (!o.kernel.empty()) {
    for (const PassInfo& p : trace.passes(scope))
      if (p.depth == 0) pass = p.id;
  }
  bool graph = ending == "svg" || ending == "png" || ending == "pdf" || ending == "dot";
  if (graph && !pass)
    throw Error(
        ErrorKind::Value,
        fmt::format("-o {}: a graph needs a kernel, and --pass for another than its last pass", o.output));
  std::unique_ptr<Cursor> cursor;
  if (pass && ending != "csv") cursor = std::make_unique<Cursor>(trace, pass);
  int64_t k = cursor ? (o.step >= 0 ? o.step : cursor->steps()) : 0;

  std::string bytes;
  if (graph) {
    GraphDiff difference;
    if (o.difference) difference = cursor->diff(std::max<int64_t>(o.step >= 0 ? k - 1 : 0, 0), k);
    const DotGraph drawn = dotGraph(*cursor, k, o.difference ? &difference : nullptr);
    bytes = ending == "dot" ? writeDot(drawn) : drawDot(drawn, ending, {.seconds = o.timeout});
  } else if (ending == "json") {
    if (!cursor)
      throw Error(ErrorKind::Value, "a JSON graph needs a kernel; uopscope ls --json lists a whole trace");
    bytes = graphJson(*cursor, k).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  } else if (ending == "csv") {
    bytes = o.pass.empty() ? statsCsv(trace, scope) : stepsCsv(trace, pass);
  } else if (ending == "html") {
    bytes = htmlPage(trace, scope, o.pass.empty() ? nullptr : cursor.get(), k, o.timeout);
  } else {
    throw Error(
        ErrorKind::Value,
        fmt::format("-o {}: .{} is not known; there are .svg, .png, .pdf, .dot, .json, .html, .csv, .jsonl, "
                    ".trace.json and .parquet",
                    o.output, ending));
  }
  std::ofstream file(o.output, std::ios::binary);
  file << bytes;
  file.flush();
  if (!file)
    throw Error(ErrorKind::File, fmt::format("{}: cannot be written: {}", o.output, strerror(errno)));
  if (o.json) printJson(Json{{"file", o.output}, {"bytes", bytes.size()}});
  return kFine;
}

} // namespace uopscope::cli
