// A trace opened for reading, finished or still growing. It loads everything in pieces on demand, so a file
// of a gigabyte opens at once. The file is untrusted: every id and blob is checked, and Error(File) states
// the fault. One Trace belongs to one thread; a second thread opens a Trace of its own.
//
//   Trace trace("run.uoptrace");
//   for (const ScopeInfo& scope : trace.scopes())
//     for (const PassInfo& pass : trace.passes(scope.id)) print(scope.name, pass.name, pass.steps);
//   if (!trace.finished() && trace.refresh()) redraw();      // it grew
#pragma once
#include "engine/rewrite/observer.h"
#include "replay/read/node_table.h"
#include "replay/read/text_reader.h"
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
  std::optional<int64_t> endNs; ///< none: the scope had not ended
  int64_t steps = 0;            ///< steps of all its passes, nested ones too; without scopes inside it
  int64_t totalSteps = 0;       ///< `steps` plus those of scopes inside it
};

struct PassInfo {
  PassId id = 0, parent = 0; ///< parent: the pass one of whose rules ran this pass
  ScopeId scope = 0;
  int64_t parentSteps = 0; ///< it runs inside the parent's step number parentSteps + 1
  int depth = 0;           ///< 0: it has no parent
  std::string name;        ///< "initial symbolic"
  FileLine at;             ///< the caller of graph_rewrite
  NodeId root = kNoNode, endRoot = kNoNode;
  StepId firstStep = 0, lastStep = 0; ///< bounds of its steps; steps of nested passes lie between
  int64_t steps = 0;                  ///< its own steps
  int64_t nestedSteps = 0;            ///< steps of all passes nested in it
  std::optional<PassOutcome> outcome; ///< none: the pass had not ended
  std::string message;                ///< message of a failure
  int64_t beginNs = 0;
  std::optional<int64_t> endNs;
};

enum class StepKind : uint8_t { WayUp, WayDown, RewriteError };
struct StepInfo {
  StepId id = 0;
  int64_t k = 0; ///< number in its pass, from 1
  RuleId rule = 0;
  NodeId before = kNoNode, after = kNoNode; ///< after == before: no change; after none: the rule failed
  StepKind kind = StepKind::WayUp;
  int64_t ns = 0;
};

struct RuleInfo {
  RuleId id = 0;
  std::string name;
  FileLine at;
  std::string text;    ///< source text
  std::string pattern; ///< the pattern, printed from its data
};

/// One reason of a rule for declining, with the number of nodes it declined.
struct DeclineTotal {
  RuleId rule = 0;
  std::string reason;
  int64_t count = 0;
};

/// Attempts by outcome (the index is an Outcome), with their time.
struct MatchTotals {
  RuleId rule = 0;      ///< 0 where the grouping leaves it out
  PassId pass = 0;      ///< the outermost pass; 0 likewise
  ScopeId scope = 0;    ///< kernel or schedule; 0 likewise
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
  int64_t id = 0; ///< negative: text made from the linear program on demand
  ScopeId scope = 0;
  std::string kind; ///< "source", "ir", "asm", "uops", "opts"
  int64_t length = 0;
};
/// A line of a text (from 1) and an instruction of the kernel's linear program (from 0) that it is made of.
struct TextLineInfo {
  int64_t line = 0;
  uint32_t instruction = 0;
};
struct LaunchInfo {
  int64_t id = 0;
  ScopeId scope = 0;    ///< the scope of the launch
  ScopeId compiled = 0; ///< the scope that lowered the kernel; 0: a copy, or not in this trace
  std::string kernel, device;
  int64_t flops = 0, bytes = 0, accessed = 0, beginNs = 0, ns = 0; ///< ns 0: not measured
  std::vector<int64_t> buffers;                                    ///< BufferInfo::id, by parameter
  double gflops() const { return ns ? static_cast<double>(flops) / static_cast<double>(ns) : 0; }
  double gbPerSecond() const { return ns ? static_cast<double>(bytes) / static_cast<double>(ns) : 0; }
};
struct BufferInfo {
  int64_t id = 0;
  std::string device, dtype; ///< empty: the buffer existed before the recording began
  int64_t bytes = 0;
  int64_t base = 0, offset = 0; ///< of a view: the buffer it is a part of
  int64_t beginNs = 0;
  std::optional<int64_t> endNs; ///< none: a view, or not freed by the end
};
/// A timed part of a scope: "lower", "render", "compile", "disassemble".
struct PhaseInfo {
  ScopeId scope = 0;
  std::string name;
  int64_t beginNs = 0, ns = 0;
};
/// Time of a whole trace by kind of work; "python" is the time that no other kind accounts for.
struct PhaseTotal {
  std::string name;
  int64_t times = 0, ns = 0;
};
/// A way of optimising a kernel that a search tried.
struct CandidateInfo {
  std::string opts;          ///< JSON array
  std::string message;       ///< the reason why it was not timed
  std::optional<int64_t> ns; ///< none: it did not run
};
struct OutputInfo {
  ScopeId scope = 0;
  std::string stream, text; ///< "stdout" or "stderr"
  int64_t atNs = 0;
};
/// A rule that returned the node itself.
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

