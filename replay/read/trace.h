// A trace opened for reading, finished or still growing. Everything is loaded when asked for, in pieces, so a
// file of a gigabyte opens at once; the file is untrusted: every id and blob is checked and Error(File) says
// what is wrong. One Trace belongs to one thread; open another one for another thread.
//
//   Trace trace("run.uoptrace");
//   for (const ScopeInfo& scope : trace.scopes())
//     for (const PassInfo& pass : trace.passes(scope.id)) print(scope.name, pass.name, pass.steps);
//   if (!trace.finished() && trace.refresh()) redraw();      // it grew
#pragma once
#include "engine/rewrite/observer.h"
#include "replay/read/node_table.h"
#include "replay/schema/database.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace uopscope {

using ScopeId = int64_t;
using PassId = int64_t;
using RuleId = int64_t;
using StepId = int64_t; ///< position in the whole trace, from 1

struct FileLine {
  std::string file;
  int line = 0;
  bool known() const { return !file.empty(); }
};

struct ScopeInfo {
  ScopeId id = 0, parent = 0;
  ScopeKind kind = ScopeKind::Other;
  std::string name; ///< "r_16_16"
  FileLine script;
  NodeId root = kNoNode;
  int64_t beginNs = 0;
  std::optional<int64_t> endNs; ///< none: it had not ended
  int64_t steps = 0;            ///< of all its passes, nested ones too; not those of scopes inside it
  int64_t totalSteps = 0;       ///< with those of scopes inside it
};

struct PassInfo {
  PassId id = 0, parent = 0; ///< parent: the pass in one of whose rules this one ran
  ScopeId scope = 0;
  int64_t parentSteps = 0; ///< it belongs under the parent's step number parentSteps + 1
  int depth = 0;           ///< 0 where it has no parent
  std::string name;        ///< "initial symbolic"
  FileLine at;             ///< who called graph_rewrite
  NodeId root = kNoNode, endRoot = kNoNode;
  StepId firstStep = 0, lastStep = 0; ///< its steps lie in here (nested ones between them)
  int64_t steps = 0;                  ///< its own
  int64_t nestedSteps = 0;            ///< of all passes below it
  std::optional<PassOutcome> outcome; ///< none: it had not ended
  std::string message;                ///< of a failure
  int64_t beginNs = 0;
  std::optional<int64_t> endNs;
};

enum class StepKind : uint8_t { WayUp, WayDown, RewriteError };
struct StepInfo {
  StepId id = 0;
  int64_t k = 0; ///< number in its pass, from 1
  RuleId rule = 0;
  NodeId before = kNoNode, after = kNoNode; ///< after == before: no change; none: the rule failed
  StepKind kind = StepKind::WayUp;
  int64_t ns = 0;
};

struct RuleInfo {
  RuleId id = 0;
  std::string name;
  FileLine at;
  std::string text;    ///< source text
  std::string pattern; ///< printed from its data
};

/// A rule declined `count` nodes for one reason.
struct DeclineTotal {
  RuleId rule = 0;
  std::string reason;
  int64_t count = 0;
};

/// Attempts by outcome (index: Outcome), with time.
struct MatchTotals {
  RuleId rule = 0;      ///< 0 where the grouping leaves it out
  PassId pass = 0;      ///< likewise; the outermost pass
  ScopeId scope = 0;    ///< likewise; kernel or schedule
  std::string passName; ///< name of the pass, or of the nested pass
  std::string op;
  uint64_t count[kOutcomeCount] = {};
  int64_t ns[kOutcomeCount] = {};
  uint64_t attempts() const;
  uint64_t matches() const { return count[int(Outcome::Applied)] + count[int(Outcome::Unchanged)]; }
  int64_t totalNs() const;
  int64_t matchNs() const { return ns[int(Outcome::Applied)] + ns[int(Outcome::Unchanged)]; }
};
enum class MatchGroup : uint8_t { Rule, Pass, Op, RuleAndPass, Everything, Scope };

