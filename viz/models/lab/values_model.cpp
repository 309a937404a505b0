#include "viz/models/lab/values_model.h"

#include "viz/models/work/table_text.h"
#include "viz/models/work/text.h"

#include <algorithm>

namespace uopscope {
namespace {

QString inWords(const NodeNumber& n) {
  return n.text.empty() ? text(n.note) : n.note.empty() ? text(n.text) : text(n.text + "  " + n.note);
}

} // namespace

ValuesModel::ValuesModel(Session& session, QObject* parent) : QAbstractListModel(parent), session_(session) {
  connect(&session_, &Session::opened, this, [this] {
    choice_ = {};
    problem_.clear();
    asked_.clear(), askedWays_.clear();
    ways_.clear();
    found_ = {};
    show();
  });
  connect(&session_, &Session::placeChanged, this, [this] { ask(); });
  connect(&session_, &Session::nodeChanged, this, &ValuesModel::changed);
}

void ValuesModel::setOn(bool on) {
  if (on == on_) return;
  on_ = on;
  if (!on) asked_.clear();
  ask();
  showOnCanvas();
  Q_EMIT changed();
}

void ValuesModel::setOnlyDiffering(bool on) {
  onlyDiffering_ = on;
  show();
}

void ValuesModel::again() {
  ++chosen_;
  ask();
  Q_EMIT changed();
}

void ValuesModel::choose(const QString& loop, qlonglong iteration) {
  if (iteration < 0) return;
  choice_.at[loop.toStdString()] = iteration;
  again();
}

void ValuesModel::setInput(const QString& name, const QString& contents) {
  problem_.clear();
  try {
    if (contents.trimmed().isEmpty())
      choice_.inputs.erase(name.mid(4).toLongLong());
    else
      chooseInput(choice_, (name + QLatin1Char('=') + contents.trimmed()).toStdString());
  } catch (const std::exception& e) {
    problem_ = QString::fromUtf8(e.what());
    Q_EMIT changed();
    return;
  }
  again();
}

void ValuesModel::setElement(const QString& element) {
  problem_.clear();
  try {
    choice_.element.clear();
    if (!element.trimmed().isEmpty()) chooseLoops(choice_, element.toStdString());
  } catch (const std::exception& e) {
    problem_ = QString::fromUtf8(e.what());
    Q_EMIT changed();
    return;
  }
  again();
}

void ValuesModel::reset() {
  choice_ = {};
  problem_.clear();
  again();
}

void ValuesModel::ask() {
  if (!session_.trace() || session_.pass() < 1 || !wanted()) return;
  const QString place = QStringLiteral("%1 %2 %3 %4")
                            .arg(session_.pass())
                            .arg(session_.step())
                            .arg(session_.interval())
                            .arg(chosen_);
  if (place != asked_) {
    asked_ = place;
    const int64_t to = session_.step(), from = std::max<int64_t>(0, to - session_.interval());
    session_.jobs().ask(
        Channel::Values,
        [this, pass = session_.pass(), from, to, choice = choice_](Jobs::Job& job) -> Jobs::Answer {
          Cursor cursor(job.trace(), pass);
          auto found = std::make_shared<StepValues>(
              valuesOfStep(job.trace(), cursor, from, to, choice, [&job] { return job.stale(); }));
          auto titles = std::make_shared<std::vector<QString>>();
          auto constants = std::make_shared<std::vector<bool>>();
          bool tensors = false;
          for (const StepValues::Row& r : found->rows) {
            const NodeFields n = cursor.fields(r.node);
            titles->push_back(text(nodeLabel(n)));
            constants->push_back(n.op == Op::CONST || n.op == Op::VCONST || n.op == Op::DEVICE);
            tensors = tensors || r.now.note.starts_with("element [");
          }
          return [this, found, titles, constants, tensors] {
            found_ = std::move(*found);
            titles_ = std::move(*titles);
            constants_ = std::move(*constants);
            tensors_ = tensors;
            show();
          };
        },
        [this](const QString& what) {
          problem_ = what;
          found_ = {};
          show();
        });
  }
  askWays();
}

// What the kernel stores, pass by pass: the same for every step of the kernel.
void ValuesModel::askWays() {
  if (session_.tab() != QLatin1String("values")) return;
  const QString place = QStringLiteral("%1 %2").arg(session_.scope()).arg(chosen_);
  if (place == askedWays_) return;
  askedWays_ = place;
  ways_.clear();
  if (session_.scopeKind() != QLatin1String("kernel")) return;
  session_.jobs().ask(
      Channel::ValueWays,
      [this, scope = session_.scope(), choice = choice_](Jobs::Job& job) -> Jobs::Answer {
        QVariantList ways;
        for (const ValueWay& w : valueWays(job.trace(), scope, choice, [&job] { return job.stale(); })) {
          QVariantList rows;
          for (const ValueWay::Row& r : w.rows)
            rows << QVariantMap{{"pass", static_cast<qlonglong>(r.pass)},
                                {"name", text(r.name)},
                                {"text", text(r.text)},
                                {"note", text(r.note)},
                                {"differs", r.differs}};
          ways << QVariantMap{{"element", text(w.element)},
                              {"rows", rows},
                              {"wrongPass", static_cast<qlonglong>(w.wrongPass)},
                              {"wrongStep", static_cast<qlonglong>(w.wrongStep)}};
        }
        return [this, ways] {
          ways_ = ways;
          Q_EMIT changed();
        };
      },
      [this](const QString&) { Q_EMIT changed(); });
}

void ValuesModel::show() {
  beginResetModel();
  shown_.clear();
  for (size_t k = 0; k < found_.rows.size(); ++k)
    if (onlyDiffering_ ? found_.rows[k].differs : !constants_[k]) shown_.push_back(k);
  endResetModel();
  showOnCanvas();
  Q_EMIT changed();
}

void ValuesModel::showOnCanvas() {
  std::map<int64_t, CanvasNumber> numbers;
  if (on_)
    for (size_t k = 0; k < found_.rows.size(); ++k) {
      const StepValues::Row& r = found_.rows[k];
      // A node that the step removed is drawn too.
      if (r.before != kNoNode && !r.was.text.empty())
        numbers.try_emplace(r.before, CanvasNumber{text(r.was.text), false});
      if (constants_[k] || r.now.text.empty()) continue;
      const bool gate = r.now.note.find("gate off") != std::string::npos;
      QString shown = text(r.now.text) + (gate ? tr(" (gate off)") : QString());
      if (r.differs && !r.was.text.empty() && r.was.text != r.now.text)
        shown = text(r.was.text) + QStringLiteral(" → ") + shown;
      numbers[r.node] = {shown, r.differs};
    }
  session_.graph()->setNumbers(std::move(numbers));
}

QVariantList ValuesModel::loops() const {
  QVariantList out;
  for (ChosenLoop l : found_.loops) {
    // What was chosen last is shown before its numbers are there.
    if (const auto it = choice_.at.find(l.name); it != choice_.at.end())
      l.at = std::clamp(it->second, l.first, l.last);
    out << QVariantMap{{"name", text(l.name)},
                       {"shown", text(l.shown)},
                       {"kind", text(l.kind)},
                       {"first", static_cast<qlonglong>(l.first)},
                       {"last", static_cast<qlonglong>(l.last)},
                       {"at", static_cast<qlonglong>(l.at)}};
  }
  return out;
}

QVariantList ValuesModel::inputs() const {
  QVariantList out;
  for (const ChosenInput& i : found_.inputs)
    out << QVariantMap{{"name", text(i.name)},
                       {"dtype", text(i.dtype)},
                       {"size", static_cast<qlonglong>(i.size)},
                       {"contents", i.contents == "made up" ? QString() : text(i.contents)}};
  return out;
}

QString ValuesModel::element() const {
  QStringList out;
  for (const int64_t i : choice_.element) out << QString::number(i);
  return out.join(QLatin1Char(','));
}

QString ValuesModel::ofNode() const {
  if (!wanted() || session_.node() < 0) return {};
  for (const StepValues::Row& r : found_.rows)
    if (r.node == session_.node()) return inWords(r.now);
  return {};
}

void ValuesModel::selectNode(int row) {
  if (row >= 0 && row < count()) session_.setNode(found_.rows[shown_[static_cast<size_t>(row)]].node);
}

void ValuesModel::goToNode(int row) {
  if (row < 0 || row >= count()) return;
  const qlonglong node = found_.rows[shown_[static_cast<size_t>(row)]].node;
  session_.setNode(node);
  session_.setTab(QStringLiteral("graph"));
  Q_EMIT session_.focusAsked(node);
}

int ValuesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : count();
}

