// Reads the kernels of a trace: their texts and linear programs, launches, memory, and the times of each
// part.
#include "replay/read/print.h"
#include "replay/read/trace.h"
#include "replay/schema/printable.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace uopscope {

std::vector<ArtifactInfo> Trace::artifacts(ScopeId scope) {
  std::vector<ArtifactInfo> out;
  const bool sized = version_ >= kPlainSchemaVersion;
  Statement s =
      db_.prepare(sized ? "SELECT id, kind, size FROM text WHERE scope = ? ORDER BY id"
                        : "SELECT id, kind, length(text) FROM artifact WHERE scope = ? ORDER BY id");
  for (s.bind(1, scope); s.step();) out.push_back({s.integer(0), scope, string(s.integer(1)), s.integer(2)});
  Statement p = db_.prepare(texts_ ? "SELECT count FROM program WHERE kernel = ?"
                                   : "SELECT count(*) FROM instruction WHERE kernel = ?");
  if (p.bind(1, scope).step() && p.integer(0) > 0)
    out.push_back({-scope, scope, "uops", std::min<int64_t>(p.integer(0), INT32_MAX) * 80});
  return out;
}

std::string Trace::artifactText(int64_t id) {
  if (id < 0) return programText(-id);
  if (texts_) {
    if (const auto text = texts_->text(id)) return printable(*text);
  } else if (Statement s = db_.prepare("SELECT text FROM artifact WHERE id = ?"); s.bind(1, id).step()) {
    return printable(s.text(0));
  }
  throw Error(ErrorKind::Key, fmt::format("{}: there is no artifact {}", path(), id));
}

std::optional<std::string> Trace::artifact(ScopeId scope, std::string_view kind) {
  Statement s = db_.prepare(fmt::format("SELECT max(t.id) FROM {} AS t JOIN string ON string.id = t.kind "
                                        "WHERE t.scope = ? AND string.value = ?",
                                        version_ >= kPlainSchemaVersion ? "text" : "artifact"));
  if (s.bind(1, scope).bind(2, kind).step() && !s.isNull(0)) return artifactText(s.integer(0));
  if (kind == "uops")
    if (std::string text = programText(scope); !text.empty()) return text;
  return std::nullopt;
}

std::vector<TextLineInfo> Trace::textLines(int64_t artifact) {
  std::vector<TextLineInfo> out;
  if (texts_) {
    for (const TextReader::Line& l : texts_->lines(artifact))
      out.push_back({l.line, static_cast<uint32_t>(l.instruction)});
    return out;
  }
  Statement s =
      db_.prepare("SELECT line, instruction FROM text_line WHERE artifact = ? ORDER BY line, instruction");
  for (s.bind(1, artifact); s.step();) out.push_back({s.integer(0), static_cast<uint32_t>(s.integer(1))});
  return out;
}

std::vector<NodeId> Trace::program(ScopeId kernel) {
  std::vector<NodeId> out;
  if (texts_) {
    for (int64_t node : texts_->program(kernel)) out.push_back(nodeIdOf(node));
    return out;
  }
  Statement s = db_.prepare("SELECT node FROM instruction WHERE kernel = ? ORDER BY position");
  for (s.bind(1, kernel); s.step();) out.push_back(nodeIdOf(s, 0));
  return out;
}

std::string Trace::programText(ScopeId kernel) {
  return uopscope::programText(nodes_->reader(), program(kernel));
}

