// What keys and the palette do in a session: moving along the trace, walking over the graph, jumping by name.
#include "replay/read/step_search.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"
#include "viz/models/work/reports.h"

#include <algorithm>
#include <optional>

namespace uopscope {
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
  if (at_.step > 0 && at_.step <= steps_.count()) return steps_.steps()[static_cast<size_t>(at_.step - 1)].id;
  if (!trace() || !at_.pass) return 0;
  return trace()->pass(at_.pass).firstStep - 1;
}

void Session::showLatest() {
  if (!trace()) tick(); // it may have content by now
  if (!trace()) return;
  lookForMore([this] {
    try {
      const PassId last = lastPass(*trace());
      if (last == 0) return;
      goTo(last, trace()->pass(last).steps);
      setStep(stepCount());
    } catch (const std::exception& e) {
      showNotice(QString::fromUtf8(e.what()));
    }
  });
}

// Moves in the order of the engine's work: into passes that run inside a rule, and out of them.
void Session::stepInTrace(int direction) {
  const StepId here = traceStep();
  const StepId next = nextStep(*trace(), direction > 0 || at_.step > 0 ? here : here + 1, {}, direction);
  if (next != 0 && goToTraceStep(next)) return;
  showNotice(direction > 0 ? tr("This is the last rewrite of the trace.")
                           : tr("This is the first rewrite of the trace."));
}

// To the parent's step that this pass ran in, or to where that step began; an outermost pass is run to its
// end.
void Session::leavePass(bool forward) {
  const PassInfo here = trace()->pass(at_.pass);
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
      const PassId before = at_.pass;
      movePass(-1);
      if (at_.pass != before) setStep(stepCount());
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
    setStep(at_.step + (is("forward-many") ? 10 : -10));
  } else if (is("wider") || is("narrower")) {
    setInterval(at_.interval + (is("wider") ? 1 : -1));
  } else if (is("next-of-rule") || is("previous-of-rule")) {
    const int64_t k = steps_.nextOfRule(at_.step, is("next-of-rule") ? 1 : -1);
    if (k)
      setStep(k);
    else
      showNotice(tr("No other step of this pass applies this rule in that direction."));
  } else if (is("next-decided") || is("previous-decided")) {
    goToDecided(is("next-decided") ? 1 : -1);
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
    const int64_t k = steps_.nextTouching(at_.step, is("next-touching") ? 1 : -1, nodes);
    if (k)
      setStep(k);
    else
      showNotice(tr("No other step of this pass touches this node in that direction."));
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
