// Films are read back by Qt's reader of GIF and compared pixel by pixel.
#include "tests/viz/support.h"
#include "viz/scene/gif_file.h"
#include "viz/scene/slides_file.h"

#include <QBuffer>
#include <QFile>
#include <QImageReader>
#include <QRandomGenerator>

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::vector<QImage> readBack(QByteArray bytes) {
  QBuffer buffer(&bytes);
  REQUIRE(buffer.open(QIODevice::ReadOnly));
  QImageReader reader(&buffer, "gif");
  std::vector<QImage> out;
  for (QImage image = reader.read(); !image.isNull(); image = reader.read())
    out.push_back(image.convertToFormat(QImage::Format_RGB32));
  return out;
}

/// Noise of `colours` colours, which fills the table of codes several times.
QImage noise(quint32 seed, int colours) {
  QRandomGenerator random(seed);
  QImage image(203, 117, QImage::Format_RGB32);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      const int c = random.bounded(colours);
      image.setPixel(x, y, qRgb(c * 7 % 256, c * 29 % 256, c * 53 % 256));
    }
  return image;
}

} // namespace

TEST_CASE("gif: frames come back as they were, the unchanged parts too") {
  application();
  if (!QImageReader::supportedImageFormats().contains("gif")) return;
  for (const int colours : {1, 2, 200}) {
    CAPTURE(colours);
    QImage second = noise(1, colours), fourth = noise(2, colours);
    second.setPixel(17, 40, qRgb(0, 0, 0));
    GifFilm film(QString(), 100);
    const std::vector<QImage> frames{noise(1, colours), second, second, fourth};
    for (const QImage& f : frames) film.add(f);
    film.hold(500);
    const std::vector<QImage> back = readBack(film.bytes());
    REQUIRE(back.size() == frames.size());
    for (size_t i = 0; i < back.size(); ++i)
      CHECK(back[i] == frames[i].convertToFormat(QImage::Format_RGB32));
  }
}

TEST_CASE("gif: more colours than there is room for are near the true ones; nothing to write is told") {
  application();
  GifFilm none(QStringLiteral("/tmp/none.gif"), 100);
  CHECK(none.bytes().isEmpty());
  CHECK(none.save().contains("no frame"));
  if (!QImageReader::supportedImageFormats().contains("gif")) return;
  QImage slope(256, 64, QImage::Format_RGB32);
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 256; ++x) slope.setPixel(x, y, qRgb(x, 4 * y, 128));
  GifFilm film(QString(), 100);
  film.add(slope);
  const std::vector<QImage> back = readBack(film.bytes());
  REQUIRE(back.size() == 1);
  double off = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 256; ++x)
      off += std::abs(qRed(back[0].pixel(x, y)) - x) + std::abs(qGreen(back[0].pixel(x, y)) - 4 * y);
  CHECK(off / (2 * 64 * 256) < 16);
}

TEST_CASE("slides: notes are text, whatever they contain, and every picture is in the file") {
  application();
  QTemporaryDir folder;
  const QString path = folder.filePath("talk.html");
  REQUIRE(
      saveSlides(path, "a <b>",
                 {{noise(1, 3), "<script>alert(1)</script>", "r_4 › p, step 1"}, {noise(2, 3), {}, "r_4"}})
          .isEmpty());
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadOnly));
  const QByteArray page = file.readAll();
  CHECK(page.contains("&lt;script&gt;alert"));
  CHECK(page.count("<section>") == 2);
  CHECK(page.count("data:image/png;base64,") == 2);
  CHECK(page.count("<script>") == 1);
  CHECK(!saveSlides("/no/such/folder/talk.html", "t", {}).isEmpty());
}
