// SVG is written as text from the picture's own geometry; PNG is painted by picture_painter.h.
#include "viz/scene/picture_file.h"

#include <QBuffer>
#include <QImage>
#include <QObject>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTextStream>
#include <algorithm>

namespace uopscope {
namespace {

// Longest side of a PNG; a larger graph gets a lower scale.
constexpr double kMostPixels = 12'000, kPageMargin = 24;

QString escapedText(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString pathData(const QPainterPath& path) {
  QString out;
  for (int i = 0; i < path.elementCount(); ++i) {
    const QPainterPath::Element e = path.elementAt(i);
    const char* command = e.type == QPainterPath::MoveToElement    ? "M"
                          : e.type == QPainterPath::LineToElement  ? "L"
                          : e.type == QPainterPath::CurveToElement ? "C"
                                                                   : "";
    out += QStringLiteral("%1%2 %3 ").arg(QLatin1String(command)).arg(e.x, 0, 'f', 1).arg(e.y, 0, 'f', 1);
  }
  return out.trimmed();
}

} // namespace

QByteArray pictureToSvg(const Picture& picture, const Palette& p, const TintingPtr& tinting) {
  const QRectF area = boundsOf(picture).adjusted(-kPageMargin, -kPageMargin, kPageMargin, kPageMargin);
  QByteArray bytes;
  QTextStream out(&bytes);
  out << QStringLiteral("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"%1 %2 %3 %4\" width=\"%3\" "
                        "height=\"%4\">\n")
             .arg(area.x(), 0, 'f', 0)
             .arg(area.y(), 0, 'f', 0)
             .arg(area.width(), 0, 'f', 0)
             .arg(area.height(), 0, 'f', 0);
  out << QStringLiteral("<rect x=\"%1\" y=\"%2\" width=\"%3\" height=\"%4\" fill=\"%5\"/>\n")
             .arg(area.x())
             .arg(area.y())
             .arg(area.width())
             .arg(area.height())
             .arg(p.canvas.name());
  auto colourOf = [&](Mark mark, const QColor& otherwise) {
    return mark == Mark::Added     ? p.added
           : mark == Mark::Removed ? p.removed
           : mark == Mark::Changed ? p.changed
                                   : otherwise;
  };
  for (const PictureEdge& e : picture.edges) {
    if (e.quiet) continue;
    out << QStringLiteral("<path d=\"%1\" fill=\"none\" stroke=\"%2\" stroke-width=\"%3\"%4/>\n")
               .arg(pathData(edgePath(picture, e)), colourOf(e.mark, p.edge).name())
               .arg(e.mark == Mark::Same ? 1.3 : 2)
               .arg(e.mark == Mark::Removed ? QStringLiteral(" stroke-dasharray=\"5 4\"") : QString());
  }
  for (size_t i = 0; i < picture.nodes.size(); ++i) {
    const PictureNode& n = picture.nodes[i];
    const QRectF r = nodeRect(n);
    QColor tone = p.family[static_cast<size_t>(n.family)];
    if (tinting && i < tinting->of.size() && tinting->of[i] < tinting->legend.size()) {
      const auto c = static_cast<size_t>(tinting->legend[tinting->of[i]].colour);
      tone = tinting->ordered ? p.heat[c % p.heat.size()] : p.tint[c % p.tint.size()];
    }
    const QString frame = colourOf(n.mark, tone).name();
    out << QStringLiteral("<g><rect x=\"%1\" y=\"%2\" width=\"%3\" height=\"%4\" rx=\"6\" fill=\"%5\" "
                          "stroke=\"%6\" stroke-width=\"%7\"%8/>")
               .arg(r.x(), 0, 'f', 1)
               .arg(r.y(), 0, 'f', 1)
               .arg(r.width(), 0, 'f', 1)
               .arg(r.height(), 0, 'f', 1)
               .arg(p.raised.name(), frame)
               .arg(n.mark == Mark::Same ? 1 : 2)
               .arg(n.mark == Mark::Removed ? QStringLiteral(" stroke-dasharray=\"5 4\"") : QString());
    out << QStringLiteral("<rect x=\"%1\" y=\"%2\" width=\"3\" height=\"%3\" fill=\"%4\"/>")
               .arg(r.x() + 4, 0, 'f', 1)
               .arg(r.y() + 6, 0, 'f', 1)
               .arg(r.height() - 12, 0, 'f', 1)
               .arg(tone.name());
    auto text = [&](double x, double y, const QString& what, const QColor& colour, const char* style) {
      out << QStringLiteral("<text x=\"%1\" y=\"%2\" fill=\"%3\" %4>%5</text>")
                 .arg(x, 0, 'f', 1)
                 .arg(y, 0, 'f', 1)
                 .arg(colour.name(), QLatin1String(style), what);
    };
    const QString sign = n.mark == Mark::Added     ? QStringLiteral("+ ")
                         : n.mark == Mark::Removed ? QStringLiteral("\u2212 ")
                         : n.mark == Mark::Changed ? QStringLiteral("~ ")
                                                   : QString();
    double y = r.y() + metrics::kTop + 14;
    if (!n.was.empty()) {
      text(r.x() + metrics::kPadding + 3, y, QString(QChar(0x2212)) + QLatin1Char(' ') + escapedText(n.was),
           p.removed, "font-family=\"monospace\" font-size=\"11\" text-decoration=\"line-through\"");
      y += metrics::kWasLine;
    }
    text(r.x() + metrics::kPadding + 3, y, sign + escapedText(n.op), p.text,
         "font-family=\"sans-serif\" font-weight=\"bold\" font-size=\"13\"");
    if (n.dtypeBelow)
      text(r.x() + metrics::kPadding + 3, y += metrics::kSmallLine, escapedText(n.dtype), p.textMuted,
           "font-family=\"monospace\" font-size=\"11\"");
    else
      text(r.right() - metrics::kPadding, y, escapedText(n.dtype), p.textMuted,
           "font-family=\"monospace\" font-size=\"11\" text-anchor=\"end\"");
    if (!n.detail.empty())
      text(r.x() + metrics::kPadding + 3, y += metrics::kSmallLine + 1, escapedText(n.detail), p.textMuted,
           "font-family=\"monospace\" font-size=\"11\"");
    std::string folded;
    for (const FoldedSource& f : n.folded) folded += (folded.empty() ? "" : "  ") + f.ports() + " " + f.text;
    if (!folded.empty())
      text(r.x() + metrics::kPadding + 3, y + metrics::kSmallLine + 1, escapedText(folded), p.textFaint,
           "font-family=\"monospace\" font-size=\"11\"");
    out << "</g>\n";
  }
  out << "</svg>\n";
  out.flush();
  return bytes;
}

namespace {

QString writeBytes(const QString& path, const QByteArray& bytes) {
  QSaveFile file(path);
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) return {};
  return QObject::tr("%1 cannot be written: %2").arg(path, file.errorString());
}

QString writeImage(const QString& path, const QSizeF& size, double scale, const QColor& background,
                   const std::function<void(QPainter&)>& paint) {
  if (!path.endsWith(QLatin1String(".png")))
    return QObject::tr("%1: the name must end in .svg or .png").arg(path);
  QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  image.fill(background);
  QPainter painter(&image);
  painter.scale(scale, scale);
  paint(painter);
  painter.end();
  return image.save(path) ? QString()
                          : QObject::tr("%1 cannot be written: check that its folder exists").arg(path);
}

} // namespace

QString savePicture(const Picture& picture, const Palette& palette, const TintingPtr& tinting,
                    const QString& path) {
  if (picture.nodes.empty()) return QObject::tr("There is no graph to export.");
  if (path.endsWith(QLatin1String(".svg"))) return writeBytes(path, pictureToSvg(picture, palette, tinting));
  const QRectF area = boundsOf(picture).adjusted(-kPageMargin, -kPageMargin, kPageMargin, kPageMargin);
  const double scale = std::min(2.0, kMostPixels / std::max(area.width(), area.height()));
  return writeImage(path, area.size(), scale, palette.canvas, [&](QPainter& painter) {
    painter.translate(-area.topLeft());
    paintPicture(painter, picture, {palette, area, scale, tinting});
  });
}

QString savePainted(const QString& path, const QSizeF& size, const QColor& background,
                    const std::function<void(QPainter&)>& paint) {
  if (!path.endsWith(QLatin1String(".svg"))) return writeImage(path, size, 2, background, paint);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setSize(size.toSize());
  svg.setViewBox(QRectF({0, 0}, size));
  QPainter painter(&svg);
  painter.fillRect(QRectF({0, 0}, size), background);
  paint(painter);
  painter.end();
  return writeBytes(path, bytes);
}

} // namespace uopscope
