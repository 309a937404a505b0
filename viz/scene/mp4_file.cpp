// Writes the frames as PNG into a temporary folder with a list of their times, which ffmpeg's concat reads.
#include "viz/scene/mp4_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

namespace uopscope {
namespace {

constexpr int kPatienceMs = 120'000;
constexpr double kMsPerSecond = 1000;

QString tr(const char* text) {
  return QCoreApplication::translate("Mp4File", text);
}

} // namespace

QString saveMp4(const QString& path, const std::vector<FilmFrame>& frames, const QString& program) {
  if (frames.empty()) return tr("%1: there is no frame to write").arg(path);
  const QString found = QStandardPaths::findExecutable(program);
  if (found.isEmpty())
    return tr("%1: an MP4 is made by the program %2, which is not there: sudo apt-get install ffmpeg, or "
              "write a .gif")
        .arg(path, program);
  const QTemporaryDir folder;
  QFile list(folder.filePath(QStringLiteral("list.txt")));
  if (!folder.isValid() || !list.open(QIODevice::WriteOnly))
    return tr("%1: the frames cannot be written to the temporary folder").arg(path);
  // The picture format of MP4 takes even sizes only.
  const QSize size(frames[0].image.width() & ~1, frames[0].image.height() & ~1);
  QByteArray lines = "ffconcat version 1.0\n";
  for (size_t k = 0; k < frames.size(); ++k) {
    const QString name = QStringLiteral("%1.png").arg(k);
    const QImage& image = frames[k].image;
    const bool fits = image.width() - size.width() <= 1 && image.height() - size.height() <= 1 &&
                      image.width() >= size.width() && image.height() >= size.height();
    const QImage even = fits ? image.copy(QRect(QPoint(), size))
                             : image.scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
    if (!even.save(folder.filePath(name)))
      return tr("%1: the frames cannot be written to the temporary folder").arg(path);
    lines += "file " + name.toUtf8() + "\nduration " + QByteArray::number(frames[k].ms / kMsPerSecond) + "\n";
  }
  lines += "file " + QByteArray::number(frames.size() - 1) +
           ".png\n"; // concat drops the time of the last one otherwise
  list.write(lines);
  list.close();
  const QString made = folder.filePath(QStringLiteral("film.mp4"));
  QProcess encoder;
  encoder.setProcessChannelMode(QProcess::MergedChannels);
  encoder.start(found, {QStringLiteral("-y"), QStringLiteral("-loglevel"), QStringLiteral("error"),
                        QStringLiteral("-f"), QStringLiteral("concat"), QStringLiteral("-i"), list.fileName(),
                        QStringLiteral("-vf"), QStringLiteral("fps=10,format=yuv420p"),
                        QStringLiteral("-movflags"), QStringLiteral("+faststart"), made});
  if (!encoder.waitForFinished(kPatienceMs)) {
    encoder.kill();
    encoder.waitForFinished(1000);
    return tr("%1: %2 did not end within %3 s").arg(path, program).arg(kPatienceMs / 1000);
  }
  if (encoder.exitStatus() != QProcess::NormalExit || encoder.exitCode() != 0)
    return tr("%1: %2 says: %3").arg(path, program, QString::fromUtf8(encoder.readAll()).trimmed().left(400));
  QFile::remove(path);
  if (!QFile::copy(made, path)) return tr("%1 cannot be written: check that its folder exists").arg(path);
  return {};
}

} // namespace uopscope
