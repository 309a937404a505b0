// Films as MP4: ffmpeg writes them and reads them back; without it a message names the package.
#include "tests/viz/support.h"
#include "viz/scene/mp4_file.h"

#include <QFile>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QImage plain(Qt::GlobalColor colour, QSize size) {
  QImage image(size, QImage::Format_RGB32);
  image.fill(colour);
  return image;
}

} // namespace

TEST_CASE("mp4: without ffmpeg, without frames and without a folder the message says so") {
  const QTemporaryDir folder;
  const QString path = folder.filePath("film.mp4");
  const std::vector<FilmFrame> frames{{plain(Qt::red, {64, 48}), 500}};
  CHECK(saveMp4(path, frames, "no-such-encoder").contains("apt-get install ffmpeg"));
  CHECK(saveMp4(path, {}).contains("no frame"));
  CHECK_FALSE(QFile::exists(path));
  if (QStandardPaths::findExecutable("ffmpeg").isEmpty()) return;
  CHECK(saveMp4(folder.filePath("nowhere/film.mp4"), frames).contains("folder exists"));
}

TEST_CASE("mp4: frames of odd and unequal sizes become a film of their whole time") {
  if (QStandardPaths::findExecutable("ffprobe").isEmpty()) return;
  const QTemporaryDir folder;
  const QString path = folder.filePath("film.mp4");
  CHECK(saveMp4(path, {{plain(Qt::red, {65, 47}), 500}, {plain(Qt::blue, {80, 60}), 1000}}).isEmpty());
  QProcess probe;
  probe.start("ffprobe", {"-v", "error", "-select_streams", "v", "-show_entries",
                          "stream=width,height,duration", "-of", "csv=p=0", path});
  REQUIRE(probe.waitForFinished(30000));
  const QList<QByteArray> fields = probe.readAllStandardOutput().trimmed().split(',');
  REQUIRE(fields.size() == 3);
  CHECK(fields[0] == "64");
  CHECK(fields[1] == "46");
  CHECK(fields[2].toDouble() == doctest::Approx(1.5).epsilon(0.15));
}
