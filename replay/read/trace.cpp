// The queries. Small tables (scopes, meta, rules) are read at once; passes per scope, steps per pass, nodes
// per page.
#include "replay/read/trace.h"

#include "replay/read/interrupt.h"
#include "replay/read/names.h"
#include "replay/read/sql_tables.h"
#include "replay/schema/printable.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace uopscope {

namespace {
constexpr int kDeepest = 500; ///< deepest nesting of scopes and of passes
}

Trace::Trace(const std::string& path, std::shared_ptr<const TraceOverview> known)
    : db_(openTrace(path)), version_(db_.pragma("user_version")),
      overview_(known ? std::move(known) : std::make_shared<TraceOverview>()) {
  nodes_ = std::make_unique<NodeTable>(db_);
  if (version_ >= kLineSchemaVersion) texts_ = std::make_unique<TextReader>(db_);
  addSqlTables(*this);
  refresh();
}

Trace::~Trace() {
  // A reader that followed the recording to its end kept the journal alive, so it has to remove it.
  std::error_code ignored;
  if (!finished() || !std::filesystem::exists(path() + "-wal", ignored)) return;
  nodes_.reset();
  texts_.reset();
  selectString_ = {};
  db_.close();
  try {
    Database::openForWriting(path()).makeOneFile();
  } catch (const Error&) { // the folder is read-only, or there are further readers
  }
}

bool Trace::refresh(std::shared_ptr<const TraceOverview> known) {
  int64_t version = db_.pragma("data_version");
  if (version == dataVersion_ && !known) return false;
  dataVersion_ = version;
  passes_.clear();
  rules_.clear();
  if (known) {
    overview_ = std::move(known);
    nodes_->refresh();
    return true;
  }
  auto fresh = std::make_shared<TraceOverview>();
  loadMeta(*fresh);
  // The overview of an ended recording never changes. A replaced file shows by its different meta times.
  if (!finished() || fresh->meta != overview_->meta) {
    loadScopes(*fresh);
    overview_ = std::move(fresh);
  }
  nodes_->refresh();
  return true;
}

void Trace::loadMeta(TraceOverview& overview) const {
  for (Statement s = db_.prepare("SELECT key, value FROM meta"); s.step();)
    overview.meta.emplace(printable(s.text(0)), printable(s.text(1)));
}

const std::string& Trace::meta(const std::string& key) const {
  static const std::string none;
  auto it = meta().find(key);
  return it == meta().end() ? none : it->second;
}

bool Trace::finished() const {
  return !status().empty() && status() != traceStatus::kRecording; // empty: killed as it began
}

std::string Trace::warning() const {
  const std::string& s = status();
  if (s == traceStatus::kComplete) return {};
  if (s.empty() || s == traceStatus::kRecording)
    return "the recording is still going on, or its process was killed: this is the part up to the last "
           "commit";
  std::string why = meta("message").empty() ? "" : ": " + meta("message");
  if (s == traceStatus::kFailed) return "the script failed" + why;
  if (s == traceStatus::kInterrupted) return "the recording was interrupted" + why;
  if (s == traceStatus::kCrashed) return "the script crashed" + why;
  if (s == traceStatus::kFull) return "the recording stopped early" + why;
  return fmt::format("the recording ended with status \"{}\"{}", s, why);
}

std::string Trace::string(int64_t id) {
  if (id == 0) return {};
  auto it = strings_.find(id);
  if (it != strings_.end()) return it->second;
  if (!selectString_) selectString_ = db_.prepare("SELECT value FROM string WHERE id = ?");
  bool there = selectString_.bind(1, id).step();
  std::string value = there ? printable(selectString_.text(0)) : fmt::format("(string {} is missing)", id);
  selectString_.reset(); // an open statement would pin the old state of the file
  return strings_[id] = value;
}

