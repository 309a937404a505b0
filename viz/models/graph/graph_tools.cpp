// Each tool changes a copy of the arrangement and hands it to the session.
#include "viz/models/graph/graph_tools.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace uopscope {
namespace {

/// Nodes of a schedule from which on it is collapsed when it is entered.
constexpr uint32_t kLargeSchedule = 400;

QString textOf(const QVariantList& choices, const QString& value) {
  for (const QVariant& choice : choices)
    if (const QVariantMap c = choice.toMap(); c[QStringLiteral("value")] == value)
      return c[QStringLiteral("text")].toString();
  return value;
}

} // namespace

GraphTools::GraphTools(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::optionsChanged, this, &GraphTools::changed);
  connect(&session_, &Session::placeChanged, this, &GraphTools::changed);
  connect(session_.graph(), &GraphSource::factsWanted, this, &GraphTools::lookUpFacts);
  connect(session_.graph(), &GraphSource::tintingChanged, this, &GraphTools::colouringsChanged);
  // The schedule of a large model opens as its reductions and what joins them, a box each; leaving it undoes that.
  // A person's own choice stays.
  connect(session_.graph(), &GraphSource::pictureChanged, this,
          [this, last = qlonglong(0), ours = false]() mutable {
            const PicturePtr& p = session_.graph()->picture();
            if (!p || session_.pass() == last) return;
            last = session_.pass();
            const bool schedule = session_.scopeKind() == QLatin1String("schedule");
            if (schedule && groupBy() == QLatin1String("nothing") && p->graphNodes > kLargeSchedule) {
              ours = true;
              setGroupBy(QStringLiteral("reduce"));
            } else if (!schedule && std::exchange(ours, false) && groupBy() == QLatin1String("reduce")) {
              setGroupBy(QStringLiteral("nothing"));
            }
          });
  connect(&session_, &Session::opened, this, [this] {
    factsOf_ = -1;
    session_.graph()->setFacts(nullptr);
  });
}

QString GraphTools::groupBy() const {
  const auto name = kGroupNames[static_cast<size_t>(session_.arrangement().groupBy)];
  return QString::fromLatin1(name.data(), static_cast<qsizetype>(name.size()));
}

QVariantList GraphTools::groupings() const {
  return {QVariantMap{{"value", "nothing"}, {"text", tr("nothing")}},
          QVariantMap{{"value", "kernel"}, {"text", tr("by kernel")}},
          QVariantMap{{"value", "loop"}, {"text", tr("by loop")}},
          QVariantMap{{"value", "reduce"}, {"text", tr("by reduction")}},
          QVariantMap{{"value", "tensor"}, {"text", tr("by tensor operation")}},
          QVariantMap{{"value", "line"}, {"text", tr("by script line")}}};
}

QVariantList GraphTools::colourings() const {
  QVariantList all{QVariantMap{{"value", "op"}, {"text", tr("operation")}},
                   QVariantMap{{"value", "dtype"}, {"text", tr("data type")}},
                   QVariantMap{{"value", "axis"}, {"text", tr("axis type")}},
                   QVariantMap{{"value", "line"}, {"text", tr("script line")}},
                   QVariantMap{{"value", "pass"}, {"text", tr("pass of birth")}},
                   QVariantMap{{"value", "cost"}, {"text", tr("cost of its rewrite")}},
                   QVariantMap{{"value", "run"}, {"text", tr("measured run time")}},
                   QVariantMap{{"value", "times"}, {"text", tr("how often it runs")}}};
  if (const QString title = session_.graph()->answerTitle(); !title.isEmpty())
    all << QVariantMap{{"value", "query"}, {"text", tr("query: %1").arg(title)}};
  return all;
}

void GraphTools::setGroupBy(const QString& what) {
  Arrangement a = session_.arrangement();
  for (size_t i = 0; i < std::size(kGroupNames); ++i)
    if (what.toStdString() == kGroupNames[i]) a.groupBy = static_cast<GroupBy>(i);
  a.opened.clear();
  session_.setArrangement(a);
}

void GraphTools::showAll() {
  if (session_.arrangement().plain()) session_.setStepAlone(false);
  session_.setArrangement({});
}

bool GraphTools::drawn(uint32_t slot) const {
  const PicturePtr& p = session_.graph()->picture();
  return p && std::ranges::any_of(p->nodes, [&](const PictureNode& n) { return n.slot == slot; });
}

void GraphTools::toggleGroup(qlonglong id) {
  if (id < kFirstGroupId) return;
  Arrangement a = session_.arrangement();
  const auto group = static_cast<uint32_t>(id - kFirstGroupId);
  if (a.groupBy == GroupBy::Nothing) { // lanes: other steps number them otherwise
    const PicturePtr& p = session_.graph()->picture();
    const PictureNode* box = p ? p->find(id) : nullptr;
    if (!box) return;
    a.shown.insert(box->slots.begin(), box->slots.end());
  } else if (!a.opened.erase(group)) {
    a.opened.insert(group);
  }
  session_.setArrangement(a);
}