/// Small facts about a whole trace, needed by every reader. Readers of one finished file share them.
struct TraceOverview {
  std::map<std::string, std::string> meta;
  std::vector<ScopeInfo> scopes;
};

class Trace {
public:
  /// `known`: the overview of another reader of the same file, perhaps on another thread. It is used if the
  /// recording had ended, since a walk over all passes is the largest cost of opening.
  explicit Trace(const std::string& path, std::shared_ptr<const TraceOverview> known = {});
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const std::string& path() const { return db_.path(); }
  const Database& database() const { return db_; }

  /// Looks for new content of a growing trace; true if anything changed. References into this object's lists
  /// become invalid. `known`: what another reader of the file found, which saves the walk over all passes.
  bool refresh(std::shared_ptr<const TraceOverview> known = {});
  /// Whether the recording has ended (in whatever way), as of the last refresh().
  bool finished() const;
  /// "complete", "failed", "interrupted", "crashed", "disk full", or "recording": still going on, or killed.
  const std::string& status() const { return meta("status"); }
  /// One sentence for a person when the recording did not end well; empty if it did.
  std::string warning() const;
  const std::map<std::string, std::string>& meta() const { return overview_->meta; }
  /// The value of a key of meta, empty if absent.
  const std::string& meta(const std::string& key) const;

  /// All scopes in order; parents come before children.
  const std::vector<ScopeInfo>& scopes() const { return overview_->scopes; }
  const ScopeInfo& scope(ScopeId id) const;          ///< Error(Key) if there is none
  std::vector<ScopeId> childrenOf(ScopeId id) const; ///< 0: the outermost ones
  /// Passes of one scope in order of begin, nested ones after their parent.
  const std::vector<PassInfo>& passes(ScopeId scope);
  /// A copy of the pass, which the caller may keep.
  PassInfo pass(PassId id);
  /// At most `count` steps of a pass, beginning with step `from`, counted from 1.
  std::vector<StepInfo> steps(PassId pass, int64_t from = 1, int64_t count = INT64_MAX);
  std::string stepMessage(StepId step); ///< message of a RewriteError
  std::vector<NodeId> gates(PassId pass, std::vector<StepId>* since = nullptr);

  const RuleInfo& rule(RuleId id);
  const std::vector<RuleInfo>& rules();
  /// Match statistics, most time first. scope 0: all scopes; pass 0: all passes of the scope.
  std::vector<MatchTotals> matchTotals(MatchGroup group, ScopeId scope = 0, PassId pass = 0);

  /// Reasons for declining, most frequent first. scope 0: all scopes; pass 0: all passes of the scope.
  std::vector<DeclineTotal> declines(ScopeId scope = 0, PassId pass = 0);

  std::vector<ArtifactInfo> artifacts(ScopeId scope);
  std::string artifactText(int64_t id);
  /// The text of the scope's last artifact of that kind, none if there is none.
  std::optional<std::string> artifact(ScopeId scope, std::string_view kind);
  /// The instructions that each line of a text is made of, in order of lines; empty where not known.
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
  /// Rules of a pass in the order they are tried: rules of the way down, then rules of the way up.
  std::vector<RuleId> rulesOf(PassId pass);
  std::vector<OriginInfo> origins(NodeId node);
  std::vector<OriginInfo> allOrigins();
  /// Content of a source file at the time of recording; none if the trace does not store it.
  std::optional<std::string> fileText(const std::string& path);
  /// Path and text of the model script.
  FileLine scriptFile() const { return {meta("script"), 0}; }
  /// The model script by the path it was started with ("samples/softmax.py"), which origins use too; the path
  /// of scriptFile() is absolute.
  std::string scriptName() const;

  /// Nodes by trace id.
  NodeTable& nodes() { return *nodes_; }

  /// Finds a scope by number or name, and a pass of it by number (from 1), name, or name#2 for the second of
  /// that name. Error(Key) lists the existing names.
  ScopeId findScope(const std::string& text) const;
  PassId findPass(ScopeId scope, const std::string& text);

  /// The overview as of the last refresh(). It never changes, so another thread may read it.
  std::shared_ptr<const TraceOverview> overview() const { return overview_; }

private:
  void loadMeta(TraceOverview& overview) const;
  void loadScopes(TraceOverview& overview);
  static NodeId nodeIdOf(int64_t id);
  static NodeId nodeIdOf(const Statement& s, int column) { return nodeIdOf(s.integer(column)); }
  std::string programText(ScopeId kernel);
  std::string string(int64_t id);
  FileLine fileLine(int64_t file, int64_t line);

  Database db_;
  Statement selectString_;
  int64_t version_; ///< version of the schema
  std::shared_ptr<const TraceOverview> overview_;
  std::map<ScopeId, std::vector<PassInfo>> passes_;
  std::vector<RuleInfo> rules_;
  std::unordered_map<int64_t, std::string> strings_, files_;
  std::unique_ptr<NodeTable> nodes_;
  std::unique_ptr<TextReader> texts_; ///< none: an older version, whose views are read
  int64_t dataVersion_ = -1;
};

} // namespace uopscope
