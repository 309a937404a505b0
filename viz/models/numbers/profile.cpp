// Builds the tree of times, lays it out as flame graph and treemap, and finds faults of rules.
#include "viz/models/numbers/profile.h"

#include "engine/rewrite/rule.h"
#include "replay/read/step_search.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <functional>

namespace uopscope {
namespace {

constexpr int kMostFindings = 400;

std::string kindOf(ScopeKind kind) {
  return kind == ScopeKind::Kernel     ? "kernel"
         : kind == ScopeKind::Schedule ? "schedule"
         : kind == ScopeKind::Script   ? "script"
                                       : "other";
}

QVariantMap finding(const char* kind, const QString& title, const QString& detail, RuleId rule, StepId step,
                    const QString& advice = {}) {
  return {{"kind", QLatin1String(kind)},
          {"title", title},
          {"detail", detail},
          {"advice", advice},
          {"rule", static_cast<qlonglong>(rule)},
          {"step", static_cast<qlonglong>(step)}};
}

/// "0.4 % of the time in rules"
QString shareOf(double ns, double whole) {
  return QObject::tr("%1 % of the time in rules").arg(whole > 0 ? 100 * ns / whole : 0, 0, 'f', 1);
}

// Lists the most expensive faults first, with their share of the time in rules and a remedy. One line sums up
// rules below kWorth of that time, since mending them would gain nothing.
QVariantList findFaults(Trace& trace) {
  constexpr double kWorth = 0.002;
  QVariantList out;
  const auto totals = trace.matchTotals(MatchGroup::Rule);
  double whole = 0;
  for (const MatchTotals& t : totals) whole += static_cast<double>(t.totalNs());
  struct Cost {
    double ns;
    const MatchTotals* totals;
    bool unchanged;
  };
  std::vector<Cost> costs;
  for (const MatchTotals& t : totals) {
    if (t.count[int(Outcome::Unchanged)] > 0)
      costs.push_back({static_cast<double>(t.ns[int(Outcome::Unchanged)]), &t, true});
    if (t.matches() == 0) costs.push_back({static_cast<double>(t.totalNs()), &t, false});
  }
  std::stable_sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.ns > b.ns; });
  size_t cheap = 0;
  double cheapNs = 0;
  QVariantList dear;
  for (const Cost& c : costs) {
    const MatchTotals& t = *c.totals;
    if (!c.unchanged && (c.ns < kWorth * whole || dear.size() >= kMostFindings)) {
      ++cheap, cheapNs += c.ns;
      continue;
    }
    const uint64_t early = t.count[int(Outcome::RejectedEarly)];
    const QString advice =
        c.unchanged ? QObject::tr("a condition that sees it beforehand spares the rewrite")
        : 2 * early >= t.attempts()
            ? QObject::tr("most are rejected early: only leaving it out of passes that never need it helps")
            : QObject::tr("a pattern that names the operation of a source rejects them early");
    const QString times =
        c.unchanged ? counted(static_cast<int64_t>(t.count[int(Outcome::Unchanged)]),
                              QObject::tr("matched once without a change"),
                              QObject::tr("matched %1 times without a change"))
                    : counted(static_cast<int64_t>(t.attempts()), QObject::tr("tried once, never matched"),
                              QObject::tr("tried %1 times, never matched"));
    dear << finding(
        c.unchanged ? "unchanged" : "dead", QString::fromStdString(trace.rule(t.rule).name),
        QStringLiteral("%1: %2, %3").arg(shareOf(c.ns, whole), duration(static_cast<int64_t>(c.ns)), times),
        t.rule, 0, advice);
  }
  out << dear;
  for (const TakenBack& t : stepsTakenBack(trace, 100))
    out << finding("undo", QString::fromStdString(trace.rule(t.rule).name),
                   QObject::tr("is taken back by %1 %2 later")
                       .arg(QString::fromStdString(trace.rule(t.byRule).name),
                            counted(t.by - t.step, QObject::tr("1 step"), QObject::tr("%1 steps"))),
                   t.rule, t.step);
  if (cheap > 0)
    out << finding("dead", counted(cheap, QObject::tr("1 more rule"), QObject::tr("%1 more rules")),
                   QObject::tr("never matched, together %1").arg(shareOf(cheapNs, whole)), 0, 0);
  return out;
}

} // namespace

