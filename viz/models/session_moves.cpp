// Moving around in an open trace: passes, steps, nodes, tabs, links, and the actions of the keyboard.
#include "replay/read/link.h"
#include "viz/models/actions.h"
#include "viz/models/session.h"

#include <algorithm>

namespace uopscope {

namespace {

const char* kTabs[] = {"graph", "source", "ir", "asm", "uops", "stats", "script"};

} // namespace

PictureQuestion Session::question() const {
  return {pass_, step_, interval_, options_, node_ < 0 ? kNoNode : static_cast<NodeId>(node_)};
}

void Session::askPicture() {
  if (trace_ && pass_) worker_.askPicture(question());
}

// The texts and tables of the tab in front; others are fetched when one turns to them.
void Session::askTab() {
  if (!trace_) return;
  if (tab_ == QLatin1String("stats")) {
    StatsQuestion q;
    q.group = statsGroup_ == QLatin1String("pass") ? MatchGroup::Pass
              : statsGroup_ == QLatin1String("op") ? MatchGroup::Op
                                                   : MatchGroup::Rule;
    if (statsRange_ != QLatin1String("trace")) q.scope = scope_;
    if (statsRange_ == QLatin1String("pass")) q.pass = pass_;
    worker_.askStats(q);
  } else if (tab_ != QLatin1String("graph") && tab_ != QLatin1String("script")) {
    const QString wanted = QString::number(scope_) + tab_;
    if (wanted == codeShown_) return;
    codeShown_ = wanted;
    worker_.askText(scope_, tab_);
  }
}

// Where a trace is entered: the kernel in which most was rewritten; failing that, the fullest scope of any
// kind.
void Session::goToFirst() {
  const ScopeInfo* fullest = nullptr;
  for (const ScopeInfo& s : trace_->scopes()) {
    const auto weight = [](const ScopeInfo& x) { return std::pair(x.kind == ScopeKind::Kernel, x.steps); };
    if (s.steps > 0 && (!fullest || weight(s) > weight(*fullest))) fullest = &s;
  }
  if (fullest) return goToScope(fullest->id);
  if (!trace_->scopes().empty()) scope_ = trace_->scopes().front().id;
  Q_EMIT placeChanged();
}

// Makes the pass the present one, without asking for anything yet.
bool Session::selectPass(ScopeId scope, PassId pass) {
  try {
    const PassInfo info = trace_->pass(pass);
    const ScopeInfo& s = trace_->scope(scope ? scope : info.scope);
    if (pass != pass_) {
      node_ = -1;
      nodeInfo_.clear();
      interval_ = 1;
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
    if (s.script.known() && s.script.file == trace_->scriptFile().file) script_.setCurrentLine(s.script.line);
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

void Session::goToRule(qlonglong rule) {
  if (!trace_) return;
  try {
    StepId here = 0;
    if (step_ > 0 && step_ <= steps_.count()) here = steps_.steps()[static_cast<size_t>(step_ - 1)].id;
    for (const StepId from : {here, StepId{0}}) {
      Statement next = trace_->database().prepare(
          "SELECT pass, id FROM step WHERE rule = ?1 AND id > ?2 ORDER BY id LIMIT 1");
      next.bind(1, static_cast<int64_t>(rule)).bind(2, from);
      if (!next.step()) continue;
      const PassId pass = next.integer(0);
      const StepId id = next.integer(1);
      for (const StepInfo& s : trace_->steps(pass))
        if (s.id == id) {
          tab_ = QStringLiteral("graph");
          return goTo(pass, s.k);
        }
    }
    showNotice(tr("This rule was never applied."));
  } catch (const std::exception& e) {
    showNotice(QString::fromUtf8(e.what()));
  }
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
  Q_EMIT nodeChanged();
  remember();
}

void Session::setFoldLabels(bool on) {
  if (on == options_.foldConstants) return;
  options_.foldConstants = options_.foldHubs = on;
  Q_EMIT optionsChanged();
  askPicture();
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
        throw Error(ErrorKind::Value, "there is no tab \"" + link.tab +
                                          "\": use graph, source, ir, asm, uops, stats or script");
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
    if (!tree_.hideEmpty() || p.steps > 0 || p.outcome == PassOutcome::Failed || p.id == pass_)
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

void Session::trigger(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  if (action.startsWith(QLatin1String("tab-"))) return setTab(action.mid(4));
  if (is("close")) return close();
  if (is("record-again")) return recordAgain();
  if (trace_) {
    if (is("next-step")) {
      if (step_ < stepCount())
        setStep(step_ + 1);
      else
        movePass(1);
      return;
    }
    if (is("previous-step")) {
      if (step_ > 0) return setStep(step_ - 1);
      const PassId before = pass_;
      movePass(-1);
      if (pass_ != before) setStep(stepCount());
      return;
    }
    if (is("next-pass")) return movePass(1);
    if (is("previous-pass")) return movePass(-1);
    if (is("next-kernel")) return moveScope(1);
    if (is("previous-kernel")) return moveScope(-1);
    if (is("first-step")) return setStep(0);
    if (is("last-step")) return setStep(stepCount());
    if (is("forward-many")) return setStep(step_ + 10);
    if (is("back-many")) return setStep(step_ - 10);
    if (is("wider")) return setInterval(interval_ + 1);
    if (is("narrower")) return setInterval(interval_ - 1);
    if (is("fold")) return setFoldLabels(!foldLabels());
    if (is("turn")) return setLeftToRight(!leftToRight());
    if (is("go-source")) return walk(true);
    if (is("go-user")) return walk(false);
    if (is("next-of-rule") || is("previous-of-rule")) {
      const int64_t k = steps_.nextOfRule(step_, is("next-of-rule") ? 1 : -1);
      return k ? setStep(k)
               : showNotice(tr("No other step of this pass applies this rule in that direction."));
    }
    if (is("next-touching") || is("previous-touching")) {
      if (node_ < 0) return showNotice(tr("Select a node first."));
      const int64_t k = steps_.nextTouching(step_, is("next-touching") ? 1 : -1, static_cast<NodeId>(node_));
      return k ? setStep(k)
               : showNotice(tr("No other step of this pass touches this node in that direction."));
    }
    if (is("back") || is("forward")) {
      const QString to = is("back") ? history_.back() : history_.forward();
      if (to.isEmpty()) return;
      travelling_ = true;
      follow(to);
      travelling_ = false;
      Q_EMIT placeChanged();
      return;
    }
  }
  Q_EMIT uiAction(action);
}

void Session::preparePalette() {
  std::vector<PaletteModel::Entry> entries;
  for (const Action& a : actionTable()) {
    const QString keys = QString::fromLatin1(a.keys).section(QLatin1Char(' '), 0, 0);
    entries.push_back({QStringLiteral("command"), QLatin1String(a.text), keyCaps(keys), QLatin1String(a.id)});
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
  palette_.setEntries(std::move(entries));
}

void Session::choose(const QVariantMap& entry) {
  const QString target = entry[QStringLiteral("target")].toString();
  if (entry[QStringLiteral("kind")].toString() == QLatin1String("command")) return trigger(target);
  if (follow(target) && target.startsWith(QLatin1String("node="))) {
    tab_ = QStringLiteral("graph");
    Q_EMIT placeChanged();
    Q_EMIT focusAsked(node_);
  }
}

} // namespace uopscope
