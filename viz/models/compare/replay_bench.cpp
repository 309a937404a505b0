// Loads pairs of compilations, aligns them in lock-step, and makes a trace of each side for pictures and
// links.
#include "viz/models/compare/replay_bench.h"

#include "engine/base/error.h"
#include "replay/compare/retell.h"
#include "replay/read/text_diff.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <nlohmann/json.hpp>

namespace uopscope {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("uopscope::ReplayBench", text);
}

/// Identifies the content of a file: another file may take its place.
std::string stampOf(const std::string& path) {
  const QFileInfo info(QString::fromStdString(path));
  return path + '@' + std::to_string(info.lastModified().toMSecsSinceEpoch()) + '+' +
         std::to_string(info.size());
}

/// Thrown to end a comparison whose answer nobody waits for.
struct Stopped {};

QString numberText(int64_t n) {
  return n < 0 ? tr("unknown") : grouped(n);
}

QString sizesOf(const Compilation& c, const char* key) {
  const auto j = nlohmann::json::parse(c.launch, nullptr, false);
  if (!j.is_object()) return {};
  QStringList sizes;
  for (const auto& n : j.value(key, nlohmann::json::array()))
    sizes << text(n.is_string() ? n.get<std::string>() : n.dump());
  return sizes.isEmpty() ? tr("1") : sizes.join(QStringLiteral(" × "));
}

QString optionsOf(const Compilation& c) {
  const auto j = nlohmann::json::parse(c.opts, nullptr, false);
  QStringList out;
  if (j.is_array())
    for (const auto& o : j)
      out << text(o.is_string() ? o.get<std::string>() : o.dump())
                 .remove(QStringLiteral("OptOps."))
                 .remove(QStringLiteral("axis="))
                 .remove(QStringLiteral("arg="));
  return out.isEmpty() ? tr("none") : out.join(QStringLiteral(" "));
}

std::vector<ReplayFact> factsOf(const Compilation& x, const Compilation& y, bool kernel) {
  std::vector<ReplayFact> facts;
  auto fact = [&](const QString& name, const QString& before, const QString& after, bool noisy = false) {
    facts.push_back({name, before, after, !noisy && before != after});
  };
  if (x.status != "ok" || y.status != "ok") fact(tr("state"), text(x.status), text(y.status));
  if (kernel) {
    fact(tr("global size"), sizesOf(x, "global"), sizesOf(y, "global"));
    fact(tr("local size"), sizesOf(x, "local"), sizesOf(y, "local"));
    fact(tr("FLOPs"), numberText(x.flops), numberText(y.flops));
    fact(tr("bytes"), numberText(x.bytes), numberText(y.bytes));
    fact(tr("optimisations"), optionsOf(x), optionsOf(y));
  }
  facts.push_back({tr("compile time"), duration(x.compileNs), duration(y.compileNs),
                   speedOf(x.compileNs, y.compileNs) != 0});
  return facts;
}

// What lies deeper is left out: the graphs below draw it.
constexpr int kDeep = 9;

/// What a rewrite made of what.
std::pair<QString, QString> expressionsOf(const Story& story, const StoryEvent& e) {
  return {text(story.expression(e.before, kDeep)),
          e.kind == StoryEvent::Error ? tr("failed") : text(story.expression(e.after, kDeep))};
}

size_t stepsOf(const Story& story) {
  return static_cast<size_t>(std::count_if(story.events().begin(), story.events().end(),
                                           [](const StoryEvent& e) { return e.kind == StoryEvent::Step; }));
}

std::vector<ReplayRow> rowsOf(const LockStep& both, const Story& a, const Story& b) {
  std::vector<ReplayRow> rows;
  rows.reserve(both.rows().size());
  auto fill = [](const Story& story, int event, QString& name, QString& detail, bool& pass) {
    if (event < 0) return;
    const StoryEvent& e = story.events()[static_cast<size_t>(event)];
    name = text(story.word(e.word));
    if (e.kind == StoryEvent::PassBegin)
      pass = true;
    else if (e.kind == StoryEvent::Error)
      detail = tr("failed on %1").arg(text(story.op(e.before)));
    else
      detail = text(story.op(e.before)) + QStringLiteral(" → ") + text(story.op(e.after));
  };
  for (const LockRow& r : both.rows()) {
    ReplayRow& row = rows.emplace_back();
    row.mark = r.mark;
    fill(a, r.before, row.left, row.leftDetail, row.pass);
    fill(b, r.after, row.right, row.rightDetail, row.pass);
  }
  return rows;
}

} // namespace

ReplayBench::ReplayBench() = default;

PassId ReplayBench::Side::passOf(const LockPlace& place) const {
  return place.pass >= 0 && static_cast<size_t>(place.pass) < passes.size()
             ? passes[static_cast<size_t>(place.pass)]
             : 0;
}

void ReplayBench::openSide(Side& side, const std::string& path, double from, const Limits& limits) {
  side = {};
  side.stored = std::make_unique<StoredCompilations>(path, [&](double share) {
    if (limits.progress)
      limits.progress(from + 0.3 * share,
                      tr("reading %1").arg(QFileInfo(QString::fromStdString(path)).fileName()));
    if (limits.stop && *limits.stop) throw Stopped{};
    return true;
  });
  side.corpus.emplace(Corpus::open(side.stored->path()));
  side.given = path;
  side.stamp = stampOf(path);
}

