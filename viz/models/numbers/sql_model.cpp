// Runs statements on a background thread; sorting and marking use the rows that have arrived.
#include "viz/models/numbers/sql_model.h"

#include "replay/read/sql.h"
#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <QElapsedTimer>
#include <algorithm>

namespace uopscope {
namespace {

constexpr size_t kFirstRows = 1000;
constexpr int kMostMarked = 100'000;

struct Example {
  const char *name, *text;
};
constexpr Example kExamples[] = {
    {QT_TR_NOOP("Rules by number of steps"),
     "SELECT rule.name, count(*) AS steps, sum(took_ns) AS ns\nFROM step JOIN "
     "rule ON rule.id = step.rule\nGROUP BY 1 ORDER BY steps DESC"},
    {QT_TR_NOOP("Slowest rewrites"),
     "SELECT step.id AS step, rule.name, step.before AS node, expr(step.before) AS text, took_ns\nFROM step "
     "JOIN rule ON rule.id = step.rule\nORDER BY took_ns DESC LIMIT 50"},
    {QT_TR_NOOP("Kernels by compile time"),
     "SELECT scope.id AS kernel, string.value AS name, (end_ns - begin_ns) / 1000 AS us\nFROM scope JOIN "
     "string ON string.id = scope.name\nWHERE kind = 'kernel' ORDER BY us DESC"},
    {QT_TR_NOOP("Rewrites that undo each other"),
     "SELECT a.id AS step, b.id AS later, expr(a.before) AS was\nFROM step a JOIN step b ON b.pass = a.pass "
     "AND b.id > a.id AND b.before = a.after AND b.after = a.before\nLIMIT 100"},
};

QVariant toVariant(const SqlValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return QVariant::fromValue<qlonglong>(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  if (const auto* s = std::get_if<std::string>(&value)) return QString::fromStdString(*s);
  return {};
}

// NULL first, then numbers, then words, as SQLite sorts.
QPartialOrdering compareCells(const QVariant& a, const QVariant& b) {
  const auto rank = [](const QVariant& v) {
    return v.isNull() ? 0 : v.typeId() == QMetaType::QString ? 2 : 1;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b) ? QPartialOrdering::Less : QPartialOrdering::Greater;
  return rank(a) == 0 ? QPartialOrdering::Equivalent : QVariant::compare(a, b);
}

bool isNode(const QString& column) {
  return column == QLatin1String("node") || column == QLatin1String("before") ||
         column == QLatin1String("after") || column == QLatin1String("root") ||
         column == QLatin1String("end_root");
}

} // namespace

SqlModel::SqlModel(Session& session, QObject* parent)
    : QAbstractTableModel(parent), session_(session), text_(QLatin1String(kExamples[0].text)) {
  connect(session_.preferences(), &Preferences::read, this, [this] {
    kept_ = session_.preferences()->stored(QStringLiteral("queries")).toMap();
    Q_EMIT savedChanged();
  });
  connect(&session_, &Session::opened, this, [this] {
    beginResetModel();
    rows_.clear();
    columns_.clear();
    endResetModel();
    problem_.clear();
    Q_EMIT changed();
    readSchema();
  });
}

void SqlModel::readSchema() {
  schema_.clear();
  Q_EMIT schemaChanged();
  if (!session_.trace()) return;
  session_.jobs().ask(
      Channel::Schema,
      [this](Jobs::Job& job) -> Jobs::Answer {
        const Database& db = job.trace().database();
        QVariantList schema;
        for (Statement s =
                 db.prepare("SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name "
                            "NOT LIKE 'sqlite_%' ORDER BY type, name");
             s.step();) {
          const auto name = std::string(s.text(0));
          QStringList columns;
          Statement c = db.prepare("SELECT name FROM pragma_table_info(?)");
          for (c.bind(1, name); c.step();)
            columns << QString::fromUtf8(c.text(0).data(), static_cast<qsizetype>(c.text(0).size()));
          schema << QVariantMap{{"name", QString::fromStdString(name)},
                                {"kind", QString::fromStdString(std::string(s.text(1)))},
                                {"columns", columns}};
        }
        return [this, schema] {
          schema_ = schema;
          Q_EMIT schemaChanged();
        };
      },
      [](const QString&) {}); // the trace was cut off before its schema was complete
}

void SqlModel::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  Q_EMIT changed();
}

QVariantList SqlModel::saved() const {
  QVariantList out;
  for (const Example& e : kExamples)
    out << QVariantMap{{"name", tr(e.name)}, {"text", QLatin1String(e.text)}, {"own", false}};
  for (auto it = kept_.begin(); it != kept_.end(); ++it)
    out << QVariantMap{{"name", it.key()}, {"text", it.value()}, {"own", true}};
  return out;
}

void SqlModel::keep(const QString& name) {
  if (name.trimmed().isEmpty()) return;
  kept_[name.trimmed()] = text_;
  session_.preferences()->store(QStringLiteral("queries"), kept_);
  Q_EMIT savedChanged();
}

void SqlModel::forget(const QString& name) {
  kept_.remove(name);
  session_.preferences()->store(QStringLiteral("queries"), kept_);
  Q_EMIT savedChanged();
}

void SqlModel::run(const QString& text) {
  text_ = text;
  ask(kFirstRows);
}

void SqlModel::lift() {
  ask(SIZE_MAX);
}

void SqlModel::cancel() {
  session_.jobs().cancel(Channel::Sql);
  busy_ = false;
  problem_ = tr("Cancelled.");
  Q_EMIT changed();
}

void SqlModel::ask(size_t most) {
  if (!session_.trace()) return;
  busy_ = true;
  problem_.clear();
  Q_EMIT changed();
  session_.jobs().ask(
      Channel::Sql,
      [this, text = text_.toStdString(), most](Jobs::Job& job) -> Jobs::Answer {
        QElapsedTimer clock;
        clock.start();
        addSqlFunctions(job.trace());
        const SqlResult result = query(job.trace(), text, most);
        QStringList columns;
        for (const std::string& c : result.columns) columns << QString::fromStdString(c);
        auto rows = std::make_shared<std::vector<QVariantList>>();
        for (const auto& r : result.rows) {
          QVariantList row;
          for (const SqlValue& v : r) row << toVariant(v);
          rows->push_back(std::move(row));
        }
        const double ms = static_cast<double>(clock.nsecsElapsed()) / 1e6;
        return [this, columns, rows, ms, more = result.more] {
          beginResetModel();
          columns_ = columns;
          rows_ = std::move(*rows);
          endResetModel();
          ms_ = ms;
          sort_ = -1;
          more_ = more;
          busy_ = false;
          Q_EMIT changed();
        };
      },
      [this](const QString& what) {
        busy_ = false;
        problem_ = what;
        Q_EMIT changed();
      });
}

QString SqlModel::summary() const {
  if (columns_.isEmpty()) return {};
  const auto rows = static_cast<int64_t>(rows_.size());
  return (more_ ? tr("the first %1 rows").arg(grouped(rows)) : counted(rows, tr("1 row"), tr("%1 rows"))) +
         QStringLiteral(", ") + duration(static_cast<int64_t>(ms_ * 1e6));
}

int SqlModel::mark(int column) {
  std::map<int64_t, QString> notes;
  const PicturePtr& p = session_.graph()->picture();
  int inGraph = 0, looked = 0;
  for (const QVariantList& row : rows_) {
    if (column < 0 || column >= row.size() || ++looked > kMostMarked) break;
    const qlonglong id = row[column].toLongLong();
    if (id <= 0 || !notes.emplace(id, QStringLiteral("+")).second) continue;
    inGraph += p && p->find(id);
  }
  session_.graph()->setNotes(std::move(notes));
  session_.showNotice(tr("%1 of them are in the graph shown.").arg(inGraph));
  return inGraph;
}

int SqlModel::colour(int column) {
  int nodes = -1;
  for (int c = 0; c < columns_.size() && nodes < 0; ++c)
    if (isNode(columns_[c])) nodes = c;
  if (nodes < 0 || column < 0 || column >= columns_.size()) {
    session_.showNotice(tr("No column names nodes: call one node, before or after."));
    return 0;
  }
  // A colouring by the ids themselves is never meant, so the column beside them is used.
  if (column == nodes)
    for (int c = 0; c < columns_.size() && column == nodes; ++c)
      if (!isNode(columns_[c])) column = c;
  TintingAnswer answer;
  answer.title = columns_[column];
  answer.ordered = column != nodes;
  const PicturePtr& p = session_.graph()->picture();
  int inGraph = 0, looked = 0;
  for (const QVariantList& row : rows_) {
    if (++looked > kMostMarked) break;
    const qlonglong id = row.value(nodes).toLongLong();
    const QVariant& value = row[column];
    if (id <= 0 || value.isNull() || !answer.text.emplace(id, value.toString().left(40)).second) continue;
    bool number = false;
    answer.number[id] = value.toDouble(&number);
    answer.ordered = answer.ordered && number;
    inGraph += p && p->find(id);
  }
  session_.graph()->setAnswer(std::move(answer));
  session_.showNotice(tr("%1 nodes of the graph are coloured by %2.").arg(inGraph).arg(columns_[column]));
  return inGraph;
}

void SqlModel::sortBy(int column) {
  if (column < 0 || column >= columns_.size()) return;
  beginResetModel();
  descending_ = column == sort_ && !descending_;
  sort_ = column;
  std::ranges::stable_sort(rows_, [&](const QVariantList& a, const QVariantList& b) {
    const QPartialOrdering o = compareCells(a.value(column), b.value(column));
    return descending_ ? o == QPartialOrdering::Greater : o == QPartialOrdering::Less;
  });
  endResetModel();
  Q_EMIT changed();
}

void SqlModel::showSteps(const QString& what, const QString& name, qlonglong scope, qlonglong pass) {
  QString quoted = name;
  quoted.replace(QLatin1Char('\''), QLatin1String("''"));
  QStringList all;
  if (what == QLatin1String("rule")) all << QStringLiteral("rule = '%1'").arg(quoted);
  if (what == QLatin1String("pass")) all << QStringLiteral("pass_name = '%1'").arg(quoted);
  if (what == QLatin1String("op"))
    all << QStringLiteral("before IN (SELECT id FROM v_node WHERE op = '%1')").arg(quoted);
  if (scope) all << QStringLiteral("scope = %1").arg(scope);
  if (pass) all << QStringLiteral("pass = %1").arg(pass);
  run(QStringLiteral("SELECT id AS step, kernel AS in_kernel, pass_name, rule, before AS node,\n       "
                     "expr(before) AS was, expr(after) AS is_now, took_ns\nFROM v_rewrite%1\nORDER BY id")
          .arg(all.isEmpty() ? QString() : QStringLiteral("\nWHERE ") + all.join(QLatin1String(" AND "))));
  session_.setTab(QStringLiteral("sql"));
}

QString SqlModel::condition(int column) const {
  QStringList ids;
  for (const QVariantList& row : rows_)
    if (column >= 0 && column < row.size() && row[column].toLongLong() > 0)
      ids << QString::number(row[column].toLongLong());
  ids.removeDuplicates();
  return ids.isEmpty() ? QString() : QStringLiteral("where step.id IN (%1)").arg(ids.join(QLatin1Char(',')));
}

// Goes to a node at the step of its row, else in the graph shown, else in the first graph that contains it.
bool SqlModel::followNode(int row, qlonglong id) {
  session_.setTab(QStringLiteral("graph"));
  const qsizetype step = columns_.indexOf(QLatin1String("step"));
  if (step >= 0) {
    session_.goToTraceStep(rows_[static_cast<size_t>(row)].value(step).toLongLong(), id);
    return true;
  }
  const PicturePtr& p = session_.graph()->picture();
  if (p && (p->find(id) || (p->map && p->map->find(id))))
    return session_.follow(QStringLiteral("node=%1&tab=graph").arg(id));
  session_.jump()->choose({{"kind", "node"}, {"target", QStringLiteral("anywhere=%1").arg(id)}});
  return true;
}

bool SqlModel::follow(int row, int column) {
  if (row < 0 || row >= rowCount() || column < 0 || column >= columns_.size()) return false;
  const QString name = columns_[column];
  const qlonglong id = rows_[static_cast<size_t>(row)].value(column).toLongLong();
  if (name == QLatin1String("step") || name == QLatin1String("later")) {
    session_.setTab(QStringLiteral("graph"));
    session_.goToTraceStep(id);
    return true;
  }
  if (isNode(name)) return followNode(row, id);
  if (name == QLatin1String("kernel") || name == QLatin1String("scope")) {
    session_.goToScope(id);
    session_.setTab(QStringLiteral("graph"));
    return true;
  }
  if (name == QLatin1String("pass")) {
    session_.setTab(QStringLiteral("graph"));
    session_.goTo(id, 0);
    return true;
  }
  return false;
}

QList<QVariantList> SqlModel::table() const {
  return QList<QVariantList>(rows_.begin(), rows_.end());
}

QString SqlModel::exportTo(const QString& path) const {
  return writeTable(path, columns_, table());
}

int SqlModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}
int SqlModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant SqlModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount() || index.column() >= columnCount()) return {};
  const QVariant& value = rows_[static_cast<size_t>(index.row())].value(index.column());
  if (role == Qt::DisplayRole) return value.isNull() ? QStringLiteral("NULL") : value.toString().left(400);
  if (role == Qt::UserRole + 1)
    return value.typeId() == QMetaType::LongLong || value.typeId() == QMetaType::Double;
  return {};
}

QVariant SqlModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
  return columns_.value(section);
}

QHash<int, QByteArray> SqlModel::roleNames() const {
  return {{Qt::DisplayRole, "display"}, {Qt::UserRole + 1, "numeric"}};
}

} // namespace uopscope