struct ArtifactInfo {
  int64_t id = 0; ///< negative: made from the linear program when asked for
  ScopeId scope = 0;
  std::string kind; ///< "source", "ir", "asm", "uops", "opts"
  int64_t length = 0;
};
/// A line of a text (from 1) and an instruction of the kernel's linear program (from 0) it is made of.
struct TextLineInfo {
  int64_t line = 0;
  uint32_t instruction = 0;
};
struct LaunchInfo {
  int64_t id = 0;
  ScopeId scope = 0;    ///< it happened in
  ScopeId compiled = 0; ///< where the kernel was lowered; 0: a copy, or not in this trace
  std::string kernel, device;
  int64_t flops = 0, bytes = 0, accessed = 0, beginNs = 0, ns = 0; ///< ns 0: not measured
  std::vector<int64_t> buffers;                                    ///< BufferInfo::id, by parameter
  double gflops() const { return ns ? static_cast<double>(flops) / static_cast<double>(ns) : 0; }
  double gbPerSecond() const { return ns ? static_cast<double>(bytes) / static_cast<double>(ns) : 0; }
};
struct BufferInfo {
  int64_t id = 0;
  std::string device, dtype; ///< empty: it was there before the recording began
  int64_t bytes = 0;
  int64_t base = 0, offset = 0; ///< of a view: what it is a part of
  int64_t beginNs = 0;
  std::optional<int64_t> endNs; ///< none: not freed before the end, or a view
};
/// Part of a scope that took time: "lower", "render", "compile", "disassemble".
struct PhaseInfo {
  ScopeId scope = 0;
  std::string name;
  int64_t beginNs = 0, ns = 0;
};
/// Where the time of a whole trace went, by kind of work; "python" is what nothing else accounts for.
struct PhaseTotal {
  std::string name;
  int64_t times = 0, ns = 0;
};
/// A way of optimising a kernel that a search tried.
struct CandidateInfo {
  std::string opts;          ///< JSON array
  std::string message;       ///< why it was not timed
  std::optional<int64_t> ns; ///< none: it did not run
};
struct OutputInfo {
  ScopeId scope = 0;
  std::string stream, text; ///< "stdout" or "stderr"
  int64_t atNs = 0;
};
/// A rule that answered with the node itself.
struct UnchangedInfo {
  PassId pass = 0;
  RuleId rule = 0;
  NodeId node = kNoNode;
  StepId nextStep = 0;
};
struct OriginInfo {
  NodeId node = kNoNode;
  std::string operation; ///< "conv2d"
  FileLine script;
};

/// What every reader of a trace holds: small facts about all of it. Readers of one finished file share it.
struct TraceOverview {
  std::map<std::string, std::string> meta;
  std::vector<ScopeInfo> scopes;
};

class Trace {
public:
  /// `known`: the overview of another reader of the same file, perhaps on another thread; taken over where
  /// the recording had ended, since walking all passes for it is most of what opening costs.
  explicit Trace(const std::string& path, std::shared_ptr<const TraceOverview> known = {});
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const std::string& path() const { return db_.path(); }
  const Database& database() const { return db_; }

  /// Looks for what a growing trace has gained; true if anything changed. References into this object's lists
  /// end.
  bool refresh();
  /// The recording has ended (in whatever way), as far as the last refresh() saw.
  bool finished() const;
  /// "complete", "failed", "interrupted", "crashed", "disk full", or "recording": still going on, or killed.
  const std::string& status() const { return meta("status"); }
  /// One sentence for a person when the recording did not end well; empty if it did.
  std::string warning() const;
  const std::map<std::string, std::string>& meta() const { return overview_->meta; }
  /// Value of a key of meta, empty if absent.
  const std::string& meta(const std::string& key) const;

