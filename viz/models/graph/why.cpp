// Matches rules of the linked engine against the node made again, on a background thread.
#include "viz/models/graph/why.h"

#include "engine/rewrite/match_program.h"
#include "engine/rewrite/matcher.h"
#include "engine/transform/known.h"
#include "replay/read/materialize.h"
#include "replay/teach/kernel_target.h"
#include "viz/models/work/reports.h"
#include "viz/pictures/labels.h"

#include <algorithm>
#include <array>

namespace uopscope {
namespace {

constexpr size_t kMostRows = 60;

std::string wantedAt(std::span<const MatchStep> steps, uint8_t reg, const Rule& rule) {
  std::string out;
  for (const MatchStep& s : steps) {
    if (s.reg != reg) continue;
    if (s.kind == MatchStep::Kind::Ops) {
      int listed = 0;
      for (int op = 0; op < kOpCount && listed < 3; ++op)
        if ((op < 64 ? s.a : s.b) >> (op & 63) & 1)
          out += (listed++ ? "|" : "") + std::string(opName(static_cast<Op>(op)));
      if (listed == 3) out += "|…";
    } else if (s.kind == MatchStep::Kind::Bind || s.kind == MatchStep::Kind::Same) {
      out += (out.empty() ? "" : " ") + std::string(rule.vars()[s.index].data());
    }
  }
  return out;
}

const RuleDef* definition(const std::vector<const RuleDef*>& all, const RuleInfo& rule) {
  const RuleDef* best = nullptr;
  for (const RuleDef* def : all) {
    if (rule.name != def->name) continue;
    if (def->line == rule.at.line) return def;
    if (!best) best = def;
  }
  return best;
}

} // namespace

MatchAttempt attemptMatch(const Rule& rule, UOp node, const PassContext& ctx) {
  MatchAttempt best;
  bool first = true;
  const auto variants = variantsOf(rule);
  for (const MatchVariant& variant : *variants) {
    MatchAttempt now;
    now.total = variant.steps.size() + 1;
    std::array<UOp, kMatchRegisters> registers;
    std::array<UOp, Match::kMaxBinds> binds;
    registers[0] = node;
    uint8_t culprit = 0;
    std::vector<uint8_t> seen{0};
    if (variant.root.has(node.op())) {
      const size_t at = runSteps(variant.steps, registers.data(), binds.data());
      now.passed = at + 1;
      const bool whole = at == variant.steps.size();
      culprit = whole ? UINT8_MAX : variant.steps[at].reg;
      for (size_t i = 0; i < at + !whole && i < variant.steps.size(); ++i)
        if (variant.steps[i].kind == MatchStep::Kind::Load && i < at) seen.push_back(variant.steps[i].reg);
    }
    for (const uint8_t reg : seen)
      if (registers[reg])
        now.places.push_back({registers[reg],
                              reg == 0 && now.passed == 0 ? QObject::tr("another operation").toStdString()
                                                          : wantedAt(variant.steps, reg, rule),
                              reg != culprit});
    if (first || now.passed * best.total > best.passed * now.total) best = std::move(now);
    first = false;
  }
  best.reason = PatternMatcher().explain(rule, node, ctx);
  return best;
}

WhyModel::WhyModel(Session& session, QObject* parent) : QAbstractListModel(parent), session_(session) {
  // An answer belongs to one node, so another selection closes it.
  connect(&session_, &Session::nodeChanged, this, [this] {
    if (open_ && !about_.isEmpty() && !about_.endsWith(QStringLiteral("#%1").arg(session_.node())))
      ask(rule_);
  });
  connect(&session_, &Session::opened, this, [this] { setOpen(false); });
}

void WhyModel::setOpen(bool open) {
  if (open == open_) return;
  open_ = open;
  if (!open) session_.graph()->setNotes({});
  Q_EMIT changed();
}

void WhyModel::ask(const QString& rule) {
  const qlonglong node = session_.node();
  if (!session_.trace() || node < 0 || node >= static_cast<qlonglong>(kFirstViewNode)) {
    if (!open_)
      session_.showNotice(tr("Select a node first: then the rules that nearly fired on it are ranked."));
    return;
  }
  open_ = true;
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Why,
      [this, node, wanted = rule.toStdString(), pass = session_.pass(),
       scope = session_.scope()](Jobs::Job& job) -> Jobs::Answer {
        Trace& trace = job.trace();
        const auto all = knownRulesOfAll();
        Pool pool;
        PoolScope inPool(pool);
        Materializer make(trace.nodes().reader(), pool);
        const UOp u = make(static_cast<NodeId>(node));
        // Trace ids of the nodes that a pattern examines: the nodes below the node.
        std::unordered_map<UOp, int64_t> idOf;
        for (const NodeId n : trace.nodes().toposort(static_cast<NodeId>(node))) idOf[make(n)] = n;
        KernelTarget target(trace, scope);
        const StepInfo* fired = nullptr;
        const auto steps = trace.steps(pass);
        for (const StepInfo& s : steps)
          if (s.before == static_cast<NodeId>(node) && !fired) fired = &s;
        std::vector<Row> rows;
        QStringList names;
        QString answer, pattern;
        std::map<int64_t, QString> notes;
        std::map<RuleId, MatchTotals> tried;
        for (const MatchTotals& t : trace.matchTotals(MatchGroup::Everything, scope, pass))
          if (t.op == opName(u.op()) || tried.find(t.rule) == tried.end()) tried[t.rule] = t;
        for (const RuleInfo& info : std::vector<RuleInfo>(trace.rules())) {
          if (job.stale()) break;
          const bool ofPass = tried.contains(info.id);
          if (!ofPass && info.name != wanted) continue;
          if (!names.contains(QString::fromStdString(info.name))) names << QString::fromStdString(info.name);
          const RuleDef* def = definition(all, info);
          if (!def) {
            if (info.name == wanted)
              answer = tr("This rule is not part of this build of uopscope: it was made at run time, or the "
                          "trace is of another version.");
            continue;
          }
          const Rule engineRule(*def);
          const MatchAttempt m = attemptMatch(engineRule, u, target.context());
          Row row{QString::fromStdString(info.name), QString::fromStdString(m.reason), shortPlace(info.at),
                  QString::fromStdString(info.text),
                  static_cast<double>(m.passed) / static_cast<double>(std::max<size_t>(1, m.total))};
          if (fired && fired->rule == info.id)
            row.reason = tr("it did: step %1").arg(fired->k), row.near = 2;
          else if (m.reason.empty()) {
            row.reason = fired ? tr("the pattern matches, but %1 was tried first and fired in step %2")
                                     .arg(QString::fromStdString(trace.rule(fired->rule).name))
                                     .arg(fired->k)
                         : ofPass ? tr("the pattern matches; the rule's function or condition declined")
                                  : tr("the pattern matches, but the rule is not among those of this pass");
            row.near = 1;
          }
          if (info.name == wanted && answer.isEmpty()) {
            answer = row.reason;
            pattern = QString::fromStdString(engineRule.patternText());
            for (const MatchAttempt::Place& p : m.places)
              if (const auto it = idOf.find(p.node); it != idOf.end())
                notes[it->second] =
                    (p.fits ? QStringLiteral("+") : QStringLiteral("!")) + QString::fromStdString(p.wanted);
          }
          rows.push_back(std::move(row));
        }
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return a.near > b.near; });
        if (rows.size() > kMostRows) rows.resize(kMostRows);
        names.sort();
        if (!wanted.empty() && answer.isEmpty()) answer = tr("There is no rule of that name in this trace.");
        const QString about =
            QStringLiteral("%1 #%2")
                .arg(QString::fromUtf8(opName(u.op()).data(), static_cast<qsizetype>(opName(u.op()).size())))
                .arg(node);
        return [this, rows, names, answer, pattern, notes, about, wanted] {
          beginResetModel();
          rows_ = rows;
          endResetModel();
          names_ = names, answer_ = answer, pattern_ = pattern, about_ = about,
          rule_ = QString::fromStdString(wanted);
          session_.graph()->setNotes(notes);
          Q_EMIT changed();
        };
      });
}

int WhyModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant WhyModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const Row& r = rows_[static_cast<size_t>(index.row())];
  switch (role) {
  case RuleRole: return r.rule;
  case ReasonRole: return r.reason;
  case NearRole: return std::min(1.0, r.near);
  case PlaceRole: return r.place;
  case TextRole: return r.text;
  default: return {};
  }
}

QHash<int, QByteArray> WhyModel::roleNames() const {
  return {{RuleRole, "rule"},
          {ReasonRole, "reason"},
          {NearRole, "near"},
          {PlaceRole, "place"},
          {TextRole, "text"}};
}

} // namespace uopscope
