// Quotes fields of CSV where needed, and writes a file whole or not at all.
#include "viz/models/work/table_text.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QSaveFile>

namespace uopscope {
namespace {

QString field(const QVariant& value) {
  QString text = value.toString();
  if (text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) || text.contains(QLatin1Char('\n')))
    text = QLatin1Char('"') + text.replace(QLatin1Char('"'), QLatin1String("\"\"")) + QLatin1Char('"');
  return text;
}

} // namespace

QString toCsv(const QStringList& columns, const QList<QVariantList>& rows) {
  QStringList lines;
  QStringList head;
  for (const QString& c : columns) head << field(c);
  lines << head.join(QLatin1Char(','));
  for (const QVariantList& row : rows) {
    QStringList cells;
    for (const QVariant& v : row) cells << field(v);
    lines << cells.join(QLatin1Char(','));
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

QString toJson(const QStringList& columns, const QList<QVariantList>& rows) {
  QJsonArray out;
  for (const QVariantList& row : rows) {
    QJsonObject o;
    for (qsizetype i = 0; i < columns.size() && i < row.size(); ++i)
      o[columns[i]] = QJsonValue::fromVariant(row[i]);
    out << o;
  }
  return QString::fromUtf8(QJsonDocument(out).toJson());
}

QString writeTable(const QString& path, const QStringList& columns, const QList<QVariantList>& rows) {
  const bool json = path.endsWith(QLatin1String(".json"));
  if (!json && !path.endsWith(QLatin1String(".csv")))
    return QObject::tr("%1: the name must end in .csv or .json").arg(path);
  return writeText(path, json ? toJson(columns, rows) : toCsv(columns, rows));
}

QString writeText(const QString& path, const QString& text) {
  QSaveFile out(path);
  if (!out.open(QIODevice::WriteOnly) || out.write(text.toUtf8()) < 0 || !out.commit())
    return QObject::tr("%1 cannot be written: %2").arg(path, out.errorString());
  return {};
}

} // namespace uopscope