FileLine Trace::fileLine(int64_t file, int64_t line) {
  if (file == 0) return {};
  auto it = files_.find(file);
  if (it == files_.end()) {
    Statement s = db_.prepare("SELECT path FROM file WHERE id = ?");
    it = files_
             .emplace(file, s.bind(1, file).step() ? printable(s.text(0))
                                                   : fmt::format("(file {} is missing)", file))
             .first;
  }
  return {it->second, static_cast<int>(std::clamp<int64_t>(line, 0, INT32_MAX))};
}

NodeId Trace::nodeIdOf(int64_t id) {
  if (id < 0 || id >= kFirstViewNode)
    throw Error(ErrorKind::File, fmt::format("node id {} is out of range; the file is damaged", id));
  return static_cast<NodeId>(id);
}

namespace {
ScopeKind scopeKindOf(std::string_view text) {
  if (text == "script") return ScopeKind::Script;
  if (text == "schedule") return ScopeKind::Schedule;
  if (text == "kernel") return ScopeKind::Kernel;
  return ScopeKind::Other;
}
constexpr const char* kPassColumns =
    "SELECT id, parent, scope, parent_steps, name, file, line, root, end_root, first_step, last_step, "
    "step_count, outcome, message, begin_ns, end_ns FROM pass ";
} // namespace

void Trace::loadScopes(TraceOverview& overview) {
  std::vector<ScopeInfo>& scopes = overview.scopes;
  std::vector<int> depths;
  std::unordered_map<int64_t, size_t> at;
  for (Statement s = db_.prepare("SELECT scope.id, parent, kind, value, file, line, root, begin_ns, end_ns, "
                                 "name FROM scope LEFT JOIN "
                                 "string ON string.id = scope.name ORDER BY scope.id");
       s.step();) {
    ScopeInfo scope;
    scope.id = s.integer(0);
    scope.parent = s.integer(1);
    if (scope.id < 1 || (scope.parent && !at.contains(scope.parent)))
      throw Error(ErrorKind::File,
                  fmt::format("{}: scope {} is not valid; the file is damaged", path(), scope.id));
    scope.kind = scopeKindOf(s.text(2));
    scope.name = s.isNull(3) ? string(s.integer(9)) : printable(s.text(3));
    scope.script = fileLine(s.integer(4), s.integer(5));
    scope.root = nodeIdOf(s, 6);
    scope.beginNs = s.integer(7);
    if (!s.isNull(8)) scope.endNs = s.integer(8);
    // Readers walk scopes and passes by recursion. Nesting deeper than any compiler makes is refused here, as
    // it is read.
    const int depth = scope.parent ? depths[at[scope.parent]] + 1 : 0;
    if (depth > kDeepest)
      throw Error(ErrorKind::File,
                  fmt::format("{}: scope {} is nested {} deep, at most {} are read; the file is damaged",
                              path(), scope.id, depth, kDeepest));
    at[scope.id] = scopes.size();
    scopes.push_back(std::move(scope));
    depths.push_back(depth);
  }
  for (Statement s =
           db_.prepare("SELECT scope, sum(step_count) FROM pass WHERE step_count > 0 GROUP BY scope");
       s.step();)
    if (auto it = at.find(s.integer(0)); it != at.end()) scopes[it->second].steps = s.integer(1);
  if (const auto ended = overview.meta.find("status");
      ended == overview.meta.end() || ended->second != traceStatus::kComplete) { // some passes had not ended
    Statement s = db_.prepare("SELECT pass.scope, count(*) FROM pass JOIN step ON step.id >= pass.first_step "
                              "AND step.pass = pass.id "
                              "WHERE pass.step_count IS NULL GROUP BY pass.scope");
    while (s.step())
      if (auto it = at.find(s.integer(0)); it != at.end()) scopes[it->second].steps += s.integer(1);
  }
  for (size_t k = scopes.size(); k-- > 0;) { // children come after their parents
    scopes[k].totalSteps += scopes[k].steps;
    if (scopes[k].parent) scopes[at[scopes[k].parent]].totalSteps += scopes[k].totalSteps;
  }
}

