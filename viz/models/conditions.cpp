#include "viz/models/conditions.h"

#include <QRegularExpression>

namespace uopscope {
namespace {

QString quoted(QString s) {
  return QLatin1Char('\'') + s.replace(QLatin1Char('\''), QLatin1String("''")) + QLatin1Char('\'');
}
// "add-*" is a GLOB of SQLite as it is; a name without a star is meant whole.
QString like(const QString& column, const QString& value) {
  return value.contains(QLatin1Char('*')) ? QStringLiteral("%1 GLOB %2").arg(column, quoted(value))
                                          : QStringLiteral("%1 = %2").arg(column, quoted(value));
}
QString ofOperation(const QString& column, const QString& value) {
  return QStringLiteral(
             "(SELECT kind.op FROM node JOIN kind ON kind.id = node.kind WHERE node.id = step.%1) IN "
             "(SELECT id FROM op WHERE %2)")
      .arg(column, like(QStringLiteral("name"), value.toUpper()));
}

} // namespace

QString conditionSql(const QString& text) {
  const QString wanted = text.trimmed();
  if (wanted.startsWith(QLatin1String("where "), Qt::CaseInsensitive))
    return QLatin1Char('(') + wanted.mid(6) + QLatin1Char(')');
  static const QRegularExpression form(QStringLiteral("^(-?)([a-z]+)(:|>|<)(.+)$"));
  QStringList parts;
  for (const QString& word : wanted.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const auto m = form.match(word);
    QString field = m.hasMatch() ? m.captured(2) : QStringLiteral("rule");
    const QString value = m.hasMatch() ? m.captured(4) : word;
    QString sql;
    if (field == QLatin1String("rule"))
      sql = QStringLiteral("step.rule IN (SELECT id FROM rule WHERE %1)")
                .arg(like(QStringLiteral("name"), value));
    else if (field == QLatin1String("op"))
      sql = ofOperation(QStringLiteral("before"), value);
    else if (field == QLatin1String("into"))
      sql = ofOperation(QStringLiteral("after"), value);
    else if (field == QLatin1String("node"))
      sql = QStringLiteral("(step.before = %1 OR step.after = %1)").arg(value.toLongLong());
    else if (field == QLatin1String("pass"))
      sql = QStringLiteral(
                "step.pass IN (SELECT pass.id FROM pass JOIN string ON string.id = pass.name WHERE %1)")
                .arg(like(QStringLiteral("string.value"), value));
    else if (field == QLatin1String("kernel"))
      sql = QStringLiteral("step.pass IN (SELECT pass.id FROM pass JOIN scope ON scope.id = pass.scope JOIN "
                           "string ON string.id = scope.name WHERE %1)")
                .arg(like(QStringLiteral("string.value"), value));
    else if (field == QLatin1String("changed"))
      sql = value == QLatin1String("no") ? QStringLiteral("step.after = step.before")
                                         : QStringLiteral("step.after <> step.before");
    else if (field == QLatin1String("error"))
      sql = value == QLatin1String("no") ? QStringLiteral("step.kind <> 2") : QStringLiteral("step.kind = 2");
    else if (field == QLatin1String("took") && m.captured(3) != QLatin1String(":"))
      sql = QStringLiteral("step.took_ns %1 %2").arg(m.captured(3)).arg(value.toLongLong());
    else
      throw Error(ErrorKind::Value,
                  "there is no field \"" + field.toStdString() +
                      "\": use rule, op, into, node, pass, kernel, changed, error, took> or where SQL");
    parts << (m.captured(1).isEmpty() ? sql : QStringLiteral("NOT (%1)").arg(sql));
  }
  return parts.isEmpty() ? QString() : parts.join(QLatin1String(" AND "));
}

Conditions::Conditions(Session& session, QObject* parent) : QObject(parent), session_(session) {
  connect(&session_, &Session::placeChanged, this, [this] {
    if (!sql_.isEmpty() && session_.pass() != hitsOf_) look();
  });
  connect(&session_, &Session::opened, this, [this] {
    if (!sql_.isEmpty()) look();
  });
}

void Conditions::setText(const QString& text) {
  if (text == text_) return;
  text_ = text;
  problem_.clear();
  count_ = -1;
  hits_.clear();
  try {
    sql_ = conditionSql(text);
  } catch (const Error& e) {
    sql_.clear();
    problem_ = QString::fromUtf8(e.what());
  }
  Q_EMIT changed();
  if (!sql_.isEmpty()) look();
}

// How many steps fit in the whole trace, and which of this pass.
void Conditions::look() {
  if (!session_.trace() || session_.pass() == 0) return;
  const PassId pass = session_.pass();
  hitsOf_ = pass;
  session_.background().ask(
      Channel::Detail,
      [this, sql = sql_, pass](Background::Job& job) -> Background::Answer {
        const Database& db = job.trace.database();
        Statement all =
            db.prepare(QStringLiteral("SELECT count(*) FROM step WHERE %1").arg(sql).toStdString());
        if (!all.readOnly()) throw Error(ErrorKind::Value, "a condition only reads");
        all.step();
        const int64_t count = all.integer(0);
        QList<int> hits;
        std::vector<StepId> ids;
        for (Statement s = db.prepare(
                 QStringLiteral("SELECT step.id FROM step WHERE step.pass = %1 AND step.id BETWEEN (SELECT "
                                "first_step FROM pass WHERE id = %1) AND (SELECT coalesce(last_step, "
                                "9223372036854775807) FROM pass WHERE id = %1) AND %2 ORDER BY step.id")
                     .arg(pass)
                     .arg(sql)
                     .toStdString());
             s.step();)
          ids.push_back(s.integer(0));
        size_t at = 0;
        for (const StepInfo& s : job.trace.steps(pass))
          if (at < ids.size() && ids[at] == s.id) hits << static_cast<int>(s.k), ++at;
        return [this, count, hits] {
          count_ = count;
          hits_ = hits;
          Q_EMIT changed();
        };
      },
      [this](const QString& what) {
        problem_ = what;
        Q_EMIT changed();
      });
}

void Conditions::run(int direction) {
  if (!session_.trace()) return;
  if (sql_.isEmpty()) {
    session_.showNotice(problem_.isEmpty()
                            ? tr("Type a condition first (Ctrl G): rule:add-zero, op:ADD, node:12 ...")
                            : problem_);
    return;
  }
  if (!past_.contains(text_)) past_.prepend(text_);
  const StepId here =
      session_.step() > 0 ? session_.traceStep() : session_.traceStep() + (direction > 0 ? 0 : 1);
  session_.background().ask(
      Channel::Move,
      [this, sql = sql_, here, direction](Background::Job& job) -> Background::Answer {
        Statement s = job.trace.database().prepare(
            QStringLiteral("SELECT step.id FROM step WHERE step.id %1 %2 AND %3 ORDER BY step.id %4 LIMIT 1")
                .arg(direction > 0 ? QStringLiteral(">") : QStringLiteral("<"))
                .arg(here)
                .arg(sql, direction > 0 ? QStringLiteral("ASC") : QStringLiteral("DESC"))
                .toStdString());
        const StepId found = s.step() ? s.integer(0) : 0;
        return [this, found, direction] {
          if (found == 0)
            session_.showNotice(direction > 0 ? tr("It holds for no later step.")
                                              : tr("It held for no earlier step."));
          else
            session_.goToTraceStep(found);
        };
      },
      [this](const QString& what) {
        problem_ = what;
        Q_EMIT changed();
        session_.showNotice(what);
      });
}

} // namespace uopscope