std::vector<LaunchInfo> Trace::launches(int64_t from, int64_t count) {
  std::vector<LaunchInfo> out;
  Statement s = db_.prepare(fmt::format(
      "SELECT id, scope, kernel, device, flops, bytes, begin_ns, took_ns, {} FROM launch WHERE id >= "
      "? ORDER BY id LIMIT ?",
      version_ >= 2 ? "compiled, accessed, buffers" : "NULL, 0, NULL"));
  for (s.bind(1, from).bind(2, count == INT64_MAX ? -1 : count); s.step();) {
    LaunchInfo& l = out.emplace_back();
    l.id = s.integer(0);
    l.scope = s.integer(1);
    l.kernel = string(s.integer(2));
    l.device = string(s.integer(3));
    l.flops = s.integer(4);
    l.bytes = s.integer(5);
    l.beginNs = s.integer(6);
    l.ns = s.integer(7);
    l.compiled = s.integer(8);
    l.accessed = s.integer(9);
    std::string_view list = s.text(10);
    for (const char *at = list.data(), *end = at + list.size(); at < end; ++at) {
      int64_t id = 0;
      auto [next, error] = std::from_chars(at, end, id);
      if (error != std::errc()) continue;
      l.buffers.push_back(id);
      at = next;
    }
  }
  return out;
}

std::vector<BufferInfo> Trace::buffers() {
  std::vector<BufferInfo> out;
  for (Statement s = db_.prepare(
           "SELECT id, device, dtype, bytes, base, offset, begin_ns, end_ns FROM buffer ORDER BY id");
       s.step();) {
    out.push_back({s.integer(0), string(s.integer(1)), string(s.integer(2)), s.integer(3), s.integer(4),
                   s.integer(5), s.integer(6), std::nullopt});
    if (!s.isNull(7)) out.back().endNs = s.integer(7);
  }
  return out;
}

std::vector<PhaseInfo> Trace::phases(ScopeId scope) {
  std::vector<PhaseInfo> out;
  Statement s = db_.prepare("SELECT name, begin_ns, took_ns FROM phase WHERE scope = ? ORDER BY id");
  for (s.bind(1, scope); s.step();) out.push_back({scope, string(s.integer(0)), s.integer(1), s.integer(2)});
  return out;
}

std::vector<PhaseTotal> Trace::phaseTotals() {
  std::vector<PhaseTotal> out;
  int64_t whole = 0, known = 0;
  PhaseTotal schedule{"schedule", 0, 0}, run{"run", 0, 0};
  for (const ScopeInfo& s : scopes()) {
    if (!s.endNs) continue;
    if (s.kind == ScopeKind::Script && !s.parent) whole += *s.endNs - s.beginNs;
    if (s.kind != ScopeKind::Schedule) continue;
    ++schedule.times;
    schedule.ns += *s.endNs - s.beginNs;
  }
  if (schedule.times) out.push_back(schedule);
  for (Statement s =
           db_.prepare("SELECT name, count(*), sum(took_ns) FROM phase GROUP BY name ORDER BY min(id)");
       s.step();)
    out.push_back({string(s.integer(0)), s.integer(1), s.integer(2)});
  if (Statement s = db_.prepare("SELECT count(*), total(took_ns) FROM launch"); s.step() && s.integer(0)) {
    run.times = s.integer(0);
    run.ns = static_cast<int64_t>(s.real(1));
    out.push_back(run);
  }
  for (const PhaseTotal& t : out) known += t.ns;
  if (whole > known) out.insert(out.begin(), {"python", 1, whole - known});
  return out;
}

std::vector<CandidateInfo> Trace::candidates(ScopeId kernel) {
  std::vector<CandidateInfo> out;
  Statement s = db_.prepare("SELECT opts, message, took_ns FROM candidate WHERE scope = ? ORDER BY id");
  for (s.bind(1, kernel); s.step();) {
    out.push_back({printable(s.text(0)), printable(s.text(1)), std::nullopt});
    if (!s.isNull(2)) out.back().ns = s.integer(2);
  }
  return out;
}

std::vector<OutputInfo> Trace::outputs(int64_t from, int64_t count) {
  std::vector<OutputInfo> out;
  Statement s =
      db_.prepare("SELECT scope, stream, text, at_ns FROM output WHERE id >= ? ORDER BY id LIMIT ?");
  for (s.bind(1, from).bind(2, count == INT64_MAX ? -1 : count); s.step();)
    out.push_back({s.integer(0), printable(s.text(1)), printable(s.text(2)), s.integer(3)});
  return out;
}

} // namespace uopscope
