#include "viz/models/trace_extras.h"

namespace uopscope {
namespace {

bool has(Trace& trace, const char* table, const char* column) {
  Statement s = trace.database().prepare("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2");
  s.bind(1, std::string_view(table)).bind(2, std::string_view(column));
  return s.step();
}

} // namespace

std::vector<PhasePart> phasesOf(Trace& trace) {
  std::vector<PhasePart> out;
  if (!has(trace, "phase", "took_ns")) return out;
  Statement s = trace.database().prepare("SELECT scope, value, begin_ns, took_ns FROM phase JOIN string ON "
                                         "string.id = phase.name ORDER BY begin_ns");
  while (s.step()) out.push_back({s.integer(0), std::string(s.text(1)), s.integer(2), s.integer(3)});
  return out;
}

std::vector<BufferLife> buffersOf(Trace& trace) {
  std::vector<BufferLife> out;
  if (!has(trace, "buffer", "base")) return out;
  Statement s =
      trace.database().prepare("SELECT buffer.id, bytes, begin_ns, end_ns, value FROM buffer JOIN string "
                               "ON string.id = buffer.device WHERE base IS NULL AND bytes > 0");
  while (s.step()) {
    BufferLife b{s.integer(0), s.integer(1), s.integer(2), {}, std::string(s.text(4))};
    if (!s.isNull(3)) b.end = s.integer(3);
    out.push_back(std::move(b));
  }
  return out;
}

std::vector<NodeId> programOf(Trace& trace, ScopeId kernel) {
  std::vector<NodeId> out;
  if (!has(trace, "instruction", "node")) return out;
  Statement s = trace.database().prepare("SELECT node FROM instruction WHERE kernel = ?1 ORDER BY position");
  s.bind(1, kernel);
  while (s.step()) out.push_back(static_cast<NodeId>(s.integer(0)));
  return out;
}

std::vector<ProgramLine> programLines(Trace& trace, ScopeId kernel) {
  std::vector<ProgramLine> out;
  if (!has(trace, "text_line", "instruction")) return out;
  Statement s = trace.database().prepare(
      "SELECT value, line, instruction FROM text_line JOIN artifact ON artifact.id = text_line.artifact JOIN "
      "string "
      "ON string.id = artifact.kind WHERE artifact.scope = ?1 ORDER BY artifact.id, line");
  s.bind(1, kernel);
  while (s.step()) out.push_back({std::string(s.text(0)), s.integer(1), static_cast<uint32_t>(s.integer(2))});
  return out;
}

std::map<int64_t, ScopeId> loweredAt(Trace& trace) {
  std::map<int64_t, ScopeId> out;
  if (!has(trace, "launch", "compiled")) return out;
  Statement s = trace.database().prepare("SELECT id, compiled FROM launch WHERE compiled IS NOT NULL");
  while (s.step()) out.emplace(s.integer(0), s.integer(1));
  return out;
}

} // namespace uopscope