ProfilePtr buildProfile(Trace& trace, const std::function<bool()>& stop) {
  auto p = std::make_shared<Profile>();
  auto& nodes = p->nodes;
  nodes.push_back({"everything", "trace", 0, 0, {}, 0, 0, 0});
  auto add = [&](ProfileNode n) {
    nodes.push_back(std::move(n));
    const auto id = static_cast<uint32_t>(nodes.size() - 1);
    nodes[nodes[id].parent].children.push_back(id);
    return id;
  };
  std::map<ScopeId, std::vector<ScopeId>> below; // collected once, not for each scope
  for (const ScopeInfo& s : trace.scopes()) below[s.parent].push_back(s.id);
  std::map<PassId, uint32_t> passNode;
  uint32_t schedule = 0; // the latest schedule: the kernels are compiled for it
  std::function<void(ScopeId, uint32_t)> addScope = [&](ScopeId id, uint32_t parent) {
    if (stop && stop()) return;
    const ScopeInfo s = trace.scope(id);
    const uint32_t me = add({s.name,
                             kindOf(s.kind),
                             s.endNs.value_or(s.beginNs) - s.beginNs,
                             s.kind == ScopeKind::Kernel && schedule ? schedule : parent,
                             {},
                             id,
                             0,
                             0});
    if (s.kind == ScopeKind::Schedule) schedule = me;
    // Adds the phases of a kernel beside its passes; "lower" is the time of the passes.
    for (const PhaseInfo& phase : trace.phases(id))
      if (phase.name != "lower") add({phase.name, "phase", phase.ns, me, {}, id, 0, 0});
    for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(id))) {
      const auto above = passNode.find(pass.parent);
      passNode[pass.id] = add({pass.name,
                               "pass",
                               pass.endNs.value_or(pass.beginNs) - pass.beginNs,
                               above == passNode.end() ? me : above->second,
                               {},
                               id,
                               pass.id,
                               0});
      if (pass.parent) continue;
      for (const MatchTotals& t : trace.matchTotals(MatchGroup::Rule, id, pass.id))
        if (t.totalNs() > 0)
          add({trace.rule(t.rule).name, "rule", t.totalNs(), passNode[pass.id], {}, id, pass.id, t.rule});
    }
    for (const ScopeId child : below[id]) addScope(child, me);
  };
  for (const ScopeId id : below[0]) addScope(id, 0);
  // A part must not exceed the whole, so a node gets at least the sum of its separately measured parts.
  for (size_t i = nodes.size(); i-- > 0;) {
    int64_t sum = 0;
    for (const uint32_t c : nodes[i].children) sum += nodes[c].ns;
    // A script computes and waits too; its own time would leave most of the picture empty.
    const bool compilesOnly = i == 0 || (nodes[i].kind == "script" && sum > 0);
    nodes[i].ns = compilesOnly ? sum : std::max(nodes[i].ns, sum);
    std::stable_sort(nodes[i].children.begin(), nodes[i].children.end(),
                     [&](uint32_t a, uint32_t b) { return nodes[a].ns > nodes[b].ns; });
  }
  return p;
}

