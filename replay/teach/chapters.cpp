// A table assigns passes to chapters. A pass without an entry (a script's own, "panels") joins the chapter of
// the pass before it.
#include "replay/teach/chapters.h"

#include "replay/read/cursor.h"
#include "replay/read/decisions.h"
#include "replay/read/provenance.h"
#include "replay/read/readable.h"
#include "replay/schema/quantity_text.h"
#include "replay/teach/pass_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace uopscope {

namespace {

struct ChapterPlan {
  const char *title, *about;
  std::vector<std::string_view> passes;
};

const std::vector<ChapterPlan>& kernelPlan() {
  static const std::vector<ChapterPlan> plan = {
      {"Where it comes from", "The schedule cut this kernel out of the script's tensors.", {"View Base AST"}},
      {"Addresses",
       "Every value is read and written at an index made of loop variables.",
       {"early movement ops", "load collapse", "split ranges"}},
      {"The simplest form",
       "Before anything is chosen, expressions and loops are made as simple as they get.",
       {"initial symbolic", "simplify ranges", "simplify range", "cut store ranges"}},
      {"Choices",
       "Loops are split, swapped, spread over lanes and cores: here the speed is decided.",
       {"order of blocks", "flatten range", "epilogues", "describe kernel"}},
      {"Simple again", "The choices left indices that say the same in more words.", {"postopt symbolic"}},
      {"Lanes",
       "Loops that were chosen for it stop being loops.",
       {"expander", "add local buffers", "panels"}},
      {"Sums and threads",
       "A reduction needs a place to add up in, a parallel loop a number of its own.",
       {"remove_reduce", "add gpudims"}},
      {"Memory",
       "Reading becomes an instruction, as wide as the machine can.",
       {"** add loads (code)", "devectorize"}},
      {"Numbers of the machine",
       "Indices get a size in bits.",
       {"lower all index dtypes", "post index symbolic"}},
      {"Instructions",
       "What the machine cannot do is made of what it can.",
       {"pre_matcher", "decompositions", "skip guarded values", "final rewrite", "order by liveness",
        "stream stores", "add control flow"}},
      {"Code", "The graph is put in a line and written down.", {"linearize/render"}},
  };
  return plan;
}

const std::vector<ChapterPlan>& schedulePlan() {
  static const std::vector<ChapterPlan> plan = {
      {"What the script asked for",
       "Tensors are a graph of operations; nothing was computed yet.",
       {"rewrite for sched cache", "View Input Graph"}},
      {"Operations as the scheduler knows them",
       "A few dozen operations become a handful.",
       {"earliest rewrites"}},
      {"What is stored",
       "A value that is stored costs memory; one that is not is computed again.",
       {"get realize"}},
      {"Loops",
       "Each dimension of each value gets a loop.",
       {"assign ranges", "reshape", "pad", "apply rangeify"}},
      {"The simplest form",
       "Indices are simplified; values that need no memory lose it.",
       {"symbolic+reduce_collapse+debuf", "minimum_valid", "reduce_collapse", "limit buffers"}},
      {"Stores", "What is kept is written to a buffer.", {"bufferize to store", "group outputs"}},
      {"Kernels", "Each store becomes a program of its own.", {"split kernels", "kernel split"}},
      {"Order",
       "Memory is written in an order that loses nothing.",
       {"fix_assign", "remove all tags", "View Kernel Graph"}},
  };
  return plan;
}

std::string times(int64_t n) {
  return n == 1 ? "once" : n == 2 ? "twice" : fmt::format("{} times", n);
}
std::string listed(const std::vector<std::string>& all) {
  if (all.size() < 2) return all.empty() ? "" : all[0];
  return fmt::format("{} and {}", fmt::join(all.begin(), all.end() - 1, ", "), all.back());
}

using OpCounts = std::map<std::string, int64_t>;
OpCounts countOps(Cursor& cursor, int64_t k) {
  OpCounts out;
  for (NodeId n : cursor.graphAt(k)) ++out[std::string(opName(cursor.fields(n).op))];
  return out;
}

/// Operations on one side only: "REDUCE", "LOAD (4)".
std::vector<std::string> onlyIn(const OpCounts& here, const OpCounts& there) {
  std::vector<std::string> out;
  for (const auto& [op, n] : here)
    if (!there.contains(op)) out.push_back(n == 1 ? op : fmt::format("{} ({})", op, n));
  return out;
}

class Teller {
public:
  Teller(Trace& trace, ScopeId scope) : trace_(trace), scope_(trace.scope(scope)) {
    for (DecidedStep& d : decidedSteps(trace, scope)) decisions_[d.pass].push_back(std::move(d.made));
  }

