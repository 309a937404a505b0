// Writes tables as text for other programs: comma-separated values and JSON, from any item model or from
// rows.
//
//   QString csv = toCsv({"rule", "time"}, {{"add-zero", 12}});
#pragma once
#include <QString>
#include <QStringList>
#include <QVariantList>

namespace uopscope {

QString toCsv(const QStringList& columns, const QList<QVariantList>& rows);
/// An array with one object per row.
QString toJson(const QStringList& columns, const QList<QVariantList>& rows);
/// Writes a text file. Returns an error text, empty on success.
QString writeText(const QString& path, const QString& text);
QString writeTable(const QString& path, const QStringList& columns, const QList<QVariantList>& rows);

} // namespace uopscope
