// Moving around in an open trace: passes, steps, nodes, tabs, links, and the actions of the keyboard.
#include "replay/read/link.h"
#include "replay/read/step_search.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"

#include <algorithm>

namespace uopscope {

namespace {

const QString kStepAlone = QStringLiteral("graph/stepAlone"), kLayout = QStringLiteral("graph/layout");
const QString kLayered = QStringLiteral("layered"), kDot = QStringLiteral("dot");

} // namespace

void Session::readLook() {
  if (preferences_.stored(kLayout).toString() == kDot) options_.layout = LayoutBy::Dot;
  if (const QVariant kept = preferences_.stored(kStepAlone); kept.isValid()) stepAlone_ = kept.toBool();
}

PictureQuestion Session::question() const {
  Arrangement arrangement = arrangement_;
  if (stepAlone_) {
    arrangement.firstStep = std::max<int64_t>(0, at_.step - at_.interval + 1);
    arrangement.lastStep = at_.step;
  }
  if (stepAlone_ || arrangement.groupBy == GroupBy::Layer) {
    arrangement.paneWidth = static_cast<float>(pane_.width());
    arrangement.paneHeight = static_cast<float>(pane_.height());
  }
  return {at_.pass, at_.step,    at_.interval,
          options_, arrangement, at_.node < 0 ? kNoNode : static_cast<NodeId>(at_.node)};
}

void Session::askPicture() {
  if (trace() && at_.pass) pictures_.askPicture(question());
}

// The texts and tables of the tab in front; others are fetched when one turns to them.
void Session::askTab() {
  if (!trace()) return;
  if (at_.tab == QLatin1String("stats")) {
    StatsQuestion q;
    q.group = statsGroup_ == QLatin1String("pass")     ? MatchGroup::Pass
              : statsGroup_ == QLatin1String("op")     ? MatchGroup::Op
              : statsGroup_ == QLatin1String("kernel") ? MatchGroup::Scope
                                                       : MatchGroup::Rule;
    if (statsRange_ != QLatin1String("trace")) q.scope = at_.scope;
    if (statsRange_ == QLatin1String("pass")) q.pass = at_.pass;
    pictures_.askStats(q);
  } else if (at_.tab == QLatin1String("source") || at_.tab == QLatin1String("ir") ||
             at_.tab == QLatin1String("asm") || at_.tab == QLatin1String("uops")) {
    const QString wanted = QString::number(at_.scope) + at_.tab;
    if (wanted == codeShown_) return;
    codeShown_ = wanted;
    pictures_.askText(at_.scope, at_.tab);
  }
}

// Enters a trace at an instructive rewrite, in the kernel with most rewrites.
void Session::goToFirst() {
  const TraceFacts& facts = trace()->facts();
  if (facts.opening) return goTo(facts.opening->pass, facts.opening->step.k);
  if (facts.openingScope) return goToScope(facts.openingScope);
  if (trace()->scopes().empty()) return;
  at_.scope = trace()->scopes().front().id;
  // A graph that was imported has a pass and no step.
  for (const ScopeInfo& s : trace()->scopes())
    if (s.kind == ScopeKind::Kernel) return goToScope(s.id);
  if (facts.lastPass == 0 && facts.finished) at_.tab = QStringLiteral("timeline");
  Q_EMIT placeChanged();
}

// Moves need the passes of the scope they lead to, which a job may have to read first.
void Session::whenKnown(ScopeId scope, PassId pass, std::function<void()> then) {
  readers_.whenKnown(scope, pass, std::move(then), [this](const QString& what) { showNotice(what); });
}

void Session::nameScope(const ScopeInfo& s) {
  scopeName_ = QString::fromStdString(s.name);
  scopeKind_ = s.kind == ScopeKind::Kernel     ? QStringLiteral("kernel")
               : s.kind == ScopeKind::Schedule ? QStringLiteral("schedule")
               : s.kind == ScopeKind::Script   ? QStringLiteral("script")
                                               : QStringLiteral("other");
}

// Makes the pass the present one but requests no data yet.
bool Session::selectPass(ScopeId scope, PassId pass) {
  try {
    const PassInfo& info = trace()->pass(pass);
    const ScopeInfo& s = trace()->scope(scope ? scope : info.scope);
    if (pass != at_.pass) {
      // The selection goes along: the worker finds the same node in the other pass.
      if (at_.node >= static_cast<qlonglong>(kFirstViewNode) || s.id != at_.scope) at_.node = -1;
      nodeInfo_.clear();
      at_.interval = 1;
      Arrangement kept;
      kept.groupBy = arrangement_.groupBy;
      if (s.id == at_.scope) kept.level = arrangement_.level; // the passes of a schedule have the same layers
      arrangement_ = std::move(kept);
    }
    at_.scope = s.id;
    at_.pass = pass;
    nameScope(s);
    passName_ = QString::fromStdString(info.name);
    passPlace_ = shortPlace(info.at);
    passProblem_ = info.outcome == PassOutcome::Failed ? QString::fromStdString(info.message) : QString();
    steps_.setPass(trace(), &info);
    tree_.setCurrent(at_.scope, at_.pass);
    if (s.script.known() && s.script.file == trace()->scriptName()) script_.setCurrentLine(s.script.line);
    return true;
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
    return false;
  }
}

void Session::goToPass(qlonglong scope, qlonglong pass) {
  if (!trace()) return;
  whenKnown(scope, pass, [this, scope, pass] {
    if (!selectPass(scope, pass)) return;
    at_.step = std::min<int64_t>(1, steps_.count());
    askPicture();
    askTab();
    remember();
  });
}

void Session::goTo(qlonglong pass, qlonglong step, qlonglong node) {
  if (!trace()) return;
  whenKnown(0, pass, [this, pass, step, node] {
    if (!selectPass(0, pass)) return;
    at_.step = std::clamp<int64_t>(step, 0, steps_.count());
    if (node >= 0) {
      at_.node = node;
      graph_.setSelected(node);
    }
    askPicture();
    askTab();
    remember();
  });
}

// A scope without a pass, such as a kernel of an imported timeline, has texts and times and no graph.
void Session::enterScope(ScopeId scope) {
  const ScopeInfo& s = trace()->scope(scope);
  at_.scope = scope;
  at_.pass = at_.step = 0;
  at_.node = -1;
  nodeInfo_.clear();
  graph_.setPicture(nullptr);
  nameScope(s);
  passName_.clear(), passPlace_.clear(), passProblem_.clear();
  steps_.setPass(trace(), nullptr);
  tree_.setCurrent(at_.scope, 0);
  // In a trace of times alone the graph is empty for every kernel.
  if (at_.tab == QLatin1String("graph") && trace()->facts().lastPass == 0)
    at_.tab = QStringLiteral("timeline");
  if (at_.tab == QLatin1String("graph")) showNotice(tr("Nothing was rewritten in %1.").arg(scopeName_));
  askTab();
  remember();
}

void Session::goToScope(qlonglong scope) {
  if (!trace()) return;
  whenKnown(scope, 0, [this, scope] {
    try {
      for (const PassInfo& p : trace()->passes(scope))
        if (p.steps > 0) return goToPass(scope, p.id);
      if (!trace()->passes(scope).empty()) return goToPass(scope, trace()->passes(scope).front().id);
      for (ScopeId child : trace()->childrenOf(scope))
        if (trace()->scope(child).totalSteps > 0) return goToScope(child);
      // While a recording grows, its first pass may be on its way.
      if (trace()->facts().finished) return enterScope(scope);
      showNotice(tr("Nothing was rewritten in %1.").arg(QString::fromStdString(trace()->scope(scope).name)));
    } catch (const std::exception& e) {
      showNotice(QString::fromUtf8(e.what()));
    }
  });
}

void Session::goToTraceStep(qlonglong id, qlonglong node) {
  if (!trace()) return;
  jobs().ask(
      Channel::Move,
      [this, id, node](Jobs::Job& job) -> Jobs::Answer {
        const auto at = placeOfStep(job.trace(), id);
        return [this, at, id, node] {
          if (at) return goTo(at->pass, at->step.k, node);
          showNotice(tr("This trace has no rewrite %1.").arg(id));
        };
      },
      [this](const QString& what) { showNotice(what); });
}

// Steps are not indexed by rule, so a reader's thread looks.
void Session::goToRule(qlonglong rule) {
  if (!trace()) return;
  jobs().ask(
      Channel::Run,
      [this, rule, here = traceStep()](Jobs::Job& job) -> Jobs::Answer {
        std::optional<StepPlace> at;
        for (const StepId from : {here, StepId{0}}) {
          const StepId next = nextByRule(job.trace(), rule, from);
          if (next != 0) at = placeOfStep(job.trace(), next);
          if (at) break;
        }
        return [this, at] {
          if (!at) return showNotice(tr("This rule was never applied."));
          at_.tab = QStringLiteral("graph");
          goTo(at->pass, at->step.k);
        };
      },
      [this](const QString& what) { showNotice(what); });
}

void Session::setArrangement(const Arrangement& arrangement) {
  if (arrangement == arrangement_) return;
  arrangement_ = arrangement;
  askPicture();
  Q_EMIT optionsChanged();
}

void Session::setStep(qlonglong step) {
  step = std::clamp<qlonglong>(step, 0, stepCount());
  if (step == at_.step) return;
  at_.step = step;
  askPicture();
  remember();
}

void Session::setInterval(int steps) {
  steps = std::clamp(steps, 1, 1000);
  if (steps == at_.interval) return;
  at_.interval = steps;
  askPicture();
  Q_EMIT placeChanged();
}

void Session::setTab(const QString& tab) {
  if (tab == at_.tab || !tabs().contains(tab)) return;
  at_.tab = tab;
  askTab();
  remember();
}

void Session::setNode(qlonglong node) {
  if (node == at_.node) return;
  at_.node = node;
  graph_.setSelected(node);
  nodeInfo_.clear();
  if (at_.node >= 0 && trace() && at_.pass) pictures_.askNode(question(), static_cast<NodeId>(at_.node));
  // A node that is on the map only is brought into the picture.
  if (const PicturePtr& p = graph_.picture();
      at_.node >= 0 && p && p->map && !p->find(at_.node) && p->map->find(at_.node)) {
    nodeAsked_ = true;
    askPicture();
  }
  Q_EMIT nodeChanged();
  remember();
}

void Session::setFoldLabels(bool on) {
  if (on == options_.foldConstants) return;
  options_.foldConstants = options_.foldHubs = on;
  Q_EMIT optionsChanged();
  askPicture();
}

void Session::setStepAlone(bool on) {
  if (on == stepAlone_) return;
  stepAlone_ = on;
  preferences_.store(kStepAlone, on);
  Q_EMIT optionsChanged();
  askPicture();
}

QString Session::layoutBy() const {
  return options_.layout == LayoutBy::Dot ? kDot : kLayered;
}

void Session::setLayoutBy(const QString& who) {
  if (who == layoutBy() || (who != kDot && who != kLayered)) return;
  options_.layout = who == kDot ? LayoutBy::Dot : LayoutBy::Layered;
  preferences_.store(kLayout, who);
  Q_EMIT optionsChanged();
  askPicture();
}

// Rounds the pane's size to steps, so that dragging its edge does not lay out at every pixel.
void Session::setGraphPane(qreal width, qreal height) {
  constexpr int kSteps = 48;
  const QSize size(static_cast<int>(width) / kSteps * kSteps, static_cast<int>(height) / kSteps * kSteps);
  if (size == pane_ || width < 2 * kSteps || height < 2 * kSteps) return;
  pane_ = size;
  if (stepAlone_ || arrangement_.groupBy == GroupBy::Layer) askPicture();
}

void Session::setLeftToRight(bool on) {
  if (on == options_.leftToRight) return;
  options_.leftToRight = on;
  Q_EMIT optionsChanged();
  askPicture();
}

void Session::setStatsGroup(const QString& group) {
  if (group == statsGroup_) return;
  statsGroup_ = group;
  Q_EMIT statsChanged();
  askTab();
}

void Session::setStatsRange(const QString& range) {
  if (range == statsRange_) return;
  statsRange_ = range;
  Q_EMIT statsChanged();
  askTab();
}

void Session::remember() {
  if (!travelling_) history_.visit(at_);
  Q_EMIT placeChanged();
}

QString Session::link() const {
  return trace() ? linkTo(*trace(), at_) : QString();
}

bool Session::follow(const QString& link) {
  if (!trace()) return false;
  try {
    const ScopeId scope = scopeOf(*trace(), link, at_);
    if (scope == 0 || trace()->knows(scope)) {
      const bool went = go(placeOf(*trace(), link, at_));
      const std::string variant = Link::parse(link.trimmed().toStdString()).variant;
      if (!variant.empty()) Q_EMIT variantAsked(QString::fromStdString(variant));
      return went || !variant.empty();
    }
    whenKnown(scope, 0, [this, link] { follow(link); });
    return true;
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
    return false;
  }
}

bool Session::go(const Place& place) {
  if (place.pass && !trace()->knowsPass(place.pass)) {
    whenKnown(place.scope, place.pass, [this, place, travels = travelling_] {
      travelling_ = travels;
      go(place);
      travelling_ = false;
    });
    return true;
  }
  if (place.tab != at_.tab) {
    at_.tab = place.tab;
    codeShown_.clear();
  }
  if (place.pass == 0) {
    goToScope(place.scope);
    return at_.pass != 0 || (place.scope != 0 && at_.scope == place.scope);
  }
  const bool asked = place.node >= 0 && place.node != at_.node;
  if (!selectPass(place.scope, place.pass)) return false;
  at_.step = std::clamp<int64_t>(place.step, 0, steps_.count());
  if (asked) {
    nodeAsked_ = true;
    at_.node = place.node;
    graph_.setSelected(at_.node);
  }
  askPicture();
  askTab();
  remember();
  return true;
}

std::vector<PassId> Session::visiblePasses(ScopeId scope) {
  std::vector<PassId> out;
  for (const PassInfo& p : trace()->passes(scope))
    if (!tree_.hideEmpty() || (p.steps > 0 && !tree_.hides(p)) || p.outcome == PassOutcome::Failed ||
        p.id == at_.pass)
      out.push_back(p.id);
  return out;
}

void Session::movePass(int direction, bool toEnd) {
  if (!trace() || !at_.scope) return;
  const auto passes = visiblePasses(at_.scope);
  const auto here = std::find(passes.begin(), passes.end(), at_.pass);
  const bool last =
      here == passes.end() || (direction > 0 ? here + 1 == passes.end() : here == passes.begin());
  if (last) return moveScope(direction, toEnd);
  goToPass(at_.scope, *(here + direction));
  if (toEnd) setStep(stepCount());
}

// The next (or previous) scope in which something was rewritten; going back one lands on its last pass.
void Session::moveScope(int direction, bool toEnd) {
  if (!trace() || trace()->scopes().empty()) return;
  const auto& scopes = trace()->scopes();
  const auto here = std::ranges::find(scopes, at_.scope, &ScopeInfo::id);
  tryScope(here - scopes.begin() + direction, direction, toEnd);
}

void Session::tryScope(std::ptrdiff_t number, int direction, bool toEnd) {
  for (; number >= 0 && number < std::ssize(trace()->scopes()); number += direction) {
    const ScopeId id = trace()->scopes()[static_cast<size_t>(number)].id;
    if (!trace()->knows(id))
      return whenKnown(id, 0, [this, number, direction, toEnd] { tryScope(number, direction, toEnd); });
    const auto passes = visiblePasses(id);
    if (passes.empty()) continue;
    goToPass(id, direction > 0 ? passes.front() : passes.back());
    if (toEnd) setStep(stepCount());
    return;
  }
  showNotice(direction > 0 ? tr("This is the last pass of the trace.")
                           : tr("This is the first pass of the trace."));
}

} // namespace uopscope
