// Lists the names of a trace for the palette. Nodes are searched on a background thread.
#include "viz/models/session/jump.h"

#include "replay/read/link.h"
#include "replay/read/node_search.h"
#include "replay/read/print.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"
#include "viz/models/work/reports.h"

#include <algorithm>
#include <map>

namespace uopscope {
namespace {

/// Limits of the list: nodes of a search, and passes of the whole trace beside its kernels.
constexpr size_t kMostNodes = 200, kMostPasses = 20'000;

QString kindWord(ScopeKind kind) {
  return kind == ScopeKind::Kernel     ? QStringLiteral("kernel")
         : kind == ScopeKind::Schedule ? QStringLiteral("schedule")
                                       : QStringLiteral("script");
}

// Names kernels. Many have the same name, so a number and the line that asked for it are added.
class Names {
public:
  explicit Names(const std::vector<ScopeInfo>& scopes) {
    for (const ScopeInfo& s : scopes) ++count_[s.name];
    std::map<std::string, int> met;
    for (const ScopeInfo& s : scopes)
      if (count_[s.name] > 1) number_[s.id] = ++met[s.name];
  }
  QString of(const ScopeInfo& s) const {
    const QString name = QString::fromStdString(s.name);
    const auto number = number_.find(s.id);
    return number == number_.end()
               ? name
               : Jump::tr("%1, number %2 of %3").arg(name).arg(number->second).arg(count_.at(s.name));
  }

private:
  std::map<std::string, int> count_;
  std::map<ScopeId, int> number_;
};

// Finds the pass of a node. Ids rise as nodes are made: a node belongs to the first pass whose graphs reach
// its id.
class Makers {
public:
  explicit Makers(Trace& trace) {
    NodeId far = 0;
    for (const ScopeInfo& s : trace.scopes())
      for (const PassInfo& p : trace.passes(s.id)) {
        for (const NodeId root : {p.root, p.endRoot})
          if (root != kNoNode) far = std::max(far, root);
        passes_.push_back({far, s.id, p.id});
      }
    std::ranges::stable_sort(passes_, {}, &Reach::far);
  }
  QString of(Trace& trace, const Names& names, NodeId node) const {
    const auto it = std::ranges::lower_bound(passes_, node, {}, &Reach::far);
    if (it == passes_.end()) return {};
    return names.of(trace.scope(it->scope)) + QStringLiteral(" › ") +
           QString::fromStdString(trace.pass(it->pass).name) + QStringLiteral("  ");
  }

private:
  struct Reach {
    NodeId far;
    ScopeId scope;
    PassId pass;
  };
  std::vector<Reach> passes_;
};

QString lineOf(const ScopeInfo& s) {
  return s.script.line > 0 ? Jump::tr("line %1").arg(s.script.line) : QString();
}

void addScopes(const TraceIndex& trace, ScopeId here, std::vector<PaletteModel::Entry>& entries) {
  const Names names(trace.scopes());
  size_t passes = 0;
  // The current scope comes first among equals.
  std::vector<ScopeInfo> scopes(trace.scopes().begin(), trace.scopes().end());
  std::stable_partition(scopes.begin(), scopes.end(), [&](const ScopeInfo& s) { return s.id == here; });
  for (const ScopeInfo& s : scopes) {
    if (s.totalSteps == 0) continue;
    const QString line = lineOf(s), steps = counted(s.totalSteps, Jump::tr("1 step"), Jump::tr("%1 steps"));
    entries.push_back({kindWord(s.kind), names.of(s),
                       line.isEmpty() ? steps : line + QStringLiteral(", ") + steps,
                       QStringLiteral("kernel=%1").arg(s.id)});
  }
  for (const ScopeInfo& s : scopes) {
    if (s.totalSteps == 0 || passes > kMostPasses) continue;
    int number = 0;
    for (const PassInfo& p : trace.passes(s.id)) {
      ++number, ++passes;
      if (p.steps > 0)
        entries.push_back({QStringLiteral("pass"), QString::fromStdString(p.name),
                           Jump::tr("pass %1 of %2, %3")
                               .arg(number)
                               .arg(names.of(s), counted(p.steps, Jump::tr("1 step"), Jump::tr("%1 steps"))),
                           QStringLiteral("kernel=%1&pass=%2").arg(s.id).arg(number)});
    }
  }
}

// Adds the script lines with scopes, and every rule: people remember these beside kernels.
void addLinesAndRules(const TraceIndex& trace, std::vector<PaletteModel::Entry>& entries) {
  const std::string& file = trace.scriptName();
  std::map<int, std::pair<const ScopeInfo*, int>> made; // line -> its first scope, and their number
  for (const ScopeInfo& s : trace.scopes())
    if (s.script.line > 0 && s.script.file == file && s.totalSteps > 0) {
      auto& [first, count] = made[s.script.line];
      if (!first || (s.kind == ScopeKind::Kernel && first->kind != ScopeKind::Kernel)) first = &s;
      ++count;
    }
  if (!made.empty()) {
    const auto& text = trace.facts().scriptText;
    const QStringList lines = QString::fromStdString(text.value_or("")).split(QLatin1Char('\n'));
    for (const auto& [line, what] : made)
      entries.push_back(
          {QStringLiteral("script"), Jump::tr("line %1  %2").arg(line).arg(lines.value(line - 1).trimmed()),
           what.second > 1
               ? Jump::tr("%1 and %2 more").arg(QString::fromStdString(what.first->name)).arg(what.second - 1)
               : QString::fromStdString(what.first->name),
           QStringLiteral("kernel=%1").arg(what.first->id)});
  }
  for (const RuleInfo& r : trace.rules())
    entries.push_back({QStringLiteral("rule"), QString::fromStdString(r.name),
                       Jump::tr("rule, %1").arg(shortPlace(r.at)), QStringLiteral("rule=%1").arg(r.id)});
}

} // namespace

Jump::Jump(Session& session) : session_(session) {
  connect(&palette_, &PaletteModel::changed, this, [this] {
    if (palette_.query().startsWith(QLatin1Char('/'))) search(palette_.query());
  });
}

void Jump::prepare() {
  std::vector<PaletteModel::Entry> entries;
  for (const Action& a : actionTable()) {
    const QString keys = QString::fromLatin1(a.keys).section(QLatin1Char(' '), 0, 0);
    entries.push_back({QStringLiteral("command"), actionText(a), keyCaps(keys), QLatin1String(a.id)});
  }
  if (const TraceIndex* trace = session_.trace()) {
    addScopes(*trace, session_.scope(), entries);
    addLinesAndRules(*trace, entries);
  }
  palette_.setEntries(std::move(entries));
}

void Jump::search(const QString& query) {
  const QString wanted = query.mid(1).trimmed();
  if (!session_.trace() || wanted.isEmpty()) return;
  session_.jobs().ask(
      Channel::Search, [this, query, text = wanted.toStdString()](Jobs::Job& job) -> Jobs::Answer {
        const NodeHits hits = findNodes(job.trace(), text, kMostNodes);
        std::vector<PaletteModel::Entry> found;
        const NodeReader read = job.trace().nodes().reader();
        const Names names(job.trace().scopes());
        const Makers makers(job.trace());
        for (const NodeId id : hits.nodes) {
          if (job.stale()) return {};
          const QString number = QString::number(id);
          const QString where = makers.of(job.trace(), names, id) + QLatin1Char('#');
          found.push_back({QStringLiteral("node"),
                           QString::fromStdString(nodeLabel(read(id)) + "   " + expression(read, id, 3, 90)),
                           where + number, QStringLiteral("anywhere=") + number});
        }
        if (hits.total > hits.nodes.size())
          found.push_back({QStringLiteral("more"),
                           tr("%1 nodes in all; %2 are shown, more words find fewer")
                               .arg(grouped(static_cast<int64_t>(hits.total)))
                               .arg(hits.nodes.size()),
                           {},
                           {}});
        return [this, query, found] { palette_.setFound(query, found); };
      });
}

void Jump::goToNode(qulonglong id) {
  session_.jobs().ask(Channel::Search, [this, id = static_cast<NodeId>(id)](Jobs::Job& job) -> Jobs::Answer {
    const auto at = placeOf(job.trace(), id);
    QString link; // one link: the picture that answers it is the one the node is looked for in
    if (at)
      link =
          QString::fromStdString(makeLink(job.trace(), {at->scope, at->pass, at->step, id, "graph"}).str());
    return [this, link, id] {
      if (link.isEmpty())
        return session_.showNotice(tr("Node #%1 is part of no graph that was recorded.").arg(id));
      session_.follow(link);
    };
  });
}

void Jump::choose(const QVariantMap& entry) {
  const QString target = entry[QStringLiteral("target")].toString();
  if (target.isEmpty()) return;
  if (target.startsWith(QLatin1String("anywhere="))) return goToNode(target.mid(9).toULongLong());
  if (entry[QStringLiteral("kind")].toString() == QLatin1String("command")) return session_.trigger(target);
  if (target.startsWith(QLatin1String("rule="))) return session_.goToRule(target.mid(5).toLongLong());
  if (session_.follow(target) && target.startsWith(QLatin1String("node="))) {
    session_.setTab(QStringLiteral("graph"));
    Q_EMIT session_.focusAsked(session_.node());
  }
}

} // namespace uopscope