std::shared_ptr<const CorpusDiff> ReplayBench::open(const std::string& before, const std::string& after,
                                                    bool ignoreNames, const Limits& limits) {
  if (!folder_.isValid())
    throw Error(ErrorKind::File,
                "no folder for temporary files can be made: " + folder_.errorString().toStdString());
  auto stopped = [&] { return limits.stop && *limits.stop; };
  try {
    if (stampOf(before) != before_.stamp) openSide(before_, before, 0, limits);
    if (stampOf(after) != after_.stamp) openSide(after_, after, 0.3, limits);
    DiffOptions o;
    o.ignoreNames = ignoreNames;
    const double from = before_.isTrace() || after_.isTrace() ? 0.6 : 0;
    o.progress = [&](size_t done, size_t total) {
      if (stopped()) throw Stopped{};
      if (limits.progress && done % 64 == 0)
        limits.progress(from + (1 - from) * static_cast<double>(done) / static_cast<double>(total),
                        tr("comparing %1 of %2")
                            .arg(grouped(static_cast<int64_t>(done)), grouped(static_cast<int64_t>(total))));
    };
    auto diff = std::make_shared<CorpusDiff>(diffCorpora(*before_.corpus, *after_.corpus, o));
    // A corpus says what it is ("... without mul-one"); that of a trace is a file of this object.
    if (before_.isTrace()) diff->beforeName = before;
    if (after_.isTrace()) diff->afterName = after;
    diff->warnings.clear();
    for (const Side* side : {&before_, &after_})
      if (const std::string& w = side->stored->warning(); !w.empty()) diff->warnings.push_back(w);
    return diff;
  } catch (const Stopped&) {
    return nullptr;
  }
}

void ReplayBench::loadSide(Side& side, const std::optional<CorpusEntry>& entry, const char* name) {
  side.views.clear();
  side.passes.clear();
  side.trace.reset();
  side.made = entry ? side.corpus->load(*entry, true) : Compilation{};
  side.story = Story(side.made.story);
  if (!entry || side.story.events().empty()) return;
  ScopeId scope = 1;
  if (side.isTrace()) {
    scope = side.stored->scopes().at(entry->inputHash);
    side.tracePath = side.given;
  } else {
    side.tracePath = folder_.filePath(QStringLiteral("%1-%2.uoptrace").arg(QLatin1String(name)).arg(++made_))
                         .toStdString();
    traceOf(side.made, side.tracePath);
  }
  side.trace = std::make_unique<Trace>(side.tracePath);
  for (const PassInfo& p : side.trace->passes(scope)) side.passes.push_back(p.id);
}

std::shared_ptr<const ReplayPair> ReplayBench::load(const Change& change) {
  auto pair = std::make_shared<ReplayPair>();
  for (auto [side, entry, name] :
       {std::tuple(&before_, &change.before, "before"), std::tuple(&after_, &change.after, "after")})
    try {
      loadSide(*side, *entry, name);
    } catch (const Error& e) {
      pair->problem = text(e.what());
    }
  both_ = LockStep(before_.story, after_.story);
  pair->rows = rowsOf(both_, before_.story, after_.story);
  if (change.before && change.after) {
    const Divergence d = firstDivergence(before_.story, after_.story);
    pair->parts = d.found();
    if (d.found()) pair->first = both_.rowOf(d);
    pair->sentence = d.found() ? text(d.sentence()) : tr("The same rewrites on both sides.");
    pair->facts = factsOf(before_.made, after_.made, change.entry().isKernel());
    const auto a = static_cast<int64_t>(stepsOf(before_.story)),
               b = static_cast<int64_t>(stepsOf(after_.story));
    pair->facts.push_back({tr("rewrites"), grouped(a), grouped(b), a != b});
  } else {
    pair->sentence = change.before ? tr("The second side has no such compilation.")
                                   : tr("The first side has no such compilation.");
  }
  const std::string& message = after_.made.status != "ok" ? after_.made.message : before_.made.message;
  if (!message.empty()) pair->sentence += QLatin1Char(' ') + text(message);
  return pair;
}

ReplayStep ReplayBench::step(size_t index) {
  ReplayStep out;
  if (index >= both_.rows().size()) return out;
  const LockRow& row = both_.rows()[index];
  auto place = [&](const Side& side, const LockPlace& at) {
    const PassId pass = side.passOf(at);
    if (!side.trace || !pass) return QString();
    const PassInfo info = side.trace->pass(pass);
    return at.step == 0 ? tr("%1, as it began").arg(text(info.name))
                        : tr("%1, rewrite %2 of %3").arg(text(info.name)).arg(at.step).arg(info.steps);
  };
  out.leftPlace = place(before_, row.beforePlace), out.rightPlace = place(after_, row.afterPlace);
  out.leftStays = row.before < 0, out.rightStays = row.after < 0;
  auto rewrite = [](const Side& side, int event) -> QString {
    if (event < 0) return {};
    const StoryEvent& e = side.story.events()[static_cast<size_t>(event)];
    if (e.kind == StoryEvent::PassBegin) return {};
    const auto [from, to] = expressionsOf(side.story, e);
    const ExpressionDiff d = diffExpressions(from, to);
    return d.before + QStringLiteral(" &nbsp;→&nbsp; ") + d.after;
  };
  out.leftHtml = rewrite(before_, row.before), out.rightHtml = rewrite(after_, row.after);
  return out;
}