const ScopeInfo& Trace::scope(ScopeId id) const {
  auto it = std::lower_bound(scopes().begin(), scopes().end(), id,
                             [](const ScopeInfo& s, ScopeId wanted) { return s.id < wanted; });
  if (it == scopes().end() || it->id != id)
    throw Error(ErrorKind::Key, fmt::format("{}: there is no scope {}", path(), id));
  return *it;
}

std::vector<ScopeId> Trace::childrenOf(ScopeId id) const {
  std::vector<ScopeId> out;
  for (const ScopeInfo& s : scopes())
    if (s.parent == id) out.push_back(s.id);
  return out;
}

const std::vector<PassInfo>& Trace::passes(ScopeId scopeId) {
  if (const auto it = passes_.find(scopeId); it != passes_.end()) return it->second;
  // A statement that ends with the block would hide how the reading ended.
  std::unordered_map<int64_t, size_t> at;
  Statement s = db_.prepare(std::string(kPassColumns) +
                            (scopeId ? "WHERE scope = ? ORDER BY id" : "WHERE scope IS NULL ORDER BY id"));
  if (scopeId) s.bind(1, scopeId);
  Statement count = db_.prepare("SELECT count(*) FROM step WHERE id >= ? AND pass = ?");
  std::vector<PassInfo>& out = passes_[scopeId];
  try {
    while (s.step()) {
      PassInfo p;
      p.id = s.integer(0);
      p.parent = s.integer(1);
      p.scope = s.integer(2);
      p.parentSteps = s.integer(3);
      p.name = string(s.integer(4));
      if (p.name.empty()) p.name = "rewrite";
      p.at = fileLine(s.integer(5), s.integer(6));
      p.root = nodeIdOf(s, 7);
      p.endRoot = nodeIdOf(s, 8);
      p.firstStep = s.integer(9);
      p.lastStep = s.isNull(10) ? INT64_MAX : s.integer(10);
      p.steps = s.isNull(11) ? -1 : s.integer(11);
      if (!s.isNull(12))
        p.outcome = s.text(12) == "failed"    ? PassOutcome::Failed
                    : s.text(12) == "stopped" ? PassOutcome::Stopped
                                              : PassOutcome::Done;
      p.message = string(s.integer(13));
      p.beginNs = s.integer(14);
      if (!s.isNull(15)) p.endNs = s.integer(15);
      if (p.parent >= p.id) // a walk down from a pass would go in a circle
        throw Error(
            ErrorKind::File,
            fmt::format("{}: pass {} is said to run inside pass {}, which began later; the file is damaged",
                        path(), p.id, p.parent));
      if (auto parent = at.find(p.parent); parent != at.end()) p.depth = out[parent->second].depth + 1;
      if (p.depth > kDeepest)
        throw Error(ErrorKind::File,
                    fmt::format("{}: pass {} is nested {} deep, at most {} are read; the file is damaged",
                                path(), p.id, p.depth, kDeepest));
      at[p.id] = out.size();
      out.push_back(std::move(p));
    }
    for (size_t k = out.size(); k-- > 0;) {
      if (out[k].steps < 0) {
        count.bind(1, out[k].firstStep).bind(2, out[k].id);
        out[k].steps = count.step() ? count.integer(0) : 0;
        count.reset();
      }
      if (auto parent = at.find(out[k].parent); parent != at.end() && parent->second < k)
        out[parent->second].nestedSteps += out[k].steps + out[k].nestedSteps;
    }
  } catch (const Error&) {
    if (wasStopped(db_)) passes_.erase(scopeId);
    throw;
  }
  return out;
}