QVariant ValuesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= count()) return {};
  const size_t k = shown_[static_cast<size_t>(index.row())];
  const StepValues::Row& r = found_.rows[k];
  switch (role) {
  case NodeRole: return static_cast<qlonglong>(r.node);
  case TitleRole: return titles_[k];
  case BeforeRole:
    return r.before == kNoNode ? QString() : r.was.text.empty() ? text(r.was.note) : text(r.was.text);
  case AfterRole: return text(r.now.text);
  case NoteRole:
    return r.should.empty() ? text(r.now.note)
                            : tr("the first graph of the kernel gives %1").arg(text(r.should));
  case DiffersRole: return r.differs;
  default: return {};
  }
}

QHash<int, QByteArray> ValuesModel::roleNames() const {
  return {{NodeRole, "node"},   {TitleRole, "title"}, {BeforeRole, "before"},
          {AfterRole, "after"}, {NoteRole, "note"},   {DiffersRole, "differs"}};
}

QString ValuesModel::exportTo(const QString& path) const {
  QList<QVariantList> rows;
  for (int row = 0; row < count(); ++row) {
    QVariantList cells;
    for (const int role : {NodeRole, TitleRole, BeforeRole, AfterRole, NoteRole})
      cells << data(index(row), role);
    rows << cells;
  }
  return writeTable(path, {tr("node"), tr("operation"), tr("before"), tr("after"), tr("note")}, rows);
}

} // namespace uopscope
