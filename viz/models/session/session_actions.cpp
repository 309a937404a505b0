// What keys and the palette do in a session: moving along the trace, walking over the graph, jumping by name.
#include "replay/read/step_search.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"
#include "viz/models/work/reports.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace uopscope {
namespace {

/// Whether an action goes somewhere from where one is: its meaning depends on the moves before it.
bool isMove(const QString& action) {
  static const QStringList all{"next-step",    "previous-step",    "step-in",       "step-in-back",
                               "finish",       "unfinish",         "next-changing", "previous-changing",
                               "next-pass",    "previous-pass",    "next-kernel",   "previous-kernel",
                               "first-step",   "last-step",        "forward-many",  "back-many",
                               "wider",        "narrower",         "next-of-rule",  "previous-of-rule",
                               "next-decided", "previous-decided", "next-touching", "previous-touching",
                               "back",         "forward"};
  return all.contains(action);
}

} // namespace

void Session::walk(bool toSource) {
  const PicturePtr& p = graph_.picture();
  if (!p) return;
  if (at_.node < 0) {
    if (!p->nodes.empty()) setNode(p->nodes.back().id);
  } else if (const auto it = p->byId.find(at_.node); it != p->byId.end()) {
    for (const PictureEdge& e : p->edges)
      if ((toSource ? e.to : e.from) == it->second && e.mark != Mark::Removed) {
        setNode(p->nodes[toSource ? e.from : e.to].id);
        break;
      }
  }
  Q_EMIT focusAsked(at_.node);
}

StepId Session::traceStep() const {
  if (at_.step > 0 && at_.step <= std::ssize(steps_.steps()))
    return steps_.steps()[static_cast<size_t>(at_.step - 1)].id;
  if (!trace() || !at_.pass) return 0;
  return trace()->pass(at_.pass).firstStep - 1 + at_.step; // right where no pass ran inside it
}

void Session::showLatest() {
  if (!trace()) tick(); // it may have content by now
  if (!trace()) return;
  lookForMore([this] {
    const PassId last = trace()->facts().lastPass;
    if (last == 0) return;
    goTo(last, std::numeric_limits<qlonglong>::max());
  });
}

// Moves in the order of the engine's work: into passes that run inside a rule, and out of them.
void Session::stepInTrace(int direction) {
  jobs().ask(
      Channel::Move,
      [this, direction, here = traceStep(), inside = at_.step > 0](Jobs::Job& job) -> Jobs::Answer {
        const StepId next = nextStep(job.trace(), direction > 0 || inside ? here : here + 1, {}, direction);
        const auto at = next ? placeOfStep(job.trace(), next) : std::nullopt;
        return [this, at, direction] {
          if (at) return goTo(at->pass, at->step.k);
          showNotice(direction > 0 ? tr("This is the last rewrite of the trace.")
                                   : tr("This is the first rewrite of the trace."));
        };
      },
      [this](const QString& what) { showNotice(what); });
}

// To the parent's step that this pass ran in, or to where that step began; an outermost pass is run to its
// end.
void Session::leavePass(bool forward) {
  const PassInfo here = trace()->pass(at_.pass); // a copy: going on may read passes anew
  if (here.parent == 0) return setStep(forward ? stepCount() : 0);
  goTo(here.parent, here.parentSteps + (forward ? 1 : 0));
}

void Session::nextChanging(int direction) {
  const auto& all = steps_.steps();
  for (int64_t k = at_.step + direction; k >= 1 && k <= stepCount(); k += direction) {
    const StepInfo& s = all[static_cast<size_t>(k - 1)];
    if (s.after != kNoNode && s.after != s.before) return setStep(k);
  }
  // Passes without a change are passed over.
  if (direction < 0 && at_.step > 0) return setStep(0);
  for (qlonglong before = -1; before != at_.pass && stepCount() >= 0;) {
    before = at_.pass;
    movePass(direction);
    if (stepCount() > 0) return setStep(direction > 0 ? 1 : stepCount());
  }
}

