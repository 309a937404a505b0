// Reads a .tsv file into a hash table from English texts to translations.
#include "viz/models/session/dictionary.h"

#include <QFile>

namespace uopscope {
namespace {

QString unescaped(QString text) {
  return text.replace(QLatin1String("\\n"), QLatin1String("\n"))
      .replace(QLatin1String("\\\""), QLatin1String("\""));
}

} // namespace

bool Dictionary::choose(const QStringList& languages) {
  for (const QString& language : languages) {
    const QString name = language.section(QLatin1Char('-'), 0, 0).section(QLatin1Char('_'), 0, 0).toLower();
    if (name == QLatin1String("en") || name == QLatin1String("c")) return false;
    if (read(name)) return true;
  }
  return false;
}

bool Dictionary::read(const QString& language) {
  texts_.clear();
  QFile file(QStringLiteral(":/qt/qml/uopscope/i18n/%1.tsv").arg(language));
  if (!file.open(QIODevice::ReadOnly)) return false;
  for (const QString& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
    const qsizetype tab = line.indexOf(QLatin1Char('\t'));
    if (tab > 0 && !line.startsWith(QLatin1Char('#')))
      texts_.insert(unescaped(line.left(tab)), unescaped(line.mid(tab + 1)));
  }
  return !texts_.isEmpty();
}

// A text has one meaning in the whole program, so contexts are ignored.
QString Dictionary::translate(const char*, const char* source, const char*, int) const {
  return texts_.value(QString::fromUtf8(source));
}

} // namespace uopscope