ProfilePtr rewritesOf(const Profile& whole) {
  auto p = std::make_shared<Profile>();
  std::function<void(uint32_t, uint32_t)> copy = [&](uint32_t from, uint32_t parent) {
    const ProfileNode& n = whole.nodes[from];
    if (n.kind == "phase") return;
    const auto me = static_cast<uint32_t>(p->nodes.size());
    p->nodes.push_back(n);
    p->nodes[me].parent = parent;
    p->nodes[me].children.clear();
    for (const uint32_t c : n.children) copy(c, me);
    if (n.kind != "pass" && n.kind != "rule") {
      p->nodes[me].ns = 0;
      for (const uint32_t c : p->nodes[me].children) p->nodes[me].ns += p->nodes[c].ns;
      if (me && p->nodes[me].children.empty()) { // nothing was rewritten here
        p->nodes.pop_back();
        return;
      }
      std::ranges::stable_sort(p->nodes[me].children, std::ranges::greater(),
                               [&](uint32_t c) { return p->nodes[c].ns; });
    }
    if (me) p->nodes[parent].children.push_back(me);
  };
  copy(0, 0);
  return p;
}

std::vector<ProfileBox> flame(const Profile& p, uint32_t root, int rows, float least) {
  std::vector<ProfileBox> out;
  if (root >= p.nodes.size()) return out;
  const float tall = 1.0f / static_cast<float>(rows);
  std::function<void(uint32_t, float, float, int)> place = [&](uint32_t id, float x, float width, int depth) {
    if (width < least || depth >= rows) return;
    out.push_back({id, x, static_cast<float>(depth) * tall, width, tall, depth});
    const auto whole = static_cast<float>(std::max<int64_t>(1, p.nodes[id].ns));
    for (const uint32_t c : p.nodes[id].children) {
      const float w = width * static_cast<float>(p.nodes[c].ns) / whole;
      place(c, x, w, depth + 1);
      x += w;
    }
  };
  place(root, 0, 1, 0);
  return out;
}

std::vector<ProfileBox> treemap(const Profile& p, uint32_t root, int depth, float aspect, float least) {
  std::vector<ProfileBox> out;
  if (root >= p.nodes.size()) return out;
  // Squarified: children lie in rows along the shorter side. A row is closed when a further box would make
  // its boxes longer.
  std::function<void(ProfileBox)> place = [&](ProfileBox box) {
    out.push_back(box);
    if (box.depth >= depth) return;
    const float pad = 0.004f, head = box.depth == 0 ? 0.0f : std::min(0.028f, box.height * 0.3f);
    float x = box.x + pad, y = box.y + head + pad / 2, w = box.width - 2 * pad, h = box.height - head - pad;
    const auto& children = p.nodes[box.node].children;
    double left = static_cast<double>(std::max<int64_t>(1, p.nodes[box.node].ns));
    for (size_t i = 0; i < children.size() && w > least && h > least;) {
      const bool across = w * aspect > h;
      const double side = across ? h : w * aspect, area = static_cast<double>(w) * aspect * h;
      double sum = 0, worst = 1e30;
      size_t end = i;
      while (end < children.size()) {
        const double more = sum + static_cast<double>(p.nodes[children[end]].ns);
        const double thick = more / left * area / side;
        double now = 1;
        for (size_t k : {i, end}) {
          const double length = static_cast<double>(p.nodes[children[k]].ns) / left * area / thick;
          now = std::max({now, length / thick, thick / std::max(1e-9, length)});
        }
        if (now > worst) break;
        worst = now, sum = more, ++end;
      }
      if (sum <= 0) break;
      const auto thick = static_cast<float>(sum / left);
      float at = across ? y : x;
      for (; i < end; ++i) {
        const auto share = static_cast<float>(static_cast<double>(p.nodes[children[i]].ns) / sum);
        ProfileBox b{children[i], x, y, 0, 0, box.depth + 1};
        if (across)
          b.y = at, b.width = w * thick, b.height = h * share, at += b.height;
        else
          b.x = at, b.height = h * thick, b.width = w * share, at += b.width;
        if (b.width >= least && b.height >= least) place(b);
      }
      if (across)
        x += w * thick, w -= w * thick;
      else
        y += h * thick, h -= h * thick;
      left -= sum;
    }
  };
  place({root, 0, 0, 1, 1, 0});
  return out;
}