PassInfo Trace::pass(PassId id) {
  Statement s = db_.prepare("SELECT scope FROM pass WHERE id = ?");
  if (s.bind(1, id).step())
    for (const PassInfo& p : passes(s.integer(0)))
      if (p.id == id) return p;
  throw Error(ErrorKind::Key, fmt::format("{}: there is no pass {}", path(), id));
}

std::vector<StepInfo> Trace::steps(PassId passId, int64_t from, int64_t count) {
  Statement range = db_.prepare("SELECT first_step, last_step FROM pass WHERE id = ?");
  if (!range.bind(1, passId).step())
    throw Error(ErrorKind::Key, fmt::format("{}: there is no pass {}", path(), passId));
  Statement s = db_.prepare(
      "SELECT id, rule, before, after, kind, took_ns FROM step WHERE id BETWEEN ? AND ? AND pass = ? "
      "ORDER BY id LIMIT ? OFFSET ?");
  from = std::max<int64_t>(from, 1);
  s.bind(1, range.integer(0))
      .bind(2, range.isNull(1) ? INT64_MAX : range.integer(1))
      .bind(3, passId)
      .bind(4, count == INT64_MAX ? -1 : count)
      .bind(5, from - 1);
  std::vector<StepInfo> out;
  while (s.step()) {
    int64_t kind = s.integer(4);
    if (kind < 0 || kind > 2)
      throw Error(ErrorKind::File,
                  fmt::format("{}: step {} is of no known kind; the file is damaged", path(), s.integer(0)));
    out.push_back({s.integer(0), from + static_cast<int64_t>(out.size()), s.integer(1), nodeIdOf(s, 2),
                   nodeIdOf(s, 3), static_cast<StepKind>(kind), s.integer(5)});
  }
  return out;
}

std::string Trace::stepMessage(StepId step) {
  Statement s = db_.prepare("SELECT message FROM step_error WHERE step = ?");
  return s.bind(1, step).step() ? printable(s.text(0)) : std::string();
}

std::vector<NodeId> Trace::gates(PassId pass, std::vector<StepId>* since) {
  std::vector<NodeId> out;
  Statement s = db_.prepare("SELECT node, step FROM gate WHERE pass = ?");
  for (s.bind(1, pass); s.step();) {
    out.push_back(nodeIdOf(s, 0));
    if (since) since->push_back(s.integer(1));
  }
  return out;
}

const std::vector<RuleInfo>& Trace::rules() {
  if (!rules_.empty()) return rules_;
  Statement s = db_.prepare("SELECT id, name, file, line, text, pattern FROM rule ORDER BY id");
  try {
    while (s.step())
      rules_.push_back({s.integer(0), printable(s.text(1)), fileLine(s.integer(2), s.integer(3)),
                        printable(s.text(4)), printable(s.text(5))});
  } catch (const Error&) {
    if (wasStopped(db_)) rules_.clear();
    throw;
  }
  return rules_;
}

const RuleInfo& Trace::rule(RuleId id) {
  const auto& all = rules();
  auto it = std::lower_bound(all.begin(), all.end(), id,
                             [](const RuleInfo& r, RuleId wanted) { return r.id < wanted; });
  if (it == all.end() || it->id != id)
    throw Error(ErrorKind::Key, fmt::format("{}: there is no rule {}", path(), id));
  return *it;
}

std::vector<OriginInfo> Trace::origins(NodeId node) {
  std::vector<OriginInfo> out;
  Statement s = db_.prepare("SELECT operation, file, line FROM origin WHERE node = ? ORDER BY id");
  for (s.bind(1, int64_t{node}); s.step();) {
    OriginInfo origin{node, string(s.integer(0)), fileLine(s.integer(1), s.integer(2))};
    bool known = std::any_of(out.begin(), out.end(), [&](const OriginInfo& o) {
      return o.operation == origin.operation && o.script.file == origin.script.file &&
             o.script.line == origin.script.line;
    });
    if (!known) out.push_back(std::move(origin));
  }
  return out;
}

