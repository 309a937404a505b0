// Moving around in an open trace: passes, steps, nodes, tabs, links, and the actions of the keyboard.
#include "replay/read/link.h"
#include "replay/read/opening.h"
#include "replay/read/step_search.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/session.h"

#include <algorithm>

namespace uopscope {

namespace {

const char* kTabs[] = {"graph",  "source", "ir",      "asm",     "uops",     "stats",
                       "script", "links",  "compare", "profile", "timeline", "sql"};

const QString kStepAlone = QStringLiteral("graph/stepAlone");

} // namespace

void Session::readLook() {
  if (const QVariant kept = preferences_.stored(kStepAlone); kept.isValid()) stepAlone_ = kept.toBool();
}

PictureQuestion Session::question() const {
  Arrangement arrangement = arrangement_;
  if (stepAlone_) {
    arrangement.firstStep = std::max<int64_t>(0, step_ - interval_ + 1);
    arrangement.lastStep = step_;
    arrangement.paneWidth = static_cast<float>(pane_.width());
    arrangement.paneHeight = static_cast<float>(pane_.height());
  }
  return {pass_, step_, interval_, options_, arrangement, node_ < 0 ? kNoNode : static_cast<NodeId>(node_)};
}

void Session::askPicture() {
  if (trace_ && pass_) worker_.askPicture(question());
}

// The texts and tables of the tab in front; others are fetched when one turns to them.
void Session::askTab() {
  if (!trace_) return;
  if (tab_ == QLatin1String("stats")) {
    StatsQuestion q;
    q.group = statsGroup_ == QLatin1String("pass")     ? MatchGroup::Pass
              : statsGroup_ == QLatin1String("op")     ? MatchGroup::Op
              : statsGroup_ == QLatin1String("kernel") ? MatchGroup::Scope
                                                       : MatchGroup::Rule;
    if (statsRange_ != QLatin1String("trace")) q.scope = scope_;
    if (statsRange_ == QLatin1String("pass")) q.pass = pass_;
    worker_.askStats(q);
  } else if (tab_ == QLatin1String("source") || tab_ == QLatin1String("ir") || tab_ == QLatin1String("asm") ||
             tab_ == QLatin1String("uops")) {
    const QString wanted = QString::number(scope_) + tab_;
    if (wanted == codeShown_) return;
    codeShown_ = wanted;
    worker_.askText(scope_, tab_);
  }
}

// Enters a trace at an instructive rewrite, in the kernel with most rewrites.
void Session::goToFirst() {
  try {
    const ScopeId scope = fullestScope(*trace_);
    const auto opening = scope ? openingOf(*trace_, scope) : std::nullopt;
    if (opening) return goTo(opening->pass, opening->step.k);
    if (scope) return goToScope(scope);
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
  }
  if (!trace_->scopes().empty()) scope_ = trace_->scopes().front().id;
  Q_EMIT placeChanged();
}

// Makes the pass the present one but requests no data yet.
bool Session::selectPass(ScopeId scope, PassId pass) {
  try {
    const PassInfo info = trace_->pass(pass);
    const ScopeInfo& s = trace_->scope(scope ? scope : info.scope);
    if (pass != pass_) {
      // The selection goes along: the worker finds what the node is in the other pass.
      if (node_ >= static_cast<qlonglong>(kFirstViewNode) || s.id != scope_) node_ = -1;
      nodeInfo_.clear();
      interval_ = 1;
      const GroupBy grouping = arrangement_.groupBy;
      arrangement_ = {};
      arrangement_.groupBy = grouping;
    }
    scope_ = s.id;
    pass_ = pass;
    scopeName_ = QString::fromStdString(s.name);
    scopeKind_ = s.kind == ScopeKind::Kernel     ? QStringLiteral("kernel")
                 : s.kind == ScopeKind::Schedule ? QStringLiteral("schedule")
                 : s.kind == ScopeKind::Script   ? QStringLiteral("script")
                                                 : QStringLiteral("other");
    passName_ = QString::fromStdString(info.name);
    passPlace_ = shortPlace(info.at);
    passProblem_ = info.outcome == PassOutcome::Failed ? QString::fromStdString(info.message) : QString();
    steps_.setPass(trace_.get(), pass);
    tree_.setCurrent(scope_, pass_);
    if (s.script.known() && s.script.file == trace_->scriptName()) script_.setCurrentLine(s.script.line);
    return true;
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
    return false;
  }
}

void Session::goToPass(qlonglong scope, qlonglong pass) {
  if (!trace_ || !selectPass(scope, pass)) return;
  step_ = std::min<int64_t>(1, steps_.count());
  askPicture();
  askTab();
  remember();
}

void Session::goTo(qlonglong pass, qlonglong step, qlonglong node) {
  if (!trace_ || !selectPass(0, pass)) return;
  step_ = std::clamp<int64_t>(step, 0, steps_.count());
  if (node >= 0) {
    node_ = node;
    graph_.setSelected(node);
  }
  askPicture();
  askTab();
  remember();
}

void Session::goToScope(qlonglong scope) {
  if (!trace_) return;
  try {
    for (const PassInfo& p : trace_->passes(scope))
      if (p.steps > 0) return goToPass(scope, p.id);
    if (!trace_->passes(scope).empty()) return goToPass(scope, trace_->passes(scope).front().id);
    for (ScopeId child : trace_->childrenOf(scope))
      if (trace_->scope(child).totalSteps > 0) return goToScope(child);
    showNotice(tr("Nothing was rewritten in %1.").arg(QString::fromStdString(trace_->scope(scope).name)));
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
  }
}

bool Session::goToTraceStep(qlonglong id, qlonglong node) {
  if (!trace_) return false;
  const auto at = placeOfStep(*trace_, id);
  if (!at) return false;
  goTo(at->pass, at->step.k, node);
  return true;
}

void Session::goToRule(qlonglong rule) {
  if (!trace_) return;
  try {
    for (const StepId from : {traceStep(), StepId{0}}) {
      const StepId next = nextByRule(*trace_, rule, from);
      if (next == 0) continue;
      tab_ = QStringLiteral("graph");
      if (goToTraceStep(next)) return;
    }
    showNotice(tr("This rule was never applied."));
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
  }
}

void Session::setArrangement(const Arrangement& arrangement) {
  if (arrangement == arrangement_) return;
  arrangement_ = arrangement;
  askPicture();
  Q_EMIT optionsChanged();
}

void Session::setStep(qlonglong step) {
  step = std::clamp<qlonglong>(step, 0, stepCount());
  if (step == step_) return;
  step_ = step;
  askPicture();
  remember();
}

void Session::setInterval(int steps) {
  steps = std::clamp(steps, 1, 1000);
  if (steps == interval_) return;
  interval_ = steps;
  askPicture();
  Q_EMIT placeChanged();
}

void Session::setTab(const QString& tab) {
  if (tab == tab_ || std::none_of(std::begin(kTabs), std::end(kTabs),
                                  [&](const char* t) { return tab == QLatin1String(t); }))
    return;
  tab_ = tab;
  askTab();
  remember();
}

void Session::setNode(qlonglong node) {
  if (node == node_) return;
  node_ = node;
  graph_.setSelected(node);
  nodeInfo_.clear();
  if (node_ >= 0 && trace_ && pass_) worker_.askNode(question(), static_cast<NodeId>(node_));
  // A node that is on the map only is brought into the picture.
  if (const PicturePtr& p = graph_.picture();
      node_ >= 0 && p && p->map && !p->find(node_) && p->map->find(node_)) {
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

// Rounds the pane's size to steps, so that dragging its edge does not lay out at every pixel.
void Session::setGraphPane(qreal width, qreal height) {
  constexpr int kSteps = 48;
  const QSize size(static_cast<int>(width) / kSteps * kSteps, static_cast<int>(height) / kSteps * kSteps);
  if (size == pane_ || width < 2 * kSteps || height < 2 * kSteps) return;
  pane_ = size;
  if (stepAlone_) askPicture();
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
  if (!travelling_) history_.visit(link(), QStringLiteral("%1/%2").arg(pass_).arg(tab_));
  Q_EMIT placeChanged();
}

QString Session::link() const {
  if (!trace_ || !scope_) return {};
  try {
    ResolvedLink at;
    at.scope = scope_;
    at.pass = pass_;
    at.step = step_;
    at.node =
        node_ < 0 || node_ >= static_cast<qlonglong>(kFirstViewNode) ? kNoNode : static_cast<NodeId>(node_);
    at.tab = tab_.toStdString();
    return QString::fromStdString(makeLink(*trace_, at).str());
  } catch (const std::exception&) {
    return {};
  }
}

bool Session::follow(const QString& text) {
  if (!trace_) return false;
  try {
    Link link = Link::parse(text.trimmed().toStdString());
    // What a link leaves out stays as it is: "step=12" is a place in the pass one looks at.
    const bool samePass = link.kernel.empty() && link.pass.empty();
    ResolvedLink at;
    if (samePass) {
      at.scope = scope_;
      at.pass = pass_;
      at.step = link.step.value_or(step_);
      at.node = link.node.value_or(kNoNode);
    } else {
      if (link.kernel.empty()) link.kernel = std::to_string(scope_);
      at = resolve(*trace_, link);
    }
    if (!link.tab.empty()) {
      const QString tab = QString::fromStdString(link.tab);
      if (std::none_of(std::begin(kTabs), std::end(kTabs),
                       [&](const char* t) { return tab == QLatin1String(t); }))
        throw Error(ErrorKind::Value,
                    "there is no tab \"" + link.tab +
                        "\": use graph, source, ir, asm, uops, stats, script, links, compare, profile, "
                        "timeline or sql");
      if (tab != tab_) {
        tab_ = tab;
        codeShown_.clear();
      }
    }
    if (at.pass == 0) {
      goToScope(at.scope);
      return pass_ != 0;
    }
    if (!selectPass(at.scope, at.pass)) return false;
    if (at.step < 0 || at.step > steps_.count())
      throw Error(ErrorKind::Value, "pass \"" + passName_.toStdString() + "\" has steps 0 to " +
                                        std::to_string(steps_.count()) + ", not " + std::to_string(at.step));
    step_ = link.step || samePass ? at.step : std::min<int64_t>(1, steps_.count());
    if (at.node != kNoNode) {
      trace_->nodes().raw(at.node);
      nodeAsked_ = true;
      node_ = at.node;
      graph_.setSelected(node_);
    }
    askPicture();
    askTab();
    remember();
    return true;
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
    return false;
  }
}

std::vector<PassId> Session::visiblePasses(ScopeId scope) {
  std::vector<PassId> out;
  for (const PassInfo& p : trace_->passes(scope))
    if (!tree_.hideEmpty() || (p.steps > 0 && !tree_.hides(p)) || p.outcome == PassOutcome::Failed ||
        p.id == pass_)
      out.push_back(p.id);
  return out;
}

void Session::movePass(int direction) {
  if (!trace_ || !scope_) return;
  const auto passes = visiblePasses(scope_);
  const auto here = std::find(passes.begin(), passes.end(), pass_);
  if (direction > 0 && here != passes.end() && here + 1 != passes.end()) return goToPass(scope_, *(here + 1));
  if (direction < 0 && here != passes.begin() && here != passes.end()) return goToPass(scope_, *(here - 1));
  moveScope(direction);
}

// The next (or previous) scope in which something was rewritten; going back one lands on its last pass.
void Session::moveScope(int direction) {
  if (!trace_ || trace_->scopes().empty()) return;
  const auto& scopes = trace_->scopes();
  const auto here =
      std::find_if(scopes.begin(), scopes.end(), [&](const ScopeInfo& s) { return s.id == scope_; });
  for (auto i = here - scopes.begin() + direction; i >= 0 && i < static_cast<std::ptrdiff_t>(scopes.size());
       i += direction) {
    const ScopeId id = scopes[static_cast<size_t>(i)].id;
    const auto passes = visiblePasses(id);
    if (!passes.empty()) return goToPass(id, direction > 0 ? passes.front() : passes.back());
  }
  showNotice(direction > 0 ? tr("This is the last pass of the trace.")
                           : tr("This is the first pass of the trace."));
}

} // namespace uopscope