ProfileModel::ProfileModel(Session& session, QObject* parent) : QObject(parent), session_(session) {
  auto forget = [this] {
    profile_ = rewrites_ = nullptr;
    root_ = 0;
    findings_.clear();
    comparison_.clear();
    other_.clear();
    Q_EMIT changed();
    Q_EMIT rootChanged();
    if (session_.tab() == QLatin1String("profile")) load();
  };
  connect(&session_, &Session::opened, this, forget);
  connect(&session_, &Session::grown, this, forget);
  connect(&session_, &Session::placeChanged, this, [this] {
    if (!profile_ && session_.tab() == QLatin1String("profile")) load();
  });
}

void ProfileModel::load() {
  if (profile_ || !session_.trace() || session_.jobs().busy(Channel::Profile)) return;
  session_.jobs().ask(Channel::Profile, [this](Jobs::Job& job) -> Jobs::Answer {
    const ProfilePtr p = buildProfile(job.trace(), [&job] { return job.stale(); });
    const ProfilePtr r = rewritesOf(*p);
    const QVariantList faults = findFaults(job.trace());
    return [this, p, r, faults] {
      profile_ = p;
      rewrites_ = r;
      findings_ = faults;
      Q_EMIT changed();
      Q_EMIT rootChanged();
    };
  });
}

void ProfileModel::compareWith(const QString& path) {
  const QString file = path.startsWith(QLatin1String("file://")) ? path.mid(7) : path;
  session_.jobs().ask(Channel::Compare, [this, file](Jobs::Job& job) -> Jobs::Answer {
    Trace theirs(file.toStdString());
    struct Row {
      int64_t ns[2] = {0, 0};
      uint64_t matches[2] = {0, 0}, attempts[2] = {0, 0};
    };
    std::map<std::string, Row> rows;
    for (int side = 0; side < 2; ++side) {
      Trace& t = side ? theirs : job.trace();
      for (const MatchTotals& m : t.matchTotals(MatchGroup::Rule)) {
        Row& r = rows[t.rule(m.rule).name];
        r.ns[side] += m.totalNs(), r.matches[side] += m.matches(), r.attempts[side] += m.attempts();
      }
    }
    std::vector<std::pair<std::string, Row>> order(rows.begin(), rows.end());
    std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) {
      return std::abs(a.second.ns[0] - a.second.ns[1]) > std::abs(b.second.ns[0] - b.second.ns[1]);
    });
    QVariantList list;
    for (const auto& [name, r] : order)
      list << QVariantMap{{"name", QString::fromStdString(name)},
                          {"ns", duration(r.ns[0])},
                          {"otherNs", duration(r.ns[1])},
                          {"change_ns", static_cast<qlonglong>(r.ns[0] - r.ns[1])},
                          {"here_ns", static_cast<qlonglong>(r.ns[0])},
                          {"there_ns", static_cast<qlonglong>(r.ns[1])},
                          {"matches_here", static_cast<qulonglong>(r.matches[0])},
                          {"matches_there", static_cast<qulonglong>(r.matches[1])},
                          {"attempts_here", static_cast<qulonglong>(r.attempts[0])},
                          {"attempts_there", static_cast<qulonglong>(r.attempts[1])},
                          {"delta", (r.ns[0] < r.ns[1] ? QStringLiteral("−") : QStringLiteral("+")) +
                                        duration(std::abs(r.ns[0] - r.ns[1]))},
                          {"less", r.ns[0] < r.ns[1]},
                          {"matches", grouped(static_cast<int64_t>(r.matches[0]))},
                          {"otherMatches", grouped(static_cast<int64_t>(r.matches[1]))},
                          {"attempts", grouped(static_cast<int64_t>(r.attempts[0]))},
                          {"otherAttempts", grouped(static_cast<int64_t>(r.attempts[1]))}};
    return [this, list, file] {
      comparison_ = list;
      other_ = QFileInfo(file).fileName();
      Q_EMIT changed();
    };
  });
}

