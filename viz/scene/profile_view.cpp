// Boxes are laid out when the model or the size changes; painting and hovering use them.
#include "viz/scene/profile_view.h"

#include "viz/scene/picture_file.h"

#include <QGuiApplication>
#include <QHoverEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleHints>
#include <algorithm>
#include <functional>
#include <utility>

namespace uopscope {
namespace {

constexpr double kProfileRow = 23, kLeastPixels = 1.5;
constexpr int kMapDepth = 5;

int depthOf(const Profile& profile, uint32_t root) {
  int depth = 0;
  std::vector<uint32_t> row{root};
  for (; !row.empty(); ++depth) {
    std::vector<uint32_t> next;
    for (const uint32_t n : row)
      next.insert(next.end(), profile.nodes[n].children.begin(), profile.nodes[n].children.end());
    row = std::move(next);
  }
  return depth;
}

} // namespace

ProfileView::ProfileView(QQuickItem* parent) : QQuickPaintedItem(parent) {
  setActiveFocusOnTab(true);
  setAcceptHoverEvents(true);
  setAcceptedMouseButtons(Qt::LeftButton);
}

void ProfileView::setModel(ProfileModel* model) {
  if (model == model_) return;
  if (model_) model_->disconnect(this);
  model_ = model;
  if (model_) {
    connect(model_, &ProfileModel::changed, this, &ProfileView::arrange);
    connect(model_, &ProfileModel::rootChanged, this, &ProfileView::arrange);
  }
  arrange();
}
void ProfileView::setTheme(Theme* theme) {
  theme_ = theme;
  if (theme_) connect(theme_, &Theme::changed, this, [this] { arrange(); });
  Q_EMIT changed();
}
void ProfileView::setMode(const QString& mode) {
  if (mode == mode_) return;
  mode_ = mode;
  arrange();
}
void ProfileView::setHighlight(const QString& text) {
  highlight_ = text;
  Q_EMIT changed();
  update();
}

void ProfileView::arrange() {
  boxes_.clear();
  leftOut_ = 0;
  hovered_ = -1;
  if (model_ && model_->profile() && width() > 10 && height() > 10) {
    const Profile& p = *model_->profile();
    const auto root = static_cast<uint32_t>(model_->root());
    const double row = theme_ ? kProfileRow * theme_->textScale() : kProfileRow;
    const auto least = static_cast<float>(kLeastPixels / width());
    // Few rows are high: then there is room for times.
    const int most = std::max(1, static_cast<int>(height() / row));
    const int fewest = std::max(1, static_cast<int>(height() / (2 * row)));
    boxes_ = mode_ == QLatin1String("flame")
                 ? flame(p, root, std::clamp(depthOf(p, root), fewest, most), least)
                 : treemap(p, root, kMapDepth, static_cast<float>(width() / height()), least * 3);
    std::function<int(uint32_t)> size = [&](uint32_t n) {
      int sum = 1;
      for (const uint32_t c : p.nodes[n].children) sum += size(c);
      return sum;
    };
    leftOut_ = size(root) - static_cast<int>(boxes_.size());
  }
  Q_EMIT changed();
  Q_EMIT hoveredChanged();
  update();
}

void ProfileView::paint(QPainter* painter) {
  if (!theme_ || !model_ || !model_->profile()) return;
  const Palette& p = theme_->colours();
  painter->setRenderHint(QPainter::Antialiasing, false);
  QFont font(p.sans);
  font.setPixelSize(theme_->small());
  painter->setFont(font);
  const QFontMetricsF fm(font);
  for (const ProfileBox& b : boxes_) {
    const ProfileNode& n = model_->profile()->nodes[b.node];
    const QRectF r(b.x * width(), b.y * height(), b.width * width(), b.height * height());
    const QString name = QString::fromStdString(n.name);
    const bool found = !highlight_.isEmpty() && name.contains(highlight_, Qt::CaseInsensitive);
    QColor colour = p.tint[tintOf(n.kind)];
    colour.setAlphaF(found                                  ? 0.95f
                     : !highlight_.isEmpty()                ? 0.12f
                     : static_cast<int>(b.node) == hovered_ ? 0.6f
                                                            : 0.45f);
    painter->fillRect(r.adjusted(0, 0, -1, -1), p.canvas);
    painter->fillRect(r.adjusted(0, 0, -1, -1), colour);
    if (found || static_cast<int>(b.node) == hovered_) {
      painter->setPen(QPen(p.text, 1.4));
      painter->drawRect(r.adjusted(0, 0, -1.5, -1.5));
    }
    if (r.width() < 34 || r.height() < fm.height()) continue;
    painter->setPen(p.text);
    const bool flame = mode_ == QLatin1String("flame"), timed = flame && r.height() > 2 * fm.height() + 2;
    const QRectF text(r.left() + 5, r.top() + 1, r.width() - 8,
                      timed   ? r.height() / 2
                      : flame ? r.height() - 2
                              : fm.height() + 2);
    painter->drawText(text, (timed ? Qt::AlignBottom : Qt::AlignVCenter) | Qt::AlignLeft,
                      fm.elidedText(name, Qt::ElideRight, text.width()));
    if (!timed) continue;
    painter->setPen(mixed(p.text, p.canvas, 0.25));
    painter->drawText(text.translated(0, r.height() / 2), Qt::AlignTop | Qt::AlignLeft,
                      fm.elidedText(duration(n.ns), Qt::ElideRight, text.width()));
  }
}

QString ProfileView::exportTo(const QString& path) {
  if (!theme_ || !model_ || !model_->profile()) return tr("There is no profile to export yet.");
  return savePainted(path, size(), theme_->colours().canvas, [this](QPainter& p) { paint(&p); });
}

int ProfileView::boxAt(qreal x, qreal y) const {
  int found = -1;
  for (const ProfileBox& b : boxes_)
    if (QRectF(b.x * width(), b.y * height(), b.width * width(), b.height * height()).contains(x, y))
      found = static_cast<int>(b.node);
  return found;
}

QPointF ProfileView::middleOf(int node) const {
  for (const ProfileBox& b : boxes_)
    if (static_cast<int>(b.node) == node)
      return {(b.x + b.width / 2) * width(), (b.y + std::min(b.height / 2, 0.01f)) * height()};
  return {-1, -1};
}

void ProfileView::geometryChange(const QRectF& now, const QRectF& before) {
  QQuickPaintedItem::geometryChange(now, before);
  if (now.size() != before.size()) arrange();
}
void ProfileView::hoverMoveEvent(QHoverEvent* event) {
  const int now = boxAt(event->position().x(), event->position().y());
  if (now == hovered_) return;
  hovered_ = now;
  Q_EMIT hoveredChanged();
  update();
}
void ProfileView::hoverLeaveEvent(QHoverEvent*) {
  hovered_ = -1;
  Q_EMIT hoveredChanged();
  update();
}
void ProfileView::mousePressEvent(QMouseEvent* event) {
  event->accept();
  forceActiveFocus(Qt::MouseFocusReason);
  // The first click zooms, so the second click of a double click would hit a different box.
  const auto before = std::exchange(pressedWhen_, event->timestamp());
  const auto interval = static_cast<quint64>(QGuiApplication::styleHints()->mouseDoubleClickInterval());
  if (before && event->timestamp() - *before < interval) return;
  pressed_ = boxAt(event->position().x(), event->position().y());
  if (pressed_ >= 0 && model_) model_->setRoot(pressed_);
}
void ProfileView::mouseDoubleClickEvent(QMouseEvent*) {
  if (pressed_ >= 0) Q_EMIT opened(pressed_);
}

} // namespace uopscope
