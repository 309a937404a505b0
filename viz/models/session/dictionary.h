// The window's texts in another language. A dictionary is a file of lines "text<tab>translation" in
// viz/qml/i18n, embedded with the QML; a missing text stays English. Nothing is compiled from it, so a new
// language needs only a new file.
//
//   Dictionary words;
//   if (words.choose({"de-AT", "en"})) QCoreApplication::installTranslator(&words);
#pragma once
#include <QHash>
#include <QStringList>
#include <QTranslator>

namespace uopscope {

class Dictionary : public QTranslator {
  Q_OBJECT
public:
  using QTranslator::QTranslator;
  /// Takes the first of these languages with a dictionary; false where English comes before it, or none has
  /// one.
  bool choose(const QStringList& languages);
  /// Reads the dictionary of one language ("de"); false where it does not exist.
  bool read(const QString& language);
  const QHash<QString, QString>& texts() const { return texts_; }

  QString translate(const char* context, const char* source, const char* note, int n) const override;
  bool isEmpty() const override { return texts_.isEmpty(); }

private:
  QHash<QString, QString> texts_;
};

} // namespace uopscope
