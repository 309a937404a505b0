// Turns the tables of a trace into compilations. The places where nested passes began give the order of
// events.
#include "replay/compare/stored_compilations.h"

#include "engine/base/error.h"
#include "replay/read/materialize.h"
#include "replay/read/trace.h"
#include "replay/schema/schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

namespace uopscope {

namespace fs = std::filesystem;

namespace {

/// Makes the compilation of one scope.
class Reading {
public:
  Reading(Trace& trace, const ScopeInfo& scope)
      : trace_(trace), scope_(scope), passes_(trace.passes(scope.id)), again_(trace.nodes().reader(), pool_) {
  }

  Compilation make() {
    PoolScope inPool(pool_);
    Compilation c;
    c.kind = scope_.kind;
    c.name = scope_.name;
    c.file = scope_.script.file;
    c.line = scope_.script.line;
    c.settings = trace_.meta("settings");
    UOp root = again_(scope_.root);
    c.graph = graphToText(root);
    for (const ArtifactInfo& a : trace_.artifacts(scope_.id))
      if (a.id > 0 && a.kind == "held")
        c.graph += heldLine(trace_.artifactText(a.id));
      else if (a.id > 0)
        setText(c, a.kind, trace_.artifactText(a.id));
    uint32_t first = story_.add(root);
    for (const PassInfo& p : passes_)
      if (p.parent == 0) addPass(p, c);
    c.compileNs = scope_.endNs.value_or(scope_.beginNs) - scope_.beginNs;
    int64_t toSource = 0;
    for (const PhaseInfo& phase : trace_.phases(scope_.id))
      if (phase.name == "lower" || phase.name == "render") toSource += phase.ns;
    if (toSource) c.compileNs = toSource;
    if (c.kind == ScopeKind::Kernel && c.source.empty() && c.status == "ok") {
      c.status = "failed";
      c.message = "the compilation ended before there was source";
    }
    c.story = story_.take();
    c.story.events = std::move(events_);
    c.story.root = first;
    return c;
  }

private:
  uint32_t number(NodeId id) { return id == kNoNode ? 0 : story_.add(again_(id)); }
  void event(StoryEvent::Kind kind, std::string_view word, NodeId node) {
    const uint32_t first = number(node);
    uint64_t w = kind == StoryEvent::PassEnd ? 0 : story_.word(word);
    putVarint(events_, w << 2 | kind);
    putVarint(events_, first);
  }

  void addPass(const PassInfo& p, Compilation& c) {
    event(StoryEvent::PassBegin, p.name, p.root);
    int64_t made = 0;
    auto nested = [&] {
      for (const PassInfo& child : passes_)
        if (child.parent == p.id && child.parentSteps == made) addPass(child, c);
    };
    bool hasNested = std::any_of(passes_.begin(), passes_.end(),
                                 [&](const PassInfo& child) { return child.parent == p.id; });
    if (hasNested) nested();
    for (const StepInfo& s : trace_.steps(p.id)) {
      const std::string& rule = trace_.rule(s.rule).name;
      if (s.kind == StepKind::RewriteError) {
        event(StoryEvent::Error, rule, s.before);
        c.status = "failed";
        c.message = trace_.stepMessage(s.id);
      } else {
        event(StoryEvent::Step, rule, s.before);
        putVarint(events_, number(s.after));
      }
      ++made;
      if (hasNested) nested();
    }
    event(StoryEvent::PassEnd, {}, p.endRoot);
    if (p.outcome != PassOutcome::Done && c.status == "ok") {
      c.status = "failed";
      c.message = p.message.empty() ? fmt::format("pass '{}' did not end", p.name) : p.message;
    }
  }

  Trace& trace_;
  const ScopeInfo& scope_;
  const std::vector<PassInfo> passes_;
  Pool pool_;
  Materializer again_;
  StoryGraph story_;
  std::string events_;
};

bool compiles(const ScopeInfo& scope) {
  return scope.kind == ScopeKind::Kernel || scope.kind == ScopeKind::Schedule;
}

bool holdsTrace(const std::string& path) {
  try {
    return Database::openReadOnly(path).pragma("application_id") == kTraceApplicationId;
  } catch (const Error&) {
    return false; // the code that opens the file reports the fault
  }
}

} // namespace

bool isTraceFile(const std::string& path) {
  return path.ends_with(".uoptrace") || holdsTrace(path);
}

Compilation storedCompilation(Trace& trace, ScopeId id) {
  const ScopeInfo& scope = trace.scope(id);
  if (!compiles(scope))
    throw Error(ErrorKind::Value, fmt::format("{} is no kernel and no schedule: only these are compiled "
                                              "again; uopscope ls {} lists them",
                                              scope.name, trace.path()));
  return Reading(trace, scope).make();
}

size_t addCompilations(Corpus& corpus, Trace& trace, const std::function<bool(double)>& progress,
                       std::map<uint64_t, int64_t>* scopes) {
  size_t foreign = 0, done = 0;
  for (const ScopeInfo& scope : trace.scopes()) {
    if (progress && !progress(static_cast<double>(done++) / static_cast<double>(trace.scopes().size())))
      throw Error(ErrorKind::Runtime, fmt::format("{}: reading was stopped", trace.path()));
    if (!compiles(scope) || scope.root == kNoNode || trace.passes(scope.id).empty()) continue;
    try {
      const Compilation made = Reading(trace, scope).make();
      if (scopes) scopes->emplace(made.inputHash(), scope.id);
      corpus.add(made);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::File && e.kind() != ErrorKind::Value) throw;
      ++foreign;
    }
  }
  RuleCounts counts;
  for (const MatchTotals& t : trace.matchTotals(MatchGroup::Everything)) {
    const RuleInfo& rule = trace.rule(t.rule);
    RuleCount& total = counts[{t.passName, rule.name, rule.at.file, rule.at.line}];
    for (int i = 0; i < kOutcomeCount; ++i) {
      total.count[i] += t.count[i];
      total.ns += t.ns[i];
    }
  }
  corpus.addCounts(counts);
  for (auto [from, to] :
       {std::pair{"version", "program_version"}, {"git.commit", "commit"}, {"machine", "machine"}})
    if (const std::string& value = trace.meta(from); !value.empty()) corpus.setMeta(to, value);
  return foreign;
}

TemporaryFile::TemporaryFile(const std::string& suffix) {
  static std::atomic<int> number = 0;
  path_ = (fs::temp_directory_path() / fmt::format("uopscope-{}-{}{}", getpid(), ++number, suffix)).string();
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  for (const char* more : {"", "-journal", "-wal", "-shm"}) fs::remove(path_ + more, ignored);
}

StoredCompilations::StoredCompilations(const std::string& path, const std::function<bool(double)>& progress)
    : given_(path) {
  if (!holdsTrace(path)) {
    warning_ = Corpus::open(path).warning();
    return;
  }
  Trace trace(path);
  made_ = std::make_unique<TemporaryFile>(".uopcorpus");
  Corpus corpus = Corpus::create(made_->path());
  size_t foreign = addCompilations(corpus, trace, progress, &scopes_);
  corpus.setMeta("title", path);
  corpus.finish();
  warning_ = trace.warning();
  if (foreign)
    warning_ += fmt::format("{}{} compilations of {} use operations this build does not know",
                            warning_.empty() ? "" : "; ", foreign, path);
  if (trace.meta("tier") != "full")
    warning_ += fmt::format("{}{} was recorded without its rewrites (tier {})", warning_.empty() ? "" : "; ",
                            path, trace.meta("tier"));
}

} // namespace uopscope