  /// All scopes in order; parents before children.
  const std::vector<ScopeInfo>& scopes() const { return overview_->scopes; }
  const ScopeInfo& scope(ScopeId id) const;          ///< Error(Key) if there is none
  std::vector<ScopeId> childrenOf(ScopeId id) const; ///< 0: the outermost ones
  /// Passes of one scope in order of begin, nested ones after their parent.
  const std::vector<PassInfo>& passes(ScopeId scope);
  /// Copies, so that it may be kept.
  PassInfo pass(PassId id);
  /// Steps of a pass, `from` counted from 1; at most `count` of them.
  std::vector<StepInfo> steps(PassId pass, int64_t from = 1, int64_t count = INT64_MAX);
  std::string stepMessage(StepId step); ///< of a RewriteError
  std::vector<NodeId> gates(PassId pass, std::vector<StepId>* since = nullptr);

  const RuleInfo& rule(RuleId id);
  const std::vector<RuleInfo>& rules();
  /// Match statistics, most time first. scope 0: all; pass 0: all of the scope.
  std::vector<MatchTotals> matchTotals(MatchGroup group, ScopeId scope = 0, PassId pass = 0);

  /// Reasons of rules for declining, most frequent first. scope 0: all; pass 0: all of the scope.
  std::vector<DeclineTotal> declines(ScopeId scope = 0, PassId pass = 0);

  std::vector<ArtifactInfo> artifacts(ScopeId scope);
  std::string artifactText(int64_t id);
  /// Text of the scope's last artifact of that kind, none if there is none.
  std::optional<std::string> artifact(ScopeId scope, std::string_view kind);
  /// Which instructions the lines of a text are made of, in order of lines; empty where not known.
  std::vector<TextLineInfo> textLines(int64_t artifact);
  /// The linear program of a kernel, empty where there is none.
  std::vector<NodeId> program(ScopeId kernel);
  std::vector<LaunchInfo> launches(int64_t from = 1, int64_t count = INT64_MAX);
  std::vector<BufferInfo> buffers();
  std::vector<PhaseInfo> phases(ScopeId scope);
  std::vector<PhaseTotal> phaseTotals();
  std::vector<CandidateInfo> candidates(ScopeId kernel);
  std::vector<OutputInfo> outputs(int64_t from = 1, int64_t count = INT64_MAX);
  std::vector<UnchangedInfo> unchanged(PassId pass);
  /// Rules of a pass in the order they are tried: those of the way down, then those of the way up.
  std::vector<RuleId> rulesOf(PassId pass);
  std::vector<OriginInfo> origins(NodeId node);
  std::vector<OriginInfo> allOrigins();
  /// Content of a source file as it was when recorded; none if the trace does not have it.
  std::optional<std::string> fileText(const std::string& path);
  /// The model script: its path and text.
  FileLine scriptFile() const { return {meta("script"), 0}; }
  /// The model script by the name that places in it have: the path it was started by, "samples/softmax.py",
  /// where scriptFile() is absolute.
  std::string scriptName() const;

  /// Nodes by trace id.
  NodeTable& nodes() { return *nodes_; }

  /// A scope by number or name, a pass of it by number (from 1), name, or name#2 for the second of that name.
  /// Error(Key) that lists what there is.
  ScopeId findScope(const std::string& text) const;
  PassId findPass(ScopeId scope, const std::string& text);

  /// As of the last refresh(); never changes, so it may go to another thread.
  std::shared_ptr<const TraceOverview> overview() const { return overview_; }

private:
  void loadMeta(TraceOverview& overview) const;
  void loadScopes(TraceOverview& overview);
  static NodeId nodeIdOf(const Statement& s, int column);
  std::string programText(ScopeId kernel);
  std::string string(int64_t id);
  FileLine fileLine(int64_t file, int64_t line);

  Database db_;
  Statement selectString_;
  int64_t version_; ///< of the schema
  std::shared_ptr<const TraceOverview> overview_;
  std::map<ScopeId, std::vector<PassInfo>> passes_;
  std::vector<RuleInfo> rules_;
  std::unordered_map<int64_t, std::string> strings_, files_;
  std::unique_ptr<NodeTable> nodes_;
  int64_t dataVersion_ = -1;
};

} // namespace uopscope
