// Lists a folder, and checks a name before it accepts it.
#include "viz/models/session/file_chooser.h"

#include "viz/models/work/reports.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

namespace uopscope {
namespace {

const QString kKept = QStringLiteral("files/folder");
// More files than anybody reads through; a person can still type a name.
constexpr qsizetype kMostEntries = 2000;

} // namespace

FileChooser::FileChooser(Session& session, QObject* parent) : QObject(parent), session_(session) {}

void FileChooser::begin(bool saving, const QStringList& endings, const QString& name) {
  saving_ = saving;
  endings_ = endings;
  name_ = name;
  if (folder_.isEmpty()) folder_ = session_.preferences()->stored(kKept).toString();
  if (!QFileInfo(folder_).isDir()) folder_ = QDir::currentPath();
  goInto(folder_);
}

void FileChooser::goInto(const QString& folder) {
  folder_ = QDir::cleanPath(folder);
  problem_.clear();
  taken_ = false;
  entries_.clear();
  const QDir dir(folder_);
  for (const QFileInfo& f :
       dir.entryInfoList(QDir::AllDirs | QDir::Files | QDir::NoDotAndDotDot, QDir::DirsFirst | QDir::Name)) {
    if (entries_.size() == kMostEntries) break;
    if (!f.isDir() && !endings_.isEmpty() && !endings_.contains(f.suffix(), Qt::CaseInsensitive)) continue;
    entries_ << QVariantMap{
        {"name", f.fileName()},
        {"folder", f.isDir()},
        {"detail", f.isDir() ? QString()
                             : amount(f.size()) + QStringLiteral("  ") +
                                   f.lastModified().toString(QStringLiteral("yyyy-MM-dd HH:mm"))}};
  }
  if (!dir.isReadable()) problem_ = tr("%1 cannot be read: check its permissions.").arg(folder_);
  Q_EMIT changed();
}

void FileChooser::up() {
  goInto(folder_ + QStringLiteral("/.."));
}

bool FileChooser::enter(const QString& entry) {
  const QFileInfo at(QDir(folder_), entry);
  if (at.isDir()) {
    goInto(at.absoluteFilePath());
    return false;
  }
  setName(entry);
  return true;
}

QString FileChooser::ending() const {
  const QString of = QFileInfo(name_).suffix().toLower();
  return endings_.contains(of) ? of : endings_.value(0);
}

// Replaces the extension of the name. An unknown extension belongs to the name ("step-1.2").
void FileChooser::setEnding(const QString& ending) {
  const QString now = QFileInfo(name_).suffix();
  const QString stem = endings_.contains(now, Qt::CaseInsensitive) ? name_.chopped(now.size() + 1) : name_;
  setName(stem + QLatin1Char('.') + ending);
}

void FileChooser::setName(const QString& name) {
  if (name == name_) return;
  name_ = name;
  problem_.clear();
  taken_ = false;
  Q_EMIT changed();
}

QString FileChooser::path() const {
  QString typed = name_.trimmed();
  if (typed.startsWith(QLatin1String("file://"))) typed.remove(0, 7);
  if (typed == QLatin1String("~") || typed.startsWith(QLatin1String("~/")))
    typed.replace(0, 1, QDir::homePath());
  return QDir::cleanPath(QDir(folder_).absoluteFilePath(typed));
}

bool FileChooser::refuse(const QString& why) {
  problem_ = why;
  Q_EMIT changed();
  return false;
}

bool FileChooser::choose() {
  return take(false);
}

bool FileChooser::replace() {
  return take(true);
}

bool FileChooser::take(bool replacing) {
  if (name_.trimmed().isEmpty()) return refuse(tr("Type a name, or click a file."));
  QFileInfo at(path());
  if (at.isDir()) {
    const QString folder = at.absoluteFilePath();
    name_.clear();
    goInto(folder);
    return false;
  }
  if (!saving_) {
    if (!at.exists()) return refuse(tr("There is no file %1.").arg(at.filePath()));
  } else {
    if (!endings_.isEmpty() && !endings_.contains(at.suffix(), Qt::CaseInsensitive))
      at.setFile(at.filePath() + QLatin1Char('.') + endings_.first());
    if (!QFileInfo(at.absolutePath()).isDir())
      return refuse(
          tr("There is no folder %1: make it first, or choose another one.").arg(at.absolutePath()));
    taken_ = at.exists();
    if (taken_ && !replacing)
      return refuse(tr("%1 is there already. Replace it, or type another name.").arg(at.fileName()));
  }
  folder_ = at.absolutePath();
  session_.preferences()->store(kKept, folder_);
  Q_EMIT chosen(at.absoluteFilePath());
  return true;
}

} // namespace uopscope