void GraphTools::pinAt(qlonglong id, qreal x, qreal y) {
  const PicturePtr& p = session_.graph()->picture();
  const PictureNode* n = p ? p->find(id) : nullptr;
  if (!n || n->slot == UINT32_MAX) return;
  Arrangement a = session_.arrangement();
  a.pinned[n->slot] = {static_cast<float>(x), static_cast<float>(y)};
  session_.setArrangement(a);
}

const PictureNode* GraphTools::selected() {
  const PicturePtr& p = session_.graph()->picture();
  const PictureNode* n = p ? p->find(session_.node()) : nullptr;
  if (!n || n->slot == UINT32_MAX) {
    session_.showNotice(tr("Select a node first."));
    return nullptr;
  }
  return n;
}

// Looks up the neighbours in the trace's own sources, so that it also finds hidden ones. It gets slots of the
// full picture from the shown nodes and the ids of the report.
std::vector<uint32_t> GraphTools::neighbours(uint32_t slot, bool sources) const {
  std::vector<uint32_t> out;
  const PicturePtr& p = session_.graph()->picture();
  if (!p || !p->everySlotEdges) return out;
  for (const auto& [from, to] : *p->everySlotEdges) {
    if (sources && to == slot) out.push_back(from);
    if (!sources && from == slot) out.push_back(to);
  }
  return out;
}

// Looks up facts for the whole picture at once and keeps them while the scope stays.
void GraphTools::lookUpFacts() {
  const PicturePtr p = session_.graph()->picture();
  if (!p) return;
  const ScopeId scope = session_.scope();
  std::shared_ptr<FactMap> known = std::make_shared<FactMap>();
  if (factsOf_ == scope && session_.graph()->facts()) *known = *session_.graph()->facts();
  std::vector<int64_t> ids;
  for (const PictureNode& n : p->nodes)
    if (!known->contains(n.id)) ids.push_back(n.id);
  session_.jobs().ask(Channel::Facts, [this, ids, scope, known](Jobs::Job& job) -> Jobs::Answer {
    auto found = uopscope::lookUpFacts(job.trace(), scope, ids, [&job] { return job.stale(); });
    for (const int64_t id : ids) found->try_emplace(id); // asked for once is enough
    found->insert(known->begin(), known->end());
    return [this, found, scope] {
      factsOf_ = scope;
      session_.graph()->setFacts(found);
    };
  });
}

bool GraphTools::trigger(const QString& action) {
  auto is = [&](const char* id) { return action == QLatin1String(id); };
  Arrangement a = session_.arrangement();
  if (is("show-all")) {
    showAll();
  } else if (is("hide")) {
    const PictureNode* n = selected();
    if (!n) return true;
    a.hidden.insert(n->slot);
    a.shown.erase(n->slot);
    session_.setNode(-1);
    session_.setArrangement(a);
  } else if (is("neighbourhood")) {
    const PictureNode* n = selected();
    if (!n) return true;
    const uint32_t slot = n->slot;
    a.only = true;
    a.shown = {slot};
    a.hidden.clear();
    for (const bool sources : {true, false})
      for (const uint32_t s : neighbours(slot, sources)) a.shown.insert(s);
    session_.setArrangement(a);
  } else if (is("reveal-inputs") || is("reveal-outputs")) {
    const bool inputs = is("reveal-inputs");
    const PictureNode* n = selected();
    if (!n) return true;
    bool news = false;
    for (const uint32_t s : neighbours(n->slot, inputs)) {
      news |= a.hidden.erase(s) > 0;
      if (a.only || !drawn(s)) news |= a.shown.insert(s).second;
    }
    if (news)
      session_.setArrangement(a);
    else
      session_.trigger(inputs ? QStringLiteral("go-source") : QStringLiteral("go-user"));
  } else if (is("pin")) {
    const PictureNode* n = selected();
    if (!n) return true;
    if (!a.pinned.erase(n->slot)) a.pinned[n->slot] = {n->x, n->y};
    session_.setArrangement(a);
  } else if (is("group")) {
    setGroupBy(QString::fromLatin1(
        kGroupNames[(static_cast<size_t>(a.groupBy) + 1) % std::size(kGroupNames)].data()));
    session_.showNotice(groupBy() == QLatin1String("nothing")
                            ? tr("Nothing is collapsed.")
                            : tr("Collapsed %1.").arg(textOf(groupings(), groupBy())));
  } else if (is("colour")) {
    QStringList order = tintings();
    if (session_.graph()->answerTitle().isEmpty()) order.removeAll(QStringLiteral("query"));
    const qsizetype next = (order.indexOf(session_.graph()->colourBy()) + 1) % order.size();
    session_.graph()->setColourBy(order[next]);
    session_.showNotice(tr("Coloured by: %1.").arg(textOf(colourings(), order[next])));
  } else {
    return false;
  }
  return true;
}

} // namespace uopscope
