// Each tool changes a copy of the arrangement and hands it to the session.
#include "viz/models/graph/graph_tools.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace uopscope {
namespace {

/// Nodes of a schedule from which on it is collapsed when it is entered.
constexpr uint32_t kLargeSchedule = 400;
/// More boxes than this are no overview.
constexpr size_t kMostLayers = 60;

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
  connect(session_.graph(), &GraphSource::pictureChanged, this, &GraphTools::openLargeSchedule);
  connect(session_.graph(), &GraphSource::pictureChanged, this, &GraphTools::levelsChanged);
  connect(&session_, &Session::opened, this, [this] {
    factsOf_ = -1;
    session_.graph()->setFacts(nullptr);
  });
}

// The schedule of a large model opens as its layers, or where the calls of its script were not recorded, as its
// reductions and what joins them. Leaving it undoes that; a person's own choice stays.
void GraphTools::openLargeSchedule() {
  const PicturePtr& p = session_.graph()->picture();
  if (!p) return;
  if (ours_ && session_.pass() == entered_ && groupBy() == QLatin1String("layer") &&
      p->nodes.size() > kMostLayers) {
    setGroupBy(QStringLiteral("reduce"));
    return;
  }
  if (session_.pass() == entered_) return;
  entered_ = session_.pass();
  const bool schedule = session_.scopeKind() == QLatin1String("schedule");
  if (schedule && groupBy() == QLatin1String("nothing") && p->graphNodes > kLargeSchedule) {
    ours_ = true;
    setGroupBy(QStringLiteral("layer"));
  } else if (!schedule && std::exchange(ours_, false)) {
    setGroupBy(QStringLiteral("nothing"));
  }
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
          QVariantMap{{"value", "line"}, {"text", tr("by script line")}},
          QVariantMap{{"value", "layer"}, {"text", tr("by layer")}}};
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
  a.level.clear();
  session_.setArrangement(a);
}

QVariantList GraphTools::levels() const {
  const PicturePtr& p = session_.graph()->picture();
  if (!p || session_.arrangement().groupBy != GroupBy::Layer) return {};
  QVariantList out{QVariantMap{{"path", QString()}, {"text", tr("all layers")}}};
  for (const auto& [path, title] : p->levels)
    out << QVariantMap{{"path", QString::fromStdString(path)}, {"text", QString::fromStdString(title)}};
  return out;
}

void GraphTools::openLevel(const QString& path) {
  Arrangement a = session_.arrangement();
  a.groupBy = GroupBy::Layer;
  a.level = path.toStdString();
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

void GraphTools::enter(qlonglong id) {
  if (id >= kFirstGroupId)
    toggleGroup(id);
  else
    session_.setNode(id);
}

void GraphTools::toggleGroup(qlonglong id) {
  if (id < kFirstGroupId) return;
  Arrangement a = session_.arrangement();
  const auto group = static_cast<uint32_t>(id - kFirstGroupId);
  if (a.groupBy == GroupBy::Layer) {
    const PicturePtr& p = session_.graph()->picture();
    if (!p || !p->layers.contains(id)) return;
    a.level = p->layers.at(id);
    session_.setNode(-1);
  } else if (a.groupBy == GroupBy::Nothing) { // lanes: other steps number them otherwise
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
  } else if (is("level-down")) {
    if (session_.node() < kFirstGroupId) {
      session_.showNotice(tr("Select a box first: Return opens it."));
      return true;
    }
    toggleGroup(session_.node());
  } else if (is("level-up")) {
    const QVariantList all = levels();
    if (all.size() < 2) {
      session_.showNotice(a.groupBy == GroupBy::Layer
                              ? tr("All layers are shown already.")
                              : tr("The graph is not collapsed by layer: choose that at Collapse."));
      return true;
    }
    openLevel(all[all.size() - 2].toMap()[QStringLiteral("path")].toString());
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