  Chapter::Sentence pass(const PassInfo& pass, size_t number) {
    Chapter::Sentence s;
    s.pass = pass.id;
    s.link = fmt::format("kernel={}&pass={}", scope_.id, number);
    s.text = pass.name;
    if (const auto about = aboutPass(pass.name); !about.empty()) s.text += fmt::format(": {}", about);
    s.text += ". ";
    if (!pass.message.empty()) s.text += fmt::format("It failed: {}. ", pass.message);
    if (pass.steps == 0) {
      s.text += pass.nestedSteps ? "It changed nothing itself." : "It found nothing to do.";
      return s;
    }
    rules(pass, s);
    sizes(pass, s);
    for (const Decision& d : decisions_[pass.id]) {
      s.details.push_back(fmt::format("decided: {}", d.reason));
      if (std::string price = priceText(d); !price.empty()) s.details.back() += fmt::format(" [{}]", price);
    }
    return s;
  }

  /// Tells the script line, operations of the script, the kernel's value and its buffers.
  void beginning(Chapter& chapter) {
    std::vector<std::string> from;
    std::set<std::string> seen;
    Provenance provenance(trace_, scope_.id);
    for (const OriginInfo& o : provenance.origins(scope_.root))
      if (std::string text =
              fmt::format("{} (line {})", o.operation.empty() ? "a value" : o.operation, o.script.line);
          o.script.known() && seen.insert(text).second)
        from.push_back(text);
    const char* what = scope_.kind == ScopeKind::Kernel ? "Kernel" : "Schedule";
    std::string text =
        fmt::format("{} {} was asked for by {}", what, scope_.name,
                    scope_.script.known() ? fmt::format("{}:{}", scope_.script.file, scope_.script.line)
                                          : "no line of a script");
    text += from.empty() ? "." : fmt::format("; it computes {}.", listed(from));
    Chapter::Sentence s{0, fmt::format("kernel={}", scope_.id), text, {}};
    auto read = trace_.nodes().reader();
    std::vector<std::string> buffers;
    std::set<NodeId> met;
    std::vector<NodeId> todo{scope_.root};
    while (!todo.empty() && met.size() < 20'000) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (!met.insert(id).second) continue;
      const NodeFields n = read(id);
      if (n.op == Op::DEFINE_GLOBAL && n.arg.kind() == ArgKind::Int) {
        const std::string type = n.dtype.name();
        buffers.push_back(
            fmt::format("data{} {}", n.arg.i(), type.substr(type.starts_with("dtypes.") ? 7 : 0)));
      }
      if (n.op == Op::STORE && n.src.size() > 1)
        s.details.push_back(fmt::format("stores {}", readableExpression(read, n.src[1], 9, 300)));
      todo.insert(todo.end(), n.src.begin(), n.src.end());
    }
    std::sort(buffers.begin(), buffers.end());
    if (!buffers.empty()) s.details.push_back(fmt::format("memory: {}", fmt::join(buffers, ", ")));
    s.details.push_back(
        fmt::format("its graph has {}", countedText(static_cast<int64_t>(met.size()), "node")));
    chapter.sentences.insert(chapter.sentences.begin(), std::move(s));
  }