// On through the passes of the kernel: few of them decide anything, so a reader's thread looks.
void Session::goToDecided(int direction) {
  if (const int64_t k = steps_.nextDecided(at_.step, direction)) return setStep(k);
  jobs().ask(
      Channel::Move,
      [this, scope = at_.scope, pass = at_.pass, direction](Jobs::Job& job) -> Jobs::Answer {
        const auto& passes = job.trace().passes(scope);
        auto at = std::ranges::find(passes, pass, &PassInfo::id) - passes.begin();
        std::optional<StepPlace> found;
        for (at += direction; !found && at >= 0 && at < std::ssize(passes) && !job.stale(); at += direction) {
          const Decisions made = decisionsOf(job.trace(), passes[static_cast<size_t>(at)].id);
          if (!made.empty())
            found = placeOfStep(job.trace(), direction > 0 ? made.begin()->first : made.rbegin()->first);
        }
        return [this, found, direction] {
          if (found) return goTo(found->pass, found->step.k);
          showNotice(direction > 0 ? tr("Nothing else was decided in %1 after this.").arg(scopeName_)
                                   : tr("Nothing else was decided in %1 before this.").arg(scopeName_));
        };
      },
      [this](const QString& what) { showNotice(what); });
}

void Session::goToTouching(const std::set<NodeId>& nodes, int direction) {
  jobs().ask(
      Channel::Move,
      [this, nodes, direction, steps = steps_.shared(), from = at_.step](Jobs::Job& job) -> Jobs::Answer {
        const int64_t k =
            nextTouching(job.trace(), *steps, from, direction, nodes, [&job] { return job.stale(); });
        return [this, k] {
          if (k) return setStep(k);
          showNotice(tr("No other step of this pass touches this node in that direction."));
        };
      },
      [this](const QString& what) { showNotice(what); });
}

bool Session::moving() const {
  const Jobs& jobs = readers_.jobs();
  return jobs.busy(Channel::Move) || jobs.busy(Channel::Enter) ||
         (jobs.busy(Channel::Steps) && steps_.isAwaited());
}

// Keys that came while a move was on its way, in their order.
void Session::doQueued() {
  if (std::exchange(doingQueued_, true)) return; // an action asks jobs, which tell here
  while (!queued_.isEmpty() && !moving()) trigger(queued_.takeFirst());
  doingQueued_ = false;
}