void ProfileModel::setWhat(const QString& what) {
  if (what == what_ || (what != QLatin1String("everything") && what != QLatin1String("rewrites"))) return;
  what_ = what;
  root_ = 0;
  Q_EMIT changed();
  Q_EMIT rootChanged();
}

void ProfileModel::setRoot(int node) {
  if (!profile() || node < 0 || static_cast<size_t>(node) >= profile()->nodes.size() ||
      static_cast<uint32_t>(node) == root_)
    return;
  root_ = static_cast<uint32_t>(node);
  Q_EMIT rootChanged();
}

QVariantList ProfileModel::way() const {
  QVariantList out;
  if (profile())
    for (uint32_t n = root_;; n = profile()->nodes[n].parent) {
      out.prepend(QVariantMap{{"node", n},
                              {"name", QString::fromStdString(profile()->nodes[n].name)},
                              {"time", duration(profile()->nodes[n].ns)}});
      if (n == 0) break;
    }
  return out;
}

void ProfileModel::walk(const QString& where) {
  if (!profile_) return;
  const ProfileNode& here = profile_->nodes[root_];
  if (where == QLatin1String("in") && !here.children.empty())
    return setRoot(static_cast<int>(here.children[0]));
  if (root_ == 0) return;
  if (where == QLatin1String("out")) return setRoot(static_cast<int>(here.parent));
  const auto& beside = profile_->nodes[here.parent].children;
  const auto at = std::find(beside.begin(), beside.end(), root_);
  if (where == QLatin1String("next") && at != beside.end() && at + 1 != beside.end())
    setRoot(static_cast<int>(*(at + 1)));
  if (where == QLatin1String("previous") && at != beside.end() && at != beside.begin())
    setRoot(static_cast<int>(*(at - 1)));
}

QString ProfileModel::describe(int node) const {
  if (!profile() || node < 0 || static_cast<size_t>(node) >= profile()->nodes.size()) return {};
  const ProfileNode& n = profile()->nodes[static_cast<size_t>(node)];
  const ProfileNode& all = profile()->nodes[root_];
  return tr("%1 %2\n%3, %4 % of what is shown")
      .arg(QString::fromStdString(n.kind), QString::fromStdString(n.name), duration(n.ns))
      .arg(100.0 * static_cast<double>(n.ns) / static_cast<double>(std::max<int64_t>(1, all.ns)), 0, 'f', 1);
}

void ProfileModel::follow(int node) {
  if (!profile() || node < 0 || static_cast<size_t>(node) >= profile()->nodes.size()) return;
  const ProfileNode& n = profile()->nodes[static_cast<size_t>(node)];
  session_.setTab(QStringLiteral("graph"));
  if (n.rule) {
    if (n.pass) session_.goTo(n.pass, 0);
    session_.goToRule(n.rule);
  } else if (n.pass) {
    session_.goToPass(n.scope, n.pass);
  } else if (n.scope) {
    session_.goToScope(n.scope);
  }
}

QString ProfileModel::exportTable(const QString& which, const QString& path) const {
  const bool found = which == QLatin1String("findings");
  const QStringList keys =
      found ? QStringList{"kind", "title", "detail", "advice", "rule", "step"}
            : QStringList{"name",         "change_ns",     "here_ns",       "there_ns",
                          "matches_here", "matches_there", "attempts_here", "attempts_there"};
  QList<QVariantList> rows;
  for (const QVariant& v : found ? findings_ : comparison_) {
    QVariantList row;
    for (const QString& k : keys) row << v.toMap().value(k);
    rows << row;
  }
  return writeTable(path, keys, rows);
}

} // namespace uopscope
