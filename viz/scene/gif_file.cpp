// GIF89a: a global table of colours, then for each frame its delay, its rectangle and its pixels by LZW with codes
// of 9 to 12 bits. Numbers are little-endian.
#include "viz/scene/gif_file.h"

#include <QObject>
#include <QSaveFile>
#include <algorithm>
#include <functional>
#include <unordered_map>

namespace uopscope {

namespace {

constexpr int kColours = 256;

void putShort(QByteArray& out, int n) {
  out.append(static_cast<char>(n & 255)).append(static_cast<char>(n >> 8 & 255));
}

/// The colours of a film, and the nearest of them to any other.
class FilmPalette {
public:
  void count(const QImage& image) {
    for (int y = 0; y < image.height(); ++y) {
      const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
      for (int x = 0; x < image.width(); ++x) ++counts_[line[x] & 0xffffff];
    }
  }
  void choose() {
    std::vector<std::pair<uint64_t, QRgb>> byCount;
    for (const auto& [colour, n] : counts_) byCount.emplace_back(n, colour);
    std::ranges::sort(byCount, std::greater());
    // The most frequent colours, and none that can hardly be told from a chosen one: the distance between them
    // grows until every colour of the film has a near one.
    int apart = byCount.size() > kColours ? 40 : 1;
    while (!chooseApart(byCount, apart)) apart *= 2;
    near_.clear();
  }
  uint8_t of(QRgb colour) {
    colour &= 0xffffff;
    const auto [at, fresh] = near_.try_emplace(colour, 0);
    if (fresh) at->second = static_cast<uint8_t>(nearest(colour));
    return at->second;
  }
  QByteArray table() const {
    QByteArray out;
    for (int i = 0; i < kColours; ++i) {
      const QRgb c = static_cast<size_t>(i) < colours_.size() ? colours_[static_cast<size_t>(i)] : 0;
      out.append(static_cast<char>(qRed(c)))
          .append(static_cast<char>(qGreen(c)))
          .append(static_cast<char>(qBlue(c)));
    }
    return out;
  }

private:
  bool chooseApart(const std::vector<std::pair<uint64_t, QRgb>>& byCount, int apart) {
    colours_.clear();
    for (const auto& [n, colour] : byCount) {
      if (!colours_.empty() && distance(colour, colours_[nearest(colour)]) < apart) continue;
      if (colours_.size() == kColours) return false;
      colours_.push_back(colour);
    }
    return true;
  }
  static int distance(QRgb a, QRgb b) {
    const int r = qRed(a) - qRed(b), g = qGreen(a) - qGreen(b), u = qBlue(a) - qBlue(b);
    return 2 * r * r + 4 * g * g + 3 * u * u;
  }
  size_t nearest(QRgb colour) const {
    const auto best = std::ranges::min_element(colours_, {}, [&](QRgb c) { return distance(c, colour); });
    return static_cast<size_t>(best - colours_.begin());
  }
  std::unordered_map<QRgb, uint64_t> counts_;
  std::unordered_map<QRgb, uint8_t> near_;
  std::vector<QRgb> colours_;
};

/// Codes of rising width, in blocks of at most 255 bytes.
class CodeWriter {
public:
  explicit CodeWriter(QByteArray& out) : out_(out) {}
  void put(int code, int width) {
    bits_ |= static_cast<uint32_t>(code) << count_;
    for (count_ += width; count_ >= 8; count_ -= 8, bits_ >>= 8) byte(static_cast<char>(bits_ & 255));
  }
  void finish() {
    if (count_ > 0) byte(static_cast<char>(bits_ & 255));
    flush();
    out_.append('\0');
  }

private:
  void byte(char b) {
    block_.append(b);
    if (block_.size() == 255) flush();
  }
  void flush() {
    if (block_.isEmpty()) return;
    out_.append(static_cast<char>(block_.size())).append(block_);
    block_.clear();
  }
  QByteArray& out_;
  QByteArray block_;
  uint32_t bits_ = 0;
  int count_ = 0;
};

void putPixels(QByteArray& out, const std::vector<uint8_t>& pixels) {
  constexpr int kBits = 8, kClear = 1 << kBits, kEnd = kClear + 1, kMostCodes = 4096;
  out.append(static_cast<char>(kBits));
  CodeWriter codes(out);
  std::unordered_map<uint32_t, int> known;
  int next = kEnd + 1, width = kBits + 1;
  codes.put(kClear, width);
  int prefix = pixels.front();
  for (size_t i = 1; i < pixels.size(); ++i) {
    const uint32_t key = static_cast<uint32_t>(prefix) << 8 | pixels[i];
    if (const auto at = known.find(key); at != known.end()) {
      prefix = at->second;
      continue;
    }
    codes.put(prefix, width);
    known.emplace(key, next);
    if (next++ == 1 << width) ++width;
    if (next == kMostCodes) {
      codes.put(kClear, width);
      known.clear();
      next = kEnd + 1, width = kBits + 1;
    }
    prefix = pixels[i];
  }
  codes.put(prefix, width);
  if (next == 1 << width && width < 12) ++width; // the reader has one entry more by now
  codes.put(kEnd, width);
  codes.finish();
}

/// The smallest rectangle that holds every difference; empty for equal pictures.
QRect changed(const QImage& before, const QImage& after) {
  int left = after.width(), right = -1, top = after.height(), bottom = -1;
  for (int y = 0; y < after.height(); ++y) {
    const auto* a = reinterpret_cast<const QRgb*>(before.constScanLine(y));
    const auto* b = reinterpret_cast<const QRgb*>(after.constScanLine(y));
    for (int x = 0; x < after.width(); ++x)
      if ((a[x] ^ b[x]) & 0xffffff)
        left = std::min(left, x), right = std::max(right, x), top = std::min(top, y),
        bottom = std::max(bottom, y);
  }
  return {QPoint(left, top), QPoint(right, bottom)};
}

} // namespace

void GifFilm::add(const QImage& frame) {
  QImage image = frame.convertToFormat(QImage::Format_RGB32);
  image.setDevicePixelRatio(1);
  if (!frames_.empty() && image.size() != frames_.front().image.size())
    image = image.scaled(frames_.front().image.size(), Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
  frames_.push_back({image, ms_});
}

void GifFilm::hold(int ms) {
  if (!frames_.empty()) frames_.back().ms += ms;
}

QByteArray GifFilm::bytes() const {
  if (frames_.empty()) return {};
  FilmPalette palette;
  for (const Frame& f : frames_) palette.count(f.image);
  palette.choose();
  const QSize size = frames_.front().image.size();
  QByteArray out("GIF89a");
  putShort(out, size.width());
  putShort(out, size.height());
  out.append('\xf7').append('\0').append('\0').append(palette.table());
  out.append(QByteArray::fromHex("21ff0b"))
      .append("NETSCAPE2.0")
      .append(QByteArray::fromHex("0301000000")); // for ever
  for (size_t i = 0; i < frames_.size(); ++i) {
    const QImage& image = frames_[i].image;
    QRect part = i == 0 ? image.rect() : changed(frames_[i - 1].image, image);
    if (part.isEmpty()) part = QRect(0, 0, 1, 1); // nothing moved: time passes all the same
    std::vector<uint8_t> pixels;
    pixels.reserve(static_cast<size_t>(part.width()) * static_cast<size_t>(part.height()));
    for (int y = part.top(); y <= part.bottom(); ++y) {
      const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
      for (int x = part.left(); x <= part.right(); ++x) pixels.push_back(palette.of(line[x]));
    }
    out.append(QByteArray::fromHex("21f90404"));
    putShort(out, std::min(frames_[i].ms / 10, 65535));
    out.append('\0').append('\0').append('\x2c');
    for (const int n : {part.left(), part.top(), part.width(), part.height()}) putShort(out, n);
    out.append('\0');
    putPixels(out, pixels);
  }
  return out.append('\x3b');
}

QString GifFilm::save() const {
  QSaveFile file(path_);
  const QByteArray all = bytes();
  if (all.isEmpty()) return QObject::tr("%1: there is no frame to write").arg(path_);
  if (!file.open(QIODevice::WriteOnly) || file.write(all) != all.size() || !file.commit())
    return QObject::tr("%1 cannot be written: %2").arg(path_, file.errorString());
  return {};
}

} // namespace uopscope
