// synchronous=OFF: data handed to the system by a commit survives the death of this process, which is the
// usual end of a broken recording. Only a crash of the machine could damage the file, and a recording can be
// made again. Waits for the disk would otherwise dominate a step-by-step recording.
#include "replay/record/trace_writer.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace uopscope {

namespace {
constexpr size_t kMaxFileText = 1 << 20;
std::string_view scopeKindName(ScopeKind kind) {
  switch (kind) {
  case ScopeKind::Script: return "script";
  case ScopeKind::Schedule: return "schedule";
  case ScopeKind::Kernel: return "kernel";
  default: return "other";
  }
}
std::string_view passOutcomeName(int outcome) {
  switch (static_cast<PassOutcome>(outcome)) {
  case PassOutcome::Failed: return "failed";
  case PassOutcome::Stopped: return "stopped";
  default: return "done";
  }
}
} // namespace

TraceWriter::TraceWriter(Database db, Tier tier, RuleBook& book, int64_t startNs)
    : db_(std::move(db)), tier_(tier), book_(book), startNs_(startNs) {
  db_.execute("PRAGMA page_size = 2048");    // half the calls of pages of 512 bytes, and 1 % more bytes
  db_.execute("PRAGMA secure_delete = OFF"); // the blocks that grow hold no secret
  db_.execute("PRAGMA synchronous = OFF");   // first: the change of the journal would wait for the disk
  db_.execute("PRAGMA journal_mode = WAL");
  db_.execute("PRAGMA wal_autocheckpoint = 32000");
  db_.execute("PRAGMA cache_size = -16000");
  db_.execute("PRAGMA temp_store = MEMORY");
  createTables(db_);
  nodes_ = std::make_unique<NodeInterner>(db_);
  countWriter_ =
      std::make_unique<CountWriter>(db_, book_, [this](uint32_t rule) { return this->rule(rule); });
  steps_ = std::make_unique<RowBatch>(
      db_, "step",
      std::initializer_list<std::string_view>{"id", "pass", "rule", "before", "gain", "kind", "took_ns"});
  texts_ = std::make_unique<TextWriter>(db_);
  declined_ = std::make_unique<DeclineWriter>(db_);
  auto prepare = [&](const char* sql) { return db_.prepare(sql); };
  insertString_ = prepare("INSERT INTO string (id, value) VALUES (?, ?)");
  insertFile_ = prepare("INSERT INTO file (id, path, text) VALUES (?, ?, ?)");
  insertRule_ = prepare("INSERT INTO rule (id, name, file, line, text, pattern) VALUES (?, ?, ?, ?, ?, ?)");
  insertScope_ = prepare("INSERT INTO scope (id, parent, kind, name, file, line, begin_ns) VALUES (?, ?, ?, "
                         "?, ?, ?, ?)");
  rootScope_ = prepare("UPDATE scope SET root = ? WHERE id = ?");
  nameScope_ = prepare("UPDATE scope SET name = ? WHERE id = ?");
  endScope_ = prepare("UPDATE scope SET end_ns = ? WHERE id = ?");
  insertPass_ = prepare(
      "INSERT INTO pass (id, scope, parent, parent_steps, name, file, line, root, first_step, begin_ns, "
      "matcher, matcher_down) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  endPass_ = prepare("UPDATE pass SET end_root = ?, last_step = ?, step_count = ?, outcome = ?, message = ?, "
                     "end_ns = ? WHERE id = ?");
  insertError_ = prepare("INSERT INTO step_error (step, message) VALUES (?, ?)");
  insertGate_ = prepare("INSERT OR IGNORE INTO gate (pass, node, step) VALUES (?, ?, ?)");
  insertMatcher_ = prepare("INSERT INTO matcher (id, rules) VALUES (?, ?)");
  insertUnchanged_ = prepare("INSERT OR IGNORE INTO unchanged (pass, rule, node, step) VALUES (?, ?, ?, ?)");
  insertPhase_ = prepare("INSERT INTO phase (scope, name, begin_ns, took_ns) VALUES (?, ?, ?, ?)");
  insertBuffer_ = prepare("INSERT INTO buffer (id, device, dtype, bytes, base, offset, begin_ns) VALUES (?, "
                          "?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET device = excluded.device, "
                          "dtype = excluded.dtype, bytes = excluded.bytes, base = excluded.base, "
                          "offset = excluded.offset, begin_ns = excluded.begin_ns");
  freeBuffer_ = prepare("UPDATE buffer SET end_ns = ? WHERE id = ?");
  insertKernel_ =
      prepare("INSERT OR REPLACE INTO kernel (scope, device, opts, global_size, local_size, ops, bytes, "
              "accessed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  setRegisters_ = prepare("UPDATE kernel SET registers = ? WHERE scope = ?");
  insertCandidate_ = prepare("INSERT INTO candidate (scope, opts, message, took_ns) VALUES (?, ?, ?, ?)");
  insertDecision_ =
      prepare("INSERT INTO decision (step, reason, price, unit, others) VALUES (?, ?, ?, ?, ?)");
  insertOutput_ = prepare("INSERT INTO output (scope, stream, text, at_ns) VALUES (?, ?, ?, ?)");
  insertLaunch_ = prepare("INSERT INTO launch (scope, kernel, device, flops, bytes, begin_ns, took_ns, "
                          "compiled, accessed, buffers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insertOrigin_ = prepare("INSERT INTO origin (id, node, operation, file, line) VALUES (?, ?, ?, ?, ?)");
  insertCalls_ = prepare("INSERT INTO origin_calls (node, calls) VALUES (?, ?)");
  setMeta_ = prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  beginTransaction();
  Statement op = db_.prepare("INSERT INTO op (id, name) VALUES (?, ?)");
  for (int k = 0; k < kOpCount; ++k) op.bind(1, int64_t{k}).bind(2, opName(static_cast<Op>(k))).run();
  setMeta("status", traceStatus::kRecording);
  setMeta("tier", tierName(tier));
  commit();
}

void TraceWriter::beginTransaction() {
  if (!open_) db_.execute("BEGIN");
  open_ = true;
}

bool TraceWriter::commit() {
  if (!open_) return false;
  nodes_->flush();
  countWriter_->flush();
  steps_->flush();
  db_.execute("COMMIT");
  open_ = false;
  return true;
}

void TraceWriter::abandon() {
  try {
    if (open_) db_.execute("ROLLBACK");
  } catch (const Error&) { // SQLite rolled back by itself
  }
  open_ = false;
}

void TraceWriter::setMeta(const std::string& key, std::string_view value) {
  beginTransaction();
  setMeta_.bind(1, std::string_view(key)).bind(2, value).run();
}

int64_t TraceWriter::string(std::string_view text) {
  auto [it, fresh] = strings_.try_emplace(std::string(text), static_cast<int64_t>(strings_.size()) + 1);
  const int64_t id = it->second;
  if (!fresh) return id;
  insertString_.bind(1, id).bind(2, text).run();
  return id;
}

int64_t TraceWriter::file(std::string_view path) {
  if (path.empty()) return 0;
  auto [it, fresh] = files_.try_emplace(std::string(path), static_cast<int64_t>(files_.size()) + 1);
  const int64_t id = it->second;
  if (!fresh) return id;
  insertFile_.bind(1, id).bind(2, path).bindNull(3);
  if (path.ends_with(".py"))
    if (std::ifstream in{std::string(path), std::ios::binary}) {
      std::ostringstream text;
      text << in.rdbuf();
      if (text.view().size() <= kMaxFileText) insertFile_.bind(3, text.view());
    }
  insertFile_.run();
  return id;
}

void TraceWriter::addFileText(const std::string& path) {
  beginTransaction();
  file(path);
}

int64_t TraceWriter::matcher(uint32_t index) {
  if (index == 0) return 0;
  if (index >= matchers_.size()) matchers_.resize(index + 1);
  if (!matchers_[index]) {
    matchers_[index] = nextMatcher_++;
    std::vector<int64_t> rules;
    for (uint32_t ruleIndex : book_.rulesOf(index)) rules.push_back(rule(ruleIndex));
    const std::string list = fmt::format("[{}]", fmt::join(rules, ","));
    insertMatcher_.bind(1, matchers_[index]).bind(2, std::string_view(list)).run();
  }
  return matchers_[index];
}

int64_t TraceWriter::rule(uint32_t index) {
  if (index >= rules_.size()) rules_.resize(index + 1);
  if (!rules_[index]) {
    RuleText text = book_.text(index);
    int64_t fileId = file(text.file.empty() ? "?" : text.file);
    rules_[index] = nextRule_++;
    insertRule_.bind(1, rules_[index])
        .bind(2, text.name)
        .bind(3, fileId)
        .bind(4, int64_t{text.line})
        .bind(5, text.text)
        .bind(6, text.patternText())
        .run();
  }
  return rules_[index];
}

void TraceWriter::consume(Event& e) {
  if (e.kind == EventKind::PoolRetired) {
    for (OpenPass& pass : passes_)
      if (pass.root && pass.root->pool->serial() == e.rule) {
        if (!pass.id) {
          beginTransaction();
          pass.rootId = nodes_->intern(pass.root);
        }
        pass.root = nullptr;
      }
    for (OpenScope& scope : scopes_)
      if (scope.root && scope.root->pool->serial() == e.rule) scope.root = nullptr;
    programs_.erase(e.rule);
    std::erase_if(origins_, [&](const auto& entry) { return entry.first->pool->serial() == e.rule; });
    nodes_->forget(e.rule);
    return;
  }
  beginTransaction();
  switch (e.kind) {
  case EventKind::ScopeBegin:
    nodes_->beginEpoch(); // nodes of a tensor may have been freed and made again since
    scopeBegin(e);
    break;
  case EventKind::ScopeEnd: scopeEnd(e.ns); break;
  case EventKind::PassBegin: passBegin(e); break;
  case EventKind::PassEnd: passEnd(e); break;
  case EventKind::Step: step(e, false); break;
  case EventKind::RuleError: step(e, true); break;
  case EventKind::Gate:
    if (!passes_.empty()) {
      store(passes_.size());
      insertGate_.bind(1, passes_.back().id)
          .bind(2, int64_t{nodes_->intern(e.before)})
          .bind(3, nextStep_)
          .run();
    }
    break;
  case EventKind::Counts: counts(*e.payload); break;
  case EventKind::Declines:
    for (const Payload::Decline& d : e.payload->declines) declines_[{rule(d.rule), string(d.why)}] += d.count;
    break;
  case EventKind::Artifact: artifact(*e.payload); break;
  case EventKind::Launch: launch(e); break;
  case EventKind::Unchanged:
    if (!passes_.empty()) {
      store(passes_.size());
      insertUnchanged_.bind(1, passes_.back().id)
          .bind(2, rule(e.rule))
          .bind(3, int64_t{nodes_->intern(e.before)})
          .bind(4, nextStep_)
          .run();
    }
    break;
  case EventKind::Program: program(*e.payload); break;
  case EventKind::Phase:
    insertPhase_.bindId(1, currentScope())
        .bind(2, string(e.payload->name))
        .bind(3, e.ns - startNs_)
        .bind(4, e.payload->took)
        .run();
    break;
  case EventKind::Candidate:
    insertCandidate_.bindId(1, currentScope()).bind(2, e.payload->text).bindNull(3).bindNull(4);
    if (!e.payload->name.empty()) insertCandidate_.bind(3, e.payload->name);
    if (e.payload->took >= 0) insertCandidate_.bind(4, e.payload->took);
    insertCandidate_.run();
    break;
  case EventKind::Decision: pendingDecisions_.push_back(std::move(*e.payload->decision)); break;
  case EventKind::Buffer: buffer(e); break;
  case EventKind::Output:
    insertOutput_.bindId(1, currentScope())
        .bind(2, e.payload->name)
        .bind(3, e.payload->text)
        .bind(4, e.ns - startNs_)
        .run();
    break;
  case EventKind::Origin: origin(e); break;
  case EventKind::PoolRetired: break;
  }
  if (nodes_->hasMet())
    for (const Node* node : nodes_->takeMet()) {
      auto [begin, end] = origins_.equal_range(node);
      for (auto it = begin; it != end; ++it) writeOrigin(nodes_->idOf(node), *it->second);
      origins_.erase(begin, end);
    }
  ++rows_;
}

void TraceWriter::scopeBegin(Event& e) {
  const Payload& p = *e.payload;
  int64_t id = nextScope_++;
  insertScope_.bind(1, id)
      .bindId(2, currentScope())
      .bind(3, scopeKindName(p.scope))
      .bind(4, string(p.name))
      .bindId(5, file(p.file))
      .bind(6, int64_t{p.line})
      .bind(7, e.ns - startNs_)
      .run();
  scopes_.push_back({id, passes_.size(), tier_ == Tier::Full ? e.before : nullptr, {}, false});
}

void TraceWriter::scopeEnd(int64_t ns) {
  if (scopes_.empty()) return;
  while (passes_.size() > scopes_.back().passDepth) closePass(0, 0, 0, ns, false);
  endScope_.bind(1, ns - startNs_).bind(2, scopes_.back().id).run();
  scopes_.pop_back();
}

void TraceWriter::passBegin(Event& e) {
  OpenPass pass;
  pass.root = e.before;
  pass.begin = std::move(e.payload);
  pass.beginNs = e.ns;
  pass.firstStep = nextStep_;
  pass.scopeDepth = scopes_.size();
  size_t floor = scopes_.empty() ? 0 : scopes_.back().passDepth;
  bool nested = passes_.size() > floor;
  if (nested) {
    pass.parentSteps = passes_.back().steps;
    pass.outerDecisions = std::exchange(pendingDecisions_, {});
  }
  passes_.push_back(std::move(pass));
  if (!nested) store(passes_.size());
}

void TraceWriter::store(size_t depth) {
  if (passes_[depth - 1].id) return;
  size_t floor = scopes_.empty() ? 0 : scopes_.back().passDepth;
  bool nested = depth - 1 > floor;
  if (nested) store(depth - 1);
  OpenPass& pass = passes_[depth - 1];
  pass.id = nextPass_++;
  // A scope without a pass, such as a schedule from the cache, needs no graph.
  if (!scopes_.empty() && scopes_.back().root)
    rootScope_.bind(1, int64_t{nodes_->intern(std::exchange(scopes_.back().root, nullptr))})
        .bind(2, scopes_.back().id)
        .run();
  uint32_t root = tier_ != Tier::Full ? 0 : pass.root ? nodes_->intern(pass.root) : pass.rootId;
  const Payload& p = *pass.begin;
  insertPass_.bind(1, pass.id)
      .bindId(2, currentScope())
      .bindId(3, nested ? passes_[depth - 2].id : 0)
      .bind(4, pass.parentSteps)
      .bind(5, string(p.name))
      .bind(6, file(p.file.empty() ? "?" : p.file))
      .bind(7, int64_t{p.line})
      .bindId(8, root)
      .bind(9, pass.firstStep)
      .bind(10, pass.beginNs - startNs_)
      .bindId(11, matcher(p.matcher))
      .bindId(12, matcher(p.matcherDown))
      .run();
}

void TraceWriter::passEnd(const Event& e) {
  pendingDecisions_.clear(); // the rewrite that they explain was not made
  if (passes_.empty()) return;
  bool stored = passes_.back().id != 0;
  uint32_t root = stored && tier_ == Tier::Full ? nodes_->intern(e.before) : 0;
  closePass(root, e.flag, stored && e.payload ? string(e.payload->name) : 0, e.ns, true);
}

void TraceWriter::closePass(uint32_t endRoot, int outcome, int64_t message, int64_t ns, bool ended) {
  OpenPass pass = std::move(passes_.back());
  size_t floor = scopes_.empty() ? 0 : scopes_.back().passDepth;
  if (passes_.size() - 1 <= floor) writeCounts();
  passes_.pop_back();
  pendingDecisions_ = std::move(pass.outerDecisions);
  if (!pass.id || !ended) return;
  endPass_.bindId(1, endRoot)
      .bind(2, nextStep_ - 1)
      .bind(3, pass.steps)
      .bind(4, passOutcomeName(outcome))
      .bindId(5, message)
      .bind(6, ns - startNs_)
      .bind(7, pass.id)
      .run();
}

void TraceWriter::step(const Event& e, bool error) {
  bool alone = passes_.empty();
  if (alone) { // a matcher called outside graph_rewrite: a pass of one step
    Event begin;
    begin.kind = EventKind::PassBegin;
    begin.before = e.before;
    begin.ns = startNs_;
    begin.payload = std::make_unique<Payload>();
    begin.payload->name = "single rewrite";
    passBegin(begin);
  }
  store(passes_.size());
  uint32_t before = nodes_->intern(e.before), after = error ? 0 : nodes_->intern(e.after);
  int64_t ruleId = rule(e.rule);
  const RowBatch::Value gain = after ? RowBatch::Value(int64_t{after} - int64_t{before}) : std::nullopt;
  steps_->add({nextStep_, passes_.back().id, ruleId, before, gain, int64_t{error ? 2 : e.flag}, e.ns});
  if (error) insertError_.bind(1, nextStep_).bind(2, e.payload->name).run();
  writeDecisions();
  ++nextStep_;
  ++passes_.back().steps;
  if (alone) closePass(after, error ? 1 : 0, 0, startNs_, true);
}

void TraceWriter::writeDecisions() {
  for (const Decision& d : pendingDecisions_) {
    insertDecision_.bind(1, nextStep_).bind(2, d.reason).bindNull(3).bindNull(4).bindNull(5);
    if (d.price) insertDecision_.bind(3, *d.price);
    if (!d.unit.empty()) insertDecision_.bind(4, d.unit);
    if (!d.others.empty()) {
      auto others = nlohmann::json::array();
      for (const Decision::Alternative& a : d.others)
        others.push_back({{"what", a.what}, {"price", a.price}});
      insertDecision_.bind(5, others.dump());
    }
    insertDecision_.run();
  }
  pendingDecisions_.clear();
}

void TraceWriter::counts(const Payload& payload) {
  if (passes_.empty()) return;
  size_t floor = scopes_.empty() ? 0 : scopes_.back().passDepth;
  bool nested = passes_.size() - 1 > floor;
  int64_t name = nested ? string(passes_.back().begin->name) : 0;
  const uint64_t matches = counts_[name].add(payload.counts);
  if (tier_ == Tier::Stats) passes_.back().steps += static_cast<int64_t>(matches);
}

void TraceWriter::writeCounts() {
  for (const auto& [nested, sums] : counts_) {
    countWriter_->add(passes_.back().id, nested, sums);
    totals_.add(sums);
  }
  declined_->add(passes_.back().id, declines_);
  rows_ += counts_.size() + declines_.size();
  counts_.clear();
  declines_.clear();
}

void writeTotals(const Database& db, const MatchCounts& totals) {
  Statement insert = db.prepare(
      "INSERT OR REPLACE INTO match_total (rule, op, rejected_early, structure_differs, declined, applied, "
      "unchanged, "
      "rejected_early_ns, structure_differs_ns, declined_ns, applied_ns, unchanged_ns) VALUES (?, ?, ?, ?, "
      "?, ?, ?, ?, ?, ?, ?, ?)");
  totals.forEach([&](uint32_t rule, uint32_t op, const MatchCell& cell) {
    insert.bind(1, int64_t{rule}).bind(2, int64_t{op});
    for (int k = 0; k < kOutcomeCount; ++k) {
      insert.bind(3 + k, static_cast<int64_t>(cell.count[static_cast<size_t>(k)]));
      insert.bind(3 + kOutcomeCount + k, cell.ns[static_cast<size_t>(k)]);
    }
    insert.run();
  });
}
namespace {
/// Blocks that were written while they grew leave free pages behind, and these are a large part of a small
/// trace.
void dropFreePages(const Database& db) {
  if (db.pragma("freelist_count") * 50 < db.pragma("page_count")) return;
  try {
    db.execute("VACUUM");
  } catch (const Error&) { // a reader has the file open: the pages stay
  }
}
} // namespace

void TraceWriter::finish(std::string_view status, std::string_view message, int64_t endNs) {
  setMeta("status", status);
  if (!message.empty()) setMeta("message", message);
  setMeta("steps", fmt::format("{}", steps()));
  setMeta("nodes", fmt::format("{}", nodes_->count()));
  setMeta("time.took_ns", fmt::format("{}", endNs - startNs_));
  writeTotals(db_, countWriter_->named(totals_));
  steps_->flush();
  createIndexes(db_);
  commit();
  dropFreePages(db_); // while a journal exists, so that a death here leaves a readable file
  db_.makeOneFile();
}

void sealTrace(const std::string& path, std::string_view status, std::string_view message) {
  Database db = Database::openForWriting(path);
  Statement s = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)");
  db.execute("BEGIN");
  s.bind(1, "status").bind(2, status).run();
  s.bind(1, "message").bind(2, message).run();
  MatchCounts totals;
  for (MatchBlockReader in(db, 1, INT64_MAX); in.next();)
    in.decode([&](uint32_t rule, uint32_t op, const MatchCell& cell) { totals.add(rule, op, cell); });
  writeTotals(db, totals);
  createIndexes(db);
  db.execute("COMMIT");
  db.makeOneFile();
}

} // namespace uopscope
