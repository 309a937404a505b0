// What keys and the palette do in a session: moving along the trace, walking over the graph, jumping by name.
#include "replay/read/link.h"
#include "replay/read/node_search.h"
#include "replay/read/print.h"
#include "replay/read/step_search.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"
#include "viz/models/work/reports.h"

#include <algorithm>
#include <map>

namespace uopscope {
namespace {

// Lines of the script that made something, and every rule: what one remembers of a trace besides its kernels.
void addLinesAndRules(Trace& trace, std::vector<PaletteModel::Entry>& entries) {
  const std::string file = trace.scriptName();
  std::map<int, std::pair<const ScopeInfo*, int>> made; // line -> the first thing it made, and how many
  for (const ScopeInfo& s : trace.scopes())
    if (s.script.line > 0 && s.script.file == file && s.totalSteps > 0) {
      auto& [first, count] = made[s.script.line];
      if (!first || (s.kind == ScopeKind::Kernel && first->kind != ScopeKind::Kernel)) first = &s;
      ++count;
    }
  if (!made.empty()) {
    const auto text = trace.fileText(file);
    const QStringList lines = QString::fromStdString(text.value_or("")).split(QLatin1Char('\n'));
    for (const auto& [line, what] : made)
      entries.push_back({QStringLiteral("script"),
                         Session::tr("line %1  %2").arg(line).arg(lines.value(line - 1).trimmed()),
                         what.second > 1 ? Session::tr("%1 and %2 more")
                                               .arg(QString::fromStdString(what.first->name))
                                               .arg(what.second - 1)
                                         : QString::fromStdString(what.first->name),
                         QStringLiteral("kernel=%1").arg(what.first->id)});
  }
  for (const RuleInfo& r : trace.rules())
    entries.push_back({QStringLiteral("rule"), QString::fromStdString(r.name),
                       Session::tr("rule, %1").arg(shortPlace(r.at)), QStringLiteral("rule=%1").arg(r.id)});
}

} // namespace

void Session::walk(bool toSource) {
  const PicturePtr& p = graph_.picture();
  if (!p) return;
  if (node_ < 0) {
    if (!p->nodes.empty()) setNode(p->nodes.back().id);
  } else if (const auto it = p->byId.find(node_); it != p->byId.end()) {
    for (const PictureEdge& e : p->edges)
      if ((toSource ? e.to : e.from) == it->second && e.mark != Mark::Removed) {
        setNode(p->nodes[toSource ? e.from : e.to].id);
        break;
      }
  }
  Q_EMIT focusAsked(node_);
}

StepId Session::traceStep() const {
  if (step_ > 0 && step_ <= steps_.count()) return steps_.steps()[static_cast<size_t>(step_ - 1)].id;
  if (!trace_ || !pass_) return 0;
  return trace_->pass(pass_).firstStep - 1;
}

void Session::showLatest() {
  tick();
  if (!trace_) return;
  try {
    const PassId last = lastPass(*trace_);
    if (last == 0) return;
    const PassInfo pass = trace_->pass(last);
    goTo(pass.id, trace_->pass(pass.id).steps);
    setStep(stepCount());
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
  }
}

// The order in which the engine worked: into passes that run inside a rule, and out of them.
void Session::stepInTrace(int direction) {
  const StepId here = traceStep();
  const StepId next = nextStep(*trace_, direction > 0 || step_ > 0 ? here : here + 1, {}, direction);
  if (next != 0 && goToTraceStep(next)) return;
  showNotice(direction > 0 ? tr("This is the last rewrite of the trace.")
                           : tr("This is the first rewrite of the trace."));
}

// To the parent's step that this pass ran in, or to where that step began; an outermost pass is run to its
// end.
void Session::leavePass(bool forward) {
  const PassInfo here = trace_->pass(pass_);
  if (here.parent == 0) return setStep(forward ? stepCount() : 0);
  goTo(here.parent, here.parentSteps + (forward ? 1 : 0));
}

void Session::nextChanging(int direction) {
  const auto& all = steps_.steps();
  for (int64_t k = step_ + direction; k >= 1 && k <= stepCount(); k += direction) {
    const StepInfo& s = all[static_cast<size_t>(k - 1)];
    if (s.after != kNoNode && s.after != s.before) return setStep(k);
  }
  // Passes without a change are passed over.
  if (direction < 0 && step_ > 0) return setStep(0);
  for (qlonglong before = -1; before != pass_ && stepCount() >= 0;) {
    before = pass_;
    movePass(direction);
    if (stepCount() > 0) return setStep(direction > 0 ? 1 : stepCount());
  }
}

// On through the passes of the kernel: few of them decide anything.
void Session::goToDecided(int direction) {
  if (const int64_t k = steps_.nextDecided(step_, direction)) return setStep(k);
  const auto& passes = trace_->passes(scope_);
  auto here = std::find_if(passes.begin(), passes.end(), [&](const PassInfo& p) { return p.id == pass_; });
  while (here != passes.end()) {
    if (direction < 0 && here == passes.begin()) break;
    here += direction;
    if (here == passes.end()) break;
    const Decisions made = decisionsOf(*trace_, here->id);
    if (made.empty()) continue;
    const StepId wanted = direction > 0 ? made.begin()->first : made.rbegin()->first;
    if (goToTraceStep(wanted)) return;
  }
  showNotice(direction > 0 ? tr("Nothing else was decided in %1 after this.").arg(scopeName_)
                           : tr("Nothing else was decided in %1 before this.").arg(scopeName_));
}

bool Session::triggerMove(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (is("next-step")) {
    if (step_ < stepCount())
      setStep(step_ + 1);
    else
      movePass(1);
  } else if (is("previous-step")) {
    if (step_ > 0) {
      setStep(step_ - 1);
    } else {
      const PassId before = pass_;
      movePass(-1);
      if (pass_ != before) setStep(stepCount());
    }
  } else if (is("step-in") || is("step-in-back")) {
    stepInTrace(is("step-in") ? 1 : -1);
  } else if (is("finish") || is("unfinish")) {
    leavePass(is("finish"));
  } else if (is("next-changing") || is("previous-changing")) {
    nextChanging(is("next-changing") ? 1 : -1);
  } else if (is("next-pass") || is("previous-pass")) {
    movePass(is("next-pass") ? 1 : -1);
  } else if (is("next-kernel") || is("previous-kernel")) {
    moveScope(is("next-kernel") ? 1 : -1);
  } else if (is("first-step") || is("last-step")) {
    setStep(is("first-step") ? 0 : stepCount());
  } else if (is("forward-many") || is("back-many")) {
    setStep(step_ + (is("forward-many") ? 10 : -10));
  } else if (is("wider") || is("narrower")) {
    setInterval(interval_ + (is("wider") ? 1 : -1));
  } else if (is("next-of-rule") || is("previous-of-rule")) {
    const int64_t k = steps_.nextOfRule(step_, is("next-of-rule") ? 1 : -1);
    if (k)
      setStep(k);
    else
      showNotice(tr("No other step of this pass applies this rule in that direction."));
  } else if (is("next-decided") || is("previous-decided")) {
    goToDecided(is("next-decided") ? 1 : -1);
  } else if (is("next-touching") || is("previous-touching")) {
    if (node_ < 0) {
      showNotice(tr("Select a node first."));
      return true;
    }
    const int64_t k = steps_.nextTouching(step_, is("next-touching") ? 1 : -1, static_cast<NodeId>(node_));
    if (k)
      setStep(k);
    else
      showNotice(tr("No other step of this pass touches this node in that direction."));
  } else if (is("back") || is("forward")) {
    const QString to = is("back") ? history_.back() : history_.forward();
    if (to.isEmpty()) return true;
    travelling_ = true;
    follow(to);
    travelling_ = false;
    Q_EMIT placeChanged();
  } else {
    return false;
  }
  return true;
}

void Session::trigger(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (actionFilter_ && actionFilter_(action)) return;
  if (action.startsWith(QLatin1String("tab-"))) return setTab(action.mid(4));
  if (is("close")) return close();
  if (is("record-again")) return recordAgain();
  if (trace_) {
    try {
      if (triggerMove(action)) return;
    } catch (const std::exception& e) {
      return showNotice(QString::fromUtf8(e.what()));
    }
    if (is("fold")) return setFoldLabels(!foldLabels());
    if (is("step-alone")) return setStepAlone(!stepAlone());
    if (is("turn")) return setLeftToRight(!leftToRight());
    if (is("go-source")) return walk(true);
    if (is("go-user")) return walk(false);
    if (is("maker")) return goToMaker();
    if (is("origin")) return goToOrigin();
    if (action.startsWith(QLatin1String("input-"))) return walkInput(action.mid(6).toInt());
  }
  Q_EMIT uiAction(action);
}

// The k-th source of the selected node; sources written into the label count too.
void Session::walkInput(int k) {
  const QVariantList sources = nodeInfo_[QStringLiteral("sources")].toList();
  if (node_ < 0 || k < 1 || k > sources.size())
    return showNotice(tr("Select a node with %1 sources.").arg(k));
  const auto id = sources[k - 1].toMap()[QStringLiteral("id")].toLongLong();
  setNode(id);
  Q_EMIT focusAsked(id);
}

// The last rewrite that made the selected node; nodes of the graph as the pass began have none.
void Session::goToMaker() {
  for (const QVariant& v : nodeInfo_[QStringLiteral("chain")].toList()) {
    const QVariantMap made = v.toMap();
    if (made[QStringLiteral("kind")].toString() != QLatin1String("rule")) continue;
    return goTo(made[QStringLiteral("pass")].toLongLong(), made[QStringLiteral("step")].toLongLong(),
                made[QStringLiteral("node")].toLongLong());
  }
  showNotice(node_ < 0 ? tr("Select a node first.") : tr("No recorded rewrite made this node."));
}

void Session::goToOrigin() {
  for (const QVariant& v : nodeInfo_[QStringLiteral("origins")].toList()) {
    const int line = v.toMap()[QStringLiteral("place")].toMap()[QStringLiteral("line")].toInt();
    if (line <= 0) continue;
    script_.setCurrentLine(line);
    return setTab(QStringLiteral("script"));
  }
  showNotice(node_ < 0 ? tr("Select a node first.") : tr("No script line is known for this node."));
}

void Session::preparePalette() {
  std::vector<PaletteModel::Entry> entries;
  for (const Action& a : actionTable()) {
    const QString keys = QString::fromLatin1(a.keys).section(QLatin1Char(' '), 0, 0);
    entries.push_back({QStringLiteral("command"), actionText(a), keyCaps(keys), QLatin1String(a.id)});
  }
  if (trace_) {
    for (const ScopeInfo& s : trace_->scopes()) {
      if (s.totalSteps == 0) continue;
      const QString name = QString::fromStdString(s.name);
      const QString kind = s.kind == ScopeKind::Kernel     ? QStringLiteral("kernel")
                           : s.kind == ScopeKind::Schedule ? QStringLiteral("schedule")
                                                           : QStringLiteral("script");
      entries.push_back(
          {kind, name, tr("%1 steps").arg(grouped(s.totalSteps)), QStringLiteral("kernel=%1").arg(s.id)});
      if (s.id != scope_) continue;
      int number = 0;
      for (const PassInfo& p : trace_->passes(s.id)) {
        ++number;
        if (p.steps > 0)
          entries.push_back({QStringLiteral("pass"), QString::fromStdString(p.name),
                             tr("pass %1 of %2, %3 steps").arg(number).arg(name, grouped(p.steps)),
                             QStringLiteral("kernel=%1&pass=%2").arg(s.id).arg(number)});
      }
    }
  }
  if (trace_) addLinesAndRules(*trace_, entries);
  palette_.setEntries(std::move(entries));
}

void Session::searchTrace(const QString& query) {
  constexpr size_t kMost = 200;
  const QString wanted = query.mid(1).trimmed();
  if (!trace_ || wanted.isEmpty()) return;
  background_.ask(Channel::Search,
                  [this, query, text = wanted.toStdString()](Background::Job& job) -> Background::Answer {
                    const NodeHits hits = findNodes(job.trace, text, kMost);
                    std::vector<PaletteModel::Entry> found;
                    const NodeReader read = job.trace.nodes().reader();
                    for (const NodeId id : hits.nodes) {
                      if (job.stale()) return {};
                      const QString number = QString::number(id);
                      found.push_back(
                          {QStringLiteral("node"),
                           QString::fromStdString(nodeLabel(read(id)) + "   " + expression(read, id, 3, 90)),
                           QLatin1Char('#') + number, QStringLiteral("anywhere=") + number});
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

void Session::choose(const QVariantMap& entry) {
  const QString target = entry[QStringLiteral("target")].toString();
  if (target.isEmpty()) return;
  if (target.startsWith(QLatin1String("anywhere="))) {
    background_.ask(Channel::Search,
                    [this, id = static_cast<NodeId>(target.mid(9).toULongLong())](
                        Background::Job& job) -> Background::Answer {
                      const auto at = placeOf(job.trace, id);
                      return [this, at, id] {
                        if (!at)
                          return showNotice(tr("Node #%1 is part of no graph that was recorded.").arg(id));
                        // One link: the picture that answers it is the one the node is looked for in.
                        follow(QString::fromStdString(
                            makeLink(*trace_, {at->scope, at->pass, at->step, id, "graph"}).str()));
                      };
                    });
    return;
  }
  if (entry[QStringLiteral("kind")].toString() == QLatin1String("command")) return trigger(target);
  if (target.startsWith(QLatin1String("rule="))) return goToRule(target.mid(5).toLongLong());
  if (follow(target) && target.startsWith(QLatin1String("node="))) {
    tab_ = QStringLiteral("graph");
    Q_EMIT placeChanged();
    Q_EMIT focusAsked(node_);
  }
}

} // namespace uopscope