PicturePtr ReplayBench::picture(Side& side, const LockPlace& place, bool leftToRight,
                                const std::atomic<bool>* stop) {
  const PassId pass = side.passOf(place);
  if (!side.trace || !pass) return nullptr;
  auto& view = side.views[pass];
  if (!view || view->options().leftToRight != leftToRight) {
    ViewOptions o;
    o.leftToRight = leftToRight;
    view = std::make_unique<PassView>(*side.trace, pass, o);
    if (!view->prepare(stop)) {
      view.reset();
      return nullptr;
    }
  }
  return view->at(place.step);
}

int64_t ReplayBench::sameNode(Side& moved, const LockPlace& at, Side& stayed, const LockPlace& there) {
  const auto a = moved.views.find(moved.passOf(at)), b = stayed.views.find(stayed.passOf(there));
  if (at.step == 0 || a == moved.views.end() || b == stayed.views.end()) return -1;
  Cursor& from = a->second->cursor();
  const NodeId node = from.shown(at.step).before;
  const std::vector<NodeId> before = from.graphAt(at.step - 1);
  const uint64_t wanted = contentsOf(from, before)[node];
  Cursor& to = b->second->cursor();
  const std::vector<NodeId> graph = to.graphAt(there.step);
  for (const auto& [id, content] : contentsOf(to, graph))
    if (content == wanted) return id;
  return -1;
}

ReplayPictures ReplayBench::pictures(size_t row, bool leftToRight, const std::atomic<bool>* stop) {
  if (row >= both_.rows().size()) return {};
  const LockRow& r = both_.rows()[row];
  ReplayPictures out;
  out.left = picture(before_, r.beforePlace, leftToRight, stop);
  out.right = picture(after_, r.afterPlace, leftToRight, stop);
  if (out.left && out.right && r.before < 0)
    out.leftNode = sameNode(after_, r.afterPlace, before_, r.beforePlace);
  if (out.left && out.right && r.after < 0)
    out.rightNode = sameNode(before_, r.beforePlace, after_, r.afterPlace);
  return out;
}

PicturePtr ReplayBench::together(const QString& where, size_t row, bool leftToRight,
                                 const std::atomic<bool>* stop) {
  if (row >= both_.rows().size()) return nullptr;
  struct At {
    std::unique_ptr<Cursor> cursor;
    int64_t step = 0;
  };
  auto at = [&](Side& side, const LockPlace& place) -> At {
    if (!side.trace || side.passes.empty()) return {};
    PassId pass = side.passOf(place);
    if (where == QLatin1String("begin")) pass = side.passes.front();
    if (where == QLatin1String("end")) // the end of the last outermost pass
      for (const PassId p : side.passes)
        if (side.trace->pass(p).depth == 0) pass = p;
    if (!pass) return {};
    auto cursor = std::make_unique<Cursor>(*side.trace, pass);
    const int64_t step = where == QLatin1String("begin") ? 0
                         : where == QLatin1String("end") ? cursor->steps()
                                                         : place.step;
    return {std::move(cursor), step};
  };
  const LockRow& r = both_.rows()[row];
  At a = at(before_, r.beforePlace), b = at(after_, r.afterPlace);
  if (!a.cursor || !b.cursor) return nullptr;
  return compareGraphs({a.cursor.get(), a.step}, {b.cursor.get(), b.step}, leftToRight, stop);
}

std::vector<TextRow> ReplayBench::texts(const QString& what, bool ignoreNames) const {
  auto of = [&](const Side& side) {
    const std::string& t = what == QLatin1String("ir")    ? side.made.ir
                           : what == QLatin1String("asm") ? side.made.assembly
                                                          : side.made.source;
    return text(ignoreNames ? withoutNames(t) : t);
  };
  const QString a = of(before_), b = of(after_);
  return a.isEmpty() && b.isEmpty() ? std::vector<TextRow>() : compareTexts(a, b, languageOf(what));
}

bool ReplayBench::has(const QString& what) const {
  return !texts(what, false).empty();
}

ReplayLink ReplayBench::link(size_t row, bool before) const {
  const Side& side = before ? before_ : after_;
  if (row >= both_.rows().size() || !side.trace) return {};
  const LockPlace& place = before ? both_.rows()[row].beforePlace : both_.rows()[row].afterPlace;
  const PassId pass = side.passOf(place);
  if (!pass) return {text(side.tracePath), {}};
  const ScopeId scope = side.trace->pass(pass).scope;
  return {text(side.tracePath),
          QStringLiteral("kernel=%1&pass=%2&step=%3").arg(scope).arg(place.pass + 1).arg(place.step)};
}

} // namespace uopscope