bool Session::triggerMove(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (is("next-step")) {
    if (at_.step < stepCount())
      setStep(at_.step + 1);
    else
      movePass(1);
  } else if (is("previous-step")) {
    if (at_.step > 0) {
      setStep(at_.step - 1);
    } else {
      movePass(-1, true);
    }
  } else if (is("step-in") || is("step-in-back")) {
    steps_.whenLoaded([this, direction = is("step-in") ? 1 : -1] { stepInTrace(direction); });
  } else if (is("finish") || is("unfinish")) {
    leavePass(is("finish"));
  } else if (is("next-changing") || is("previous-changing")) {
    steps_.whenLoaded([this, direction = is("next-changing") ? 1 : -1] { nextChanging(direction); });
  } else if (is("next-pass") || is("previous-pass")) {
    movePass(is("next-pass") ? 1 : -1);
  } else if (is("next-kernel") || is("previous-kernel")) {
    moveScope(is("next-kernel") ? 1 : -1);
  } else if (is("first-step") || is("last-step")) {
    setStep(is("first-step") ? 0 : stepCount());
  } else if (is("forward-many") || is("back-many")) {
    setStep(at_.step + (is("forward-many") ? 10 : -10));
  } else if (is("wider") || is("narrower")) {
    setInterval(at_.interval + (is("wider") ? 1 : -1));
  } else if (is("next-of-rule") || is("previous-of-rule")) {
    steps_.whenLoaded([this, direction = is("next-of-rule") ? 1 : -1] {
      if (const int64_t k = steps_.nextOfRule(at_.step, direction)) return setStep(k);
      showNotice(tr("No other step of this pass applies this rule in that direction."));
    });
  } else if (is("next-decided") || is("previous-decided")) {
    steps_.whenLoaded([this, direction = is("next-decided") ? 1 : -1] { goToDecided(direction); });
  } else if (is("next-touching") || is("previous-touching")) {
    if (at_.node < 0) {
      showNotice(tr("Select a node first."));
      return true;
    }
    // Of a box of lanes, or of a collapsed group, any of its nodes.
    std::set<NodeId> nodes{static_cast<NodeId>(at_.node)};
    if (at_.node >= kFirstGroupId)
      for (const QVariant& member : nodeInfo_[QStringLiteral("members")].toList())
        nodes.insert(static_cast<NodeId>(member.toLongLong()));
    steps_.whenLoaded(
        [this, nodes, direction = is("next-touching") ? 1 : -1] { goToTouching(nodes, direction); });
  } else if (is("back") || is("forward")) {
    if (is("back") ? !history_.canGoBack() : !history_.canGoForward()) return true;
    travelling_ = true;
    go(is("back") ? history_.back() : history_.forward());
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
  if (trace()) {
    constexpr qsizetype kMostQueued = 64;
    if (moving() && queued_.size() < kMostQueued && isMove(action)) {
      queued_ << action;
      return;
    }
    try {
      if (triggerMove(action)) return;
    } catch (const std::exception& e) {
      return showNotice(QString::fromUtf8(e.what()));
    }
    if (is("fold")) return setFoldLabels(!foldLabels());
    if (is("step-alone")) return setStepAlone(!stepAlone());
    if (is("layout"))
      return setLayoutBy(layoutBy() == QLatin1String("dot") ? QStringLiteral("layered")
                                                            : QStringLiteral("dot"));
    if (is("turn")) return setLeftToRight(!leftToRight());
    if (is("go-source")) return walk(true);
    if (is("go-user")) return walk(false);
    if (is("maker")) return goToMaker();
    if (is("origin")) return goToOrigin();
    if (action.startsWith(QLatin1String("input-"))) return walkInput(action.mid(6).toInt());
  }
  Q_EMIT uiAction(action);
}

// Goes to the k-th source of the selected node; sources written into the label count too.
void Session::walkInput(int k) {
  const QVariantList sources = nodeInfo_[QStringLiteral("sources")].toList();
  if (at_.node < 0 || k < 1 || k > sources.size())
    return showNotice(tr("Select a node with %1 sources.").arg(k));
  const auto id = sources[k - 1].toMap()[QStringLiteral("id")].toLongLong();
  setNode(id);
  Q_EMIT focusAsked(id);
}

// Goes to the last rewrite that made the selected node; nodes of the pass's first graph have none.
void Session::goToMaker() {
  for (const QVariant& v : nodeInfo_[QStringLiteral("chain")].toList()) {
    const QVariantMap made = v.toMap();
    if (made[QStringLiteral("kind")].toString() != QLatin1String("rule")) continue;
    return goTo(made[QStringLiteral("pass")].toLongLong(), made[QStringLiteral("step")].toLongLong(),
                made[QStringLiteral("node")].toLongLong());
  }
  showNotice(at_.node < 0 ? tr("Select a node first.") : tr("No recorded rewrite made this node."));
}

void Session::goToOrigin() {
  for (const QVariant& v : nodeInfo_[QStringLiteral("origins")].toList()) {
    const int line = v.toMap()[QStringLiteral("place")].toMap()[QStringLiteral("line")].toInt();
    if (line <= 0) continue;
    script_.setCurrentLine(line);
    return setTab(QStringLiteral("script"));
  }
  showNotice(at_.node < 0 ? tr("Select a node first.") : tr("No script line is known for this node."));
}

} // namespace uopscope
