#include "viz/scene/node_numbers.h"

#include <QFontMetricsF>

namespace uopscope {
namespace {

constexpr qsizetype kMost = 26; // characters
constexpr double kHeight = 15, kOver = 8, kOut = 10, kPad = 4, kRound = 4;
/// Below this scale a number cannot be read; the picture leaves out texts there too.
constexpr double kLeastScale = 0.26;

} // namespace

void paintNumbers(QPainter& painter, const Picture& picture, const std::map<int64_t, CanvasNumber>& numbers,
                  const PaintOptions& options) {
  if (numbers.empty() || options.scale < kLeastScale) return;
  const Palette& p = options.palette;
  QFont font(p.mono);
  font.setPixelSize(qRound(metrics::kSmall));
  font.setBold(true);
  const QFontMetricsF measure(font);
  painter.setRenderHint(QPainter::Antialiasing, true);
  painter.setFont(font);
  for (const PictureNode& n : picture.nodes) {
    const auto it = numbers.find(n.id);
    if (it == numbers.end()) continue;
    const QRectF box = nodeRect(n);
    if (!options.view.intersects(box.adjusted(0, -kHeight, kOut, 0))) continue;
    const bool wrong = it->second.wrong;
    QString text = it->second.text;
    if (text.size() > kMost) text = text.left(kMost - 1) + QChar(0x2026);
    if (wrong) text.prepend(QStringLiteral("\u2717 ")); // colour alone never carries information
    const QColor colour = wrong ? p.error : p.accent;
    const double width = measure.horizontalAdvance(text) + 2 * kPad;
    const QRectF tab(box.right() + kOut - width, box.top() - kOver, width, kHeight);
    painter.setPen(QPen(colour, wrong ? 1.8 : 1));
    painter.setBrush(mixed(p.canvas, colour, wrong ? 0.3F : 0.14F));
    painter.drawRoundedRect(tab, kRound, kRound);
    painter.setPen(p.text);
    painter.drawText(tab, Qt::AlignCenter, text);
  }
}

} // namespace uopscope