std::vector<OriginInfo> Trace::allOrigins() {
  std::vector<OriginInfo> out;
  for (Statement s = db_.prepare("SELECT node, operation, file, line FROM origin ORDER BY id"); s.step();)
    out.push_back({nodeIdOf(s, 0), string(s.integer(1)), fileLine(s.integer(2), s.integer(3))});
  return out;
}

std::string Trace::scriptName() const {
  std::string whole = meta("script");
  for (const ScopeInfo& s : scopes()) {
    std::string_view tail = s.script.file;
    if (tail == whole) return whole;
    while (tail.starts_with("./") || tail.starts_with("../")) tail.remove_prefix(tail[1] == '/' ? 2 : 3);
    if (!tail.empty() && whole.size() > tail.size() && whole.ends_with(tail) &&
        whole[whole.size() - tail.size() - 1] == '/')
      return s.script.file;
  }
  return whole;
}

std::optional<std::string> Trace::fileText(const std::string& file) {
  Statement s = db_.prepare("SELECT text FROM file WHERE path = ? AND text IS NOT NULL");
  if (!s.bind(1, std::string_view(file)).step()) return std::nullopt;
  return printable(s.text(0));
}

namespace {
bool isNumber(const std::string& text) {
  return !text.empty() && text.size() < 19 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
} // namespace

ScopeId findScope(const std::vector<ScopeInfo>& scopes, const std::string& text, const std::string& path) {
  for (const ScopeInfo& s : scopes)
    if (s.name == text && s.kind == ScopeKind::Kernel) return s.id;
  for (const ScopeInfo& s : scopes)
    if (s.name == text) return s.id;
  if (isNumber(text)) {
    int64_t id = std::stoll(text);
    for (const ScopeInfo& s : scopes)
      if (s.id == id) return id;
  }
  std::string names;
  size_t shown = 0;
  for (const ScopeInfo& s : scopes)
    if ((s.kind == ScopeKind::Kernel || s.kind == ScopeKind::Schedule) && ++shown <= 12)
      names += fmt::format("{}{} {}", names.empty() ? "" : ", ", s.id, s.name);
  if (shown > 12) names += fmt::format(" and {} more (uopscope ls lists them)", shown - 12);
  throw Error(ErrorKind::Key, fmt::format("{}: there is no kernel or schedule \"{}\"; there are: {}", path,
                                          text, names.empty() ? "none" : names));
}

PassId findPass(const std::vector<PassInfo>& all, const std::string& text, const std::string& path,
                const std::string& scope) {
  std::string name = text;
  int64_t wanted = 1;
  if (size_t hash = text.rfind('#'); hash != std::string::npos && isNumber(text.substr(hash + 1))) {
    name = text.substr(0, hash);
    wanted = std::stoll(text.substr(hash + 1));
  }
  int64_t seen = 0;
  for (const PassInfo& p : all)
    if (p.name == name && ++seen == wanted) return p.id;
  if (isNumber(text)) {
    int64_t n = std::stoll(text);
    if (n >= 1 && n <= static_cast<int64_t>(all.size())) return all[static_cast<size_t>(n - 1)].id;
  }
  std::string names;
  size_t shown = 0;
  for (size_t k = 0; k < all.size(); ++k)
    if (all[k].depth == 0 && ++shown <= 40)
      names += fmt::format("{}{} \"{}\"", names.empty() ? "" : ", ", k + 1, all[k].name);
  throw Error(ErrorKind::Key, fmt::format("{}: \"{}\" has no pass \"{}\"; there are: {}", path, scope, text,
                                          names.empty() ? "none" : names));
}

ScopeId Trace::findScope(const std::string& text) const {
  return uopscope::findScope(scopes(), text, path());
}

PassId Trace::findPass(ScopeId id, const std::string& text) {
  return uopscope::findPass(passes(id), text, path(), scope(id).name);
}

} // namespace uopscope
