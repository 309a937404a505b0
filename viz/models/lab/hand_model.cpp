#include "viz/models/lab/hand_model.h"

#include "viz/models/work/program_of_verbs.h"
#include "viz/models/work/reports.h"
#include "viz/pictures/rule_picture.h"

#include <sys/prctl.h>

#include <QJsonDocument>
#include <QRegularExpression>
#include <algorithm>
#include <csignal>

namespace uopscope {
namespace {

PicturePtr drawn(const QJsonValue& graph) {
  const QByteArray text = QJsonDocument(graph.toObject()).toJson(QJsonDocument::Compact);
  return pictureOf(nlohmann::json::parse(text.toStdString(), nullptr, false));
}

} // namespace

HandModel::HandModel(Session& session, QObject* parent)
    : QAbstractListModel(parent), session_(session), program_(programOfVerbs()) {
  process_.setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
  connect(&process_, &QProcess::finished, this, &HandModel::ended);
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError e) {
    if (e != QProcess::FailedToStart) return;
    problem_ = tr("%1 cannot be started: %2").arg(program_, process_.errorString());
    Q_EMIT changed();
  });
  connect(&session_, &Session::opened, this, &HandModel::close);
}

HandModel::~HandModel() {
  process_.disconnect(this);
  process_.kill();
  process_.waitForFinished(1000);
}

void HandModel::begin() {
  close();
  Q_EMIT asked();
  if (!session_.trace() || session_.scopeKind() != QLatin1String("kernel") || session_.pass() == 0) {
    problem_ = tr("Go to a step of a kernel first: a schedule is not compiled again.");
    Q_EMIT changed();
    return;
  }
  Place at;
  at.scope = session_.scope(), at.pass = session_.pass(), at.step = session_.step();
  at.tab.clear();
  place_ = linkTo(*session_.trace(), at);
  shownPlace_ = tr("%1, step %2").arg(session_.passName()).arg(session_.step());
  ask({});
}

QString HandModel::text(const QStringList& choices) const {
  return place_ + QLatin1Char(':') + choices.join(QLatin1Char(','));
}

void HandModel::ask(const QStringList& choices) {
  if (busy()) return;
  problem_.clear();
  asking_ = choices;
  process_.start(program_, {QStringLiteral("whatif"), session_.path(), QStringLiteral("--by-hand"),
                            text(choices), QStringLiteral("--matches"), QStringLiteral("--json")});
  Q_EMIT changed();
}

void HandModel::choose(int row) {
  if (row < 0 || row >= count()) return;
  ask(chosen_ + QStringList{matchAt(row)[QLatin1String("name")].toString()});
}

void HandModel::takeBack() {
  if (!chosen_.isEmpty()) ask(chosen_.first(chosen_.size() - 1));
}

void HandModel::goOn() {
  if (!open() || busy() || chosen_.isEmpty()) return;
  const QString variant = text(chosen_);
  close();
  Q_EMIT variantAsked(variant);
}

void HandModel::close() {
  if (busy()) {
    process_.blockSignals(true);
    process_.kill();
    process_.waitForFinished(1000);
    process_.blockSignals(false);
  }
  place_.clear(), shownPlace_.clear(), problem_.clear(), filter_.clear();
  chosen_.clear();
  answer_ = {};
  graph_.setPicture(nullptr);
  show();
}

void HandModel::ended(int code, QProcess::ExitStatus status) {
  QString fault = QString::fromUtf8(process_.readAllStandardError()).trimmed().section(QLatin1Char('\n'), -1);
  fault.remove(QRegularExpression(QStringLiteral("^uopscope: ")));
  const QJsonObject answer = QJsonDocument::fromJson(process_.readAllStandardOutput())
                                 .object()[QLatin1String("by_hand")]
                                 .toArray()
                                 .at(0)
                                 .toObject();
  if (answer.isEmpty()) { // the graph in hand stays as it was
    problem_ = status == QProcess::NormalExit && !fault.isEmpty()
                   ? fault
                   : tr("The rules could not be asked: exit code %1.").arg(code);
    if (answer_.isEmpty()) place_.clear();
    Q_EMIT changed();
    return;
  }
  answer_ = answer;
  shownPlace_ = tr("%1, step %2")
                    .arg(answer[QLatin1String("pass")].toString())
                    .arg(answer[QLatin1String("step")].toInteger());
  if (const QString inside = answer[QLatin1String("inside")].toString(); !inside.isEmpty())
    shownPlace_ = tr("%1 (%2 rewrites an expression of it)").arg(shownPlace_, inside);
  chosen_ = asking_;
  filter_.clear();
  graph_.setPicture(drawn(answer_[QLatin1String("graph")]));
  show();
}

// Makes the rows that the filter leaves; the first is drawn.
void HandModel::show() {
  beginResetModel();
  matches_ = answer_[QLatin1String("matches")].toArray();
  rows_.clear();
  const QStringList words = filter_.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  for (int k = 0; k < matches_.size(); ++k) {
    const QJsonObject m = matches_[k].toObject();
    const QString all = m[QLatin1String("name")].toString() + QLatin1Char(' ') +
                        m[QLatin1String("pass")].toString() + QLatin1Char(' ') +
                        m[QLatin1String("before")].toString();
    if (std::ranges::all_of(words, [&](const QString& w) { return all.contains(w, Qt::CaseInsensitive); }))
      rows_.push_back(k);
  }
  endResetModel();
  Q_EMIT changed();
  current_ = -1;
  setCurrent(0);
}

void HandModel::setFilter(const QString& words) {
  if (words == filter_) return;
  filter_ = words;
  show();
}

void HandModel::setCurrent(int row) {
  current_ = row >= 0 && row < count() ? row : -1;
  rewrite_.setPicture(current_ < 0 ? nullptr : drawn(matchAt(current_)[QLatin1String("picture")]));
  Q_EMIT currentChanged();
}

QJsonObject HandModel::matchAt(int row) const {
  return matches_[rows_[static_cast<size_t>(row)]].toObject();
}

QString HandModel::summary() const {
  if (answer_.isEmpty()) return {};
  const qlonglong all = answer_[QLatin1String("count")].toInteger();
  QString out = count() == all ? tr("%1 rewrites match").arg(all)
                               : tr("%1 of %2 rewrites that match").arg(count()).arg(all);
  QStringList unasked;
  for (const QJsonValue u : answer_[QLatin1String("unasked")].toArray())
    unasked << u.toObject()[QLatin1String("pass")].toString();
  if (!unasked.isEmpty()) out += tr("; this graph is not one for %1").arg(unasked.join(QLatin1String(", ")));
  return out;
}

int HandModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant HandModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const QJsonObject m = matchAt(index.row());
  switch (role) {
  case NameRole: return m[QLatin1String("name")].toString();
  case PassRole: return m[QLatin1String("pass")].toString();
  case BeforeRole: return m[QLatin1String("before")].toString();
  case AfterRole: return m[QLatin1String("after")].toString();
  case ReasonRole: return m[QLatin1String("reason")].toString();
  default: return {};
  }
}

QHash<int, QByteArray> HandModel::roleNames() const {
  return {{NameRole, "name"},
          {PassRole, "passName"},
          {BeforeRole, "before"},
          {AfterRole, "after"},
          {ReasonRole, "reason"}};
}

} // namespace uopscope