  /// Tells the program, its text, and its running time.
  void end(Chapter& chapter) {
    const auto program = trace_.program(scope_.id);
    std::string source = trace_.artifact(scope_.id, "source").value_or("");
    Chapter::Sentence s;
    s.text = fmt::format("The program has {}; as C it is {}.",
                         countedText(static_cast<int64_t>(program.size()), "instruction"),
                         countedText(std::count(source.begin(), source.end(), '\n'), "line"));
    int64_t runs = 0, ns = 0, best = INT64_MAX;
    double gflops = 0;
    for (const LaunchInfo& l : trace_.launches())
      if (l.compiled == scope_.id) {
        ++runs;
        if (l.ns && l.ns < best) best = l.ns, gflops = l.gflops();
        ns += l.ns;
      }
    if (runs)
      s.details.push_back(
          ns ? fmt::format("it ran {}, at best in {}: {:.2f} GFLOPS", times(runs), durationText(best), gflops)
             : fmt::format("it ran {}; its time was not measured", times(runs)));
    chapter.sentences.push_back(std::move(s));
    chapter.code = std::move(source);
  }

private:
  void rules(const PassInfo& pass, Chapter::Sentence& s) {
    std::map<RuleId, int64_t> counts;
    const auto steps = trace_.steps(pass.id);
    for (const StepInfo& step : steps) ++counts[step.rule];
    std::vector<std::pair<RuleId, int64_t>> order(counts.begin(), counts.end());
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second > b.second; });
    std::vector<std::string> names;
    for (size_t i = 0; i < std::min<size_t>(order.size(), 3); ++i)
      names.push_back(fmt::format("{} {}", trace_.rule(order[i].first).name, times(order[i].second)));
    if (order.size() > 3) names.push_back(countedText(static_cast<int64_t>(order.size()) - 3, "other rule"));
    s.text += fmt::format("{} applied: {}. ", countedText(static_cast<int64_t>(steps.size()), "rewrite"),
                          listed(names));
    auto read = trace_.nodes().reader();
    for (const StepInfo& step : steps) {
      if (step.rule != order[0].first || step.after == kNoNode) continue;
      const std::string a = readableExpression(read, step.before, 6, 100),
                        b = readableExpression(read, step.after, 6, 100);
      if (a != b) s.details.push_back(fmt::format("step {}: {}  becomes  {}", step.k, a, b));
      return;
    }
  }

  void sizes(const PassInfo& pass, Chapter::Sentence& s) {
    Cursor cursor(trace_, pass.id);
    const OpCounts before = countOps(cursor, 0), after = countOps(cursor, cursor.steps());
    auto sum = [](const OpCounts& c) {
      int64_t n = 0;
      for (const auto& [op, k] : c) n += k;
      return n;
    };
    const int64_t a = sum(before), b = sum(after);
    s.text += a == b ? fmt::format("The graph keeps its {}", countedText(a, "node"))
                     : fmt::format("{} {} {}", countedText(a, "node"), a == 1 ? "becomes" : "become", b);
    const auto gone = onlyIn(before, after), come = onlyIn(after, before);
    if (!gone.empty()) s.text += fmt::format("; {} {} gone", listed(gone), gone.size() == 1 ? "is" : "are");
    if (!come.empty()) s.text += fmt::format("; {} {} new", listed(come), come.size() == 1 ? "is" : "are");
    s.text += '.';
  }

  Trace& trace_;
  ScopeInfo scope_;
  std::map<PassId, std::vector<Decision>> decisions_;
};

/// Gives consecutive passes without a rewrite one common sentence.
void joinIdle(Chapter& chapter, const std::vector<std::string>& names) {
  if (names.empty()) return;
  chapter.sentences.push_back({0, {}, fmt::format("{} found nothing to do.", listed(names)), {}});
}

} // namespace

ToldScope tellScope(Trace& trace, ScopeId id) {
  const ScopeInfo scope = trace.scope(id);
  const bool kernel = scope.kind == ScopeKind::Kernel;
  const auto& plan = kernel ? kernelPlan() : schedulePlan();
  ToldScope out{id,
                scope.name,
                kernel                              ? "kernel"
                : scope.kind == ScopeKind::Schedule ? "schedule"
                                                    : "rewriting",
                {},
                {}};
  if (scope.script.known())
    out.script =
        fmt::format("{}:{}", std::filesystem::path(scope.script.file).filename().string(), scope.script.line);
  for (const ChapterPlan& p : plan) out.chapters.push_back({p.title, p.about, {}, {}});
  Teller teller(trace, id);
  size_t at = 0;
  std::vector<std::string> idle;
  const std::vector<PassInfo> passes = trace.passes(id);
  for (size_t i = 0; i < passes.size(); ++i) {
    const PassInfo& pass = passes[i];
    size_t chapter = at;
    for (size_t c = 0; c < plan.size(); ++c)
      if (std::find(plan[c].passes.begin(), plan[c].passes.end(), pass.name) != plan[c].passes.end())
        chapter = c;
    if (kernel && isOpt(pass.name)) chapter = 3;
    // "initial symbolic" runs again after a cut, "flatten range" before it; a story must not go back to an
    // earlier chapter.
    chapter = std::max(chapter, at);
    if (chapter != at) joinIdle(out.chapters[at], std::exchange(idle, {}));
    at = chapter;
    if (pass.steps == 0 && pass.nestedSteps == 0 && pass.message.empty()) {
      idle.push_back(pass.name);
      continue;
    }
    joinIdle(out.chapters[at], std::exchange(idle, {}));
    out.chapters[at].sentences.push_back(teller.pass(pass, i + 1));
  }
  joinIdle(out.chapters[at], idle);
  if (scope.root != kNoNode) teller.beginning(out.chapters.front());
  if (kernel) teller.end(out.chapters.back());
  for (Chapter& c : out.chapters)
    if (c.sentences.empty()) c.sentences.push_back({0, {}, "Nothing of this was needed.", {}});
  return out;
}

} // namespace uopscope
