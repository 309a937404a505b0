// The frame covers more than the view (kMargin on each side), so small pans show what is already drawn; a new
// frame is drawn when the view leaves it or the scale changes. While a worker draws, the last frame stands in
// for the next one.
#include "viz/scene/graph_canvas.h"

#include "viz/scene/picture_file.h"

#include <QCursor>
#include <QHoverEvent>
#include <QMouseEvent>
#include <QQuickWindow>
#include <QSGImageNode>
#include <QSGRectangleNode>
#include <QThreadPool>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr double kMinScale = 0.01, kMaxScale = 4, kReadable = 0.62, kMargin = 0.25;
// Room around a graph that is shown whole.
constexpr double kBorder = 32, kTopBorder = 32, kBottomBorder = 32;
// Nodes and edges that are drawn on the spot: about 4 ms of QPainter.
constexpr size_t kCheapItems = 500;

} // namespace

GraphCanvas::GraphCanvas(QQuickItem* parent)
    : QQuickItem(parent), alive_(std::make_shared<std::atomic<int>>(1)) {
  setFlag(ItemHasContents);
  setAcceptedMouseButtons(Qt::LeftButton | Qt::MiddleButton | Qt::RightButton);
  setAcceptHoverEvents(true);
  setClip(true);
  glide_.setDuration(170);
  glide_.setStartValue(0.0);
  glide_.setEndValue(1.0);
  glide_.setEasingCurve(QEasingCurve::OutCubic);
  connect(&glide_, &QVariantAnimation::valueChanged, this, [this](const QVariant& v) {
    const double t = v.toDouble();
    scale_ = fromScale_ * std::pow(toScale_ / fromScale_, t);
    // The offset follows the scale so that the target point moves in a straight line on the screen.
    const double s =
        std::abs(toScale_ - fromScale_) < 1e-9 ? t : (scale_ - fromScale_) / (toScale_ - fromScale_);
    offset_ = fromOffset_ + (toOffset_ - fromOffset_) * s;
    Q_EMIT viewChanged();
    redraw();
  });
}

GraphCanvas::~GraphCanvas() {
  alive_->store(0);
}

void GraphCanvas::setSource(GraphSource* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  if (source_) {
    connect(source_, &GraphSource::pictureChanged, this, &GraphCanvas::onPicture);
    auto emphasise = [this] {
      overlayDirty_ = true;
      redraw();
    };
    connect(source_, &GraphSource::selectedChanged, this, [this, emphasise] {
      if (picture_ && picture_->find(source_->selected())) anchor_ = source_->selected();
      emphasise();
    });
    connect(source_, &GraphSource::foundChanged, this, emphasise);
    connect(source_, &GraphSource::notesChanged, this, emphasise);
    connect(source_, &GraphSource::tintingChanged, this, [this] {
      baseDirty_ = true;
      redraw();
    });
    connect(source_, &GraphSource::lookAt, this, &GraphCanvas::focusNode);
  }
  Q_EMIT sourceChanged();
  onPicture();
}

void GraphCanvas::setTheme(Theme* theme) {
  if (theme == theme_) return;
  if (theme_) theme_->disconnect(this);
  theme_ = theme;
  if (theme_)
    connect(theme_, &Theme::changed, this, [this] {
      baseDirty_ = overlayDirty_ = true;
      redraw();
    });
  Q_EMIT themeChanged();
  baseDirty_ = true;
  redraw();
}

void GraphCanvas::setFollow(bool on) {
  if (on == follow_) return;
  follow_ = on;
  Q_EMIT followChanged();
}

bool GraphCanvas::settled() const {
  return !drawing_ && !again_ && !baseDirty_ && glide_.state() != QAbstractAnimation::Running;
}

QRectF GraphCanvas::viewRect() const {
  return {toGraph({0, 0}), size() / scale_};
}

void GraphCanvas::onPicture() {
  const PictureNode* held = picture_ ? picture_->find(anchor_) : nullptr;
  const QPointF heldAt = held ? QPointF(held->x, held->y) * scale_ + offset_ : QPointF();
  picture_ = source_ ? source_->picture() : nullptr;
  bounds_ = picture_ ? boundsOf(*picture_) : QRectF();
  baseDirty_ = overlayDirty_ = true;
  hovered_ = -1;
  Q_EMIT boundsChanged();
  Q_EMIT hoveredChanged();
  if (!picture_) {
    redraw();
    return;
  }
  const PictureNode* selected = source_ ? picture_->find(source_->selected()) : nullptr;
  anchor_ = selected ? selected->id : -1;
  if (fitted_ && held && selected && picture_->pass != shownPass_ &&
      boundingRect().adjusted(0, kTopBorder, 0, -kBottomBorder).contains(heldAt)) {
    // The selection stays where one looks at it.
    shownPass_ = picture_->pass;
    setView(scale_, heldAt - QPointF(selected->x, selected->y) * scale_, false);
    return;
  }
  const bool newPass = picture_->pass != shownPass_ || !fitted_;
  shownPass_ = picture_->pass;
  if (newPass) {
    fitted_ = false;
    const bool animated = theme_ && theme_->animated();
    if (theme_) theme_->setAnimated(false); // another graph: there is nothing to glide from
    fit();
    if (follow_ && picture_->step > 0 && scale_ < kReadable) showChange();
    if (theme_) theme_->setAnimated(animated);
  } else if (follow_ && picture_->step > 0) {
    const QRectF change = changedRect(*picture_);
    if (!change.isNull() && (scale_ < 0.25 || !viewRect().contains(QRectF(change.center(), QSizeF(1, 1)))))
      showChange();
  }
  redraw();
}

void GraphCanvas::setView(double scale, QPointF offset, bool animate) {
  scale = std::clamp(scale, kMinScale, kMaxScale);
  glide_.stop();
  if (animate && theme_ && theme_->animated()) {
    fromScale_ = scale_, fromOffset_ = offset_, toScale_ = scale, toOffset_ = offset;
    glide_.start();
    return;
  }
  scale_ = scale;
  offset_ = offset;
  Q_EMIT viewChanged();
  redraw();
}

QPointF GraphCanvas::middle() const {
  return {width() / 2, kTopBorder + (height() - kTopBorder - kBottomBorder) / 2};
}

void GraphCanvas::fit() {
  if (width() < 10 || height() < 10 || bounds_.isNull()) return;
  fitted_ = true;
  const double s = std::min({(width() - 2 * kBorder) / bounds_.width(),
                             (height() - kTopBorder - kBottomBorder) / bounds_.height(), 1.15});
  const double scale = std::clamp(s, kMinScale, kMaxScale);
  setView(scale, middle() - bounds_.center() * scale, true);
}

void GraphCanvas::showChange() {
  if (!picture_ || width() < 10) return;
  const QRectF change = changedRect(*picture_);
  if (change.isNull()) return;
  const QRectF area = change.adjusted(-150, -60, 150, 60);
  const double all =
      std::min(width() / area.width(), (height() - kTopBorder - kBottomBorder) / area.height());
  const double s = std::clamp(all, kReadable, 1.0);
  // What does not fit at a size that can be read is entered at the node that the rule was applied to.
  QPointF centre = change.center();
  if (all < kReadable)
    for (const PictureNode& n : picture_->nodes)
      if (!n.was.empty()) centre = {n.x, n.y};
  setView(s, middle() - centre * s, true);
}

void GraphCanvas::focusNode(qlonglong id) {
  const PictureNode* n = picture_ ? picture_->find(id) : nullptr;
  if (!n || width() < 10) return;
  const double s = std::max(scale_, kReadable * 1.3);
  setView(s, middle() - QPointF(n->x, n->y) * s, true);
}

void GraphCanvas::zoomBy(qreal factor) {
  const QPointF centre(width() / 2, height() / 2);
  const double s = std::clamp(scale_ * factor, kMinScale, kMaxScale);
  setView(s, centre - (centre - offset_) * (s / scale_), true);
}

void GraphCanvas::resetZoom() {
  zoomBy(1 / scale_);
}

void GraphCanvas::panBy(qreal dx, qreal dy) {
  setView(scale_, offset_ + QPointF(dx, dy), false);
}

void GraphCanvas::lookAtPoint(qreal x, qreal y) {
  setView(scale_, QPointF(width() / 2, height() / 2) - QPointF(x, y) * scale_, false);
}

QRectF GraphCanvas::nodeOnScreen(qlonglong id) const {
  const PictureNode* n = picture_ ? picture_->find(id) : nullptr;
  return n ? toScreen(nodeRect(*n)) : QRectF();
}

qlonglong GraphCanvas::neighbour(qlonglong id, const QString& where) const {
  if (!picture_) return -1;
  const auto it = picture_->byId.find(id);
  if (it == picture_->byId.end()) return -1;
  const PictureNode& here = picture_->nodes[it->second];
  if (where == QLatin1String("source") || where == QLatin1String("user")) {
    const bool source = where == QLatin1String("source");
    for (const PictureEdge& e : picture_->edges)
      if ((source ? e.to : e.from) == it->second) return picture_->nodes[source ? e.from : e.to].id;
    return -1;
  }
  const bool lr = picture_->leftToRight;
  const double sign = where == QLatin1String("left") ? -1 : 1;
  const PictureNode* best = nullptr;
  double bestAway = 0;
  for (const PictureNode& n : picture_->nodes) {
    if (std::abs(lr ? n.x - here.x : n.y - here.y) > 1) continue;
    const double away = sign * (lr ? n.y - here.y : n.x - here.x);
    if (away > 0 && (!best || away < bestAway)) best = &n, bestAway = away;
  }
  return best ? best->id : -1;
}

QString GraphCanvas::exportTo(const QString& path) const {
  if (!picture_ || !theme_ || !source_) return tr("There is no graph to export.");
  return savePicture(*picture_, theme_->colours(), source_->tinting(), path);
}

void GraphCanvas::redraw() {
  polish();
  update();
}

bool GraphCanvas::cheap(const QRectF& area) const {
  if (!picture_) return true;
  if (picture_->nodes.size() + picture_->edges.size() <= kCheapItems) return true;
  if (scale_ < 0.25) return false;
  size_t visible = 0;
  for (const PictureNode& n : picture_->nodes)
    if (area.intersects(nodeRect(n)) && ++visible > kCheapItems / 4) return false;
  return picture_->edges.size() < kCheapItems * 8;
}

GraphCanvas::Frame GraphCanvas::draw(const Picture& picture, const Palette& palette,
                                     const TintingPtr& tinting, const QRectF& area, double scale,
                                     double dpr) {
  Frame f;
  f.area = area;
  f.scale = scale;
  f.image = QImage((area.size() * scale * dpr).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
  f.image.fill(palette.canvas);
  QPainter painter(&f.image);
  painter.scale(scale * dpr, scale * dpr);
  painter.translate(-area.topLeft());
  paintPicture(painter, picture, {palette, area, scale * dpr, tinting});
  return f;
}

void GraphCanvas::drawBase() {
  const QRectF view = viewRect();
  const bool covered = base_.area.contains(view) && qFuzzyCompare(base_.scale, scale_);
  if (!baseDirty_ && covered) return;
  if (!picture_ || !theme_ || width() < 1 || height() < 1) {
    base_ = {};
    baseDirty_ = false;
    newTextures_ = true;
    Q_EMIT settledChanged();
    return;
  }
  const double dpr = window() ? window()->effectiveDevicePixelRatio() : 1;
  const QRectF area = view.adjusted(-view.width() * kMargin, -view.height() * kMargin, view.width() * kMargin,
                                    view.height() * kMargin);
  if (cheap(area)) {
    base_ = draw(*picture_, theme_->colours(), source_->tinting(), area, scale_, dpr);
    baseDirty_ = false;
    newTextures_ = true;
    Q_EMIT settledChanged();
    return;
  }
  if (drawing_) {
    again_ = true;
    return;
  }
  drawing_ = true;
  again_ = false;
  baseDirty_ = false;
  Q_EMIT settledChanged();
  QThreadPool::globalInstance()->start([this, alive = alive_, picture = picture_, palette = theme_->colours(),
                                        tinting = source_->tinting(), area, scale = scale_, dpr] {
    auto frame = std::make_shared<Frame>(draw(*picture, palette, tinting, area, scale, dpr));
    QMetaObject::invokeMethod(qApp, [this, alive, frame, picture, tinting] {
      if (!alive->load()) return;
      drawing_ = false;
      base_ = std::move(*frame);
      if (picture != picture_ || (source_ && tinting != source_->tinting())) baseDirty_ = true;
      newTextures_ = true;
      again_ = false;
      redraw();
      Q_EMIT settledChanged();
    });
  });
}

void GraphCanvas::drawOverlay() {
  overlayDirty_ = false;
  newTextures_ = true;
  overlay_ = {};
  if (!picture_ || !theme_ || !source_) return;
  Emphasis em{hovered_, source_->selected(), source_->found(), source_->currentFound(), source_->notes()};
  if ((em.hovered < 0 && em.selected < 0 && em.found.empty() && em.notes.empty()) || width() < 1 ||
      height() < 1)
    return;
  const double dpr = window() ? window()->effectiveDevicePixelRatio() : 1;
  overlay_.area = viewRect();
  overlay_.scale = scale_;
  overlay_.image = QImage((size() * dpr).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
  overlay_.image.fill(Qt::transparent);
  QPainter painter(&overlay_.image);
  painter.scale(scale_ * dpr, scale_ * dpr);
  painter.translate(-overlay_.area.topLeft());
  paintEmphasis(painter, *picture_, em, {theme_->colours(), overlay_.area, scale_, nullptr});
}

void GraphCanvas::updatePolish() {
  drawBase();
  if (overlayDirty_ || overlay_.area != viewRect()) drawOverlay();
  update();
}

QSGNode* GraphCanvas::updatePaintNode(QSGNode* old, UpdatePaintNodeData*) {
  // On the render thread, with the GUI thread waiting: members may be read, but drawing and signals belong to
  // updatePolish.
  // A transform node, though it moves nothing: the software renderer places what is added later only below
  // one.
  struct Root : QSGTransformNode {
    QSGRectangleNode* back = nullptr;
    QSGImageNode *base = nullptr, *overlay = nullptr;
  };
  auto* root = static_cast<Root*>(old);
  if (!root) {
    root = new Root; // owned by the scene graph
    root->back = window()->createRectangleNode();
    root->appendChildNode(root->back);
    newTextures_ = true;
  }
  root->back->setRect(boundingRect());
  root->back->setColor(theme_ ? theme_->canvas() : QColor(Qt::black));
  auto show = [&](QSGImageNode*& node, const Frame& frame) {
    if (frame.image.isNull()) {
      if (node) {
        root->removeChildNode(node);
        delete node;
        node = nullptr;
      }
      return;
    }
    const bool fresh = !node;
    if (fresh) {
      node = window()->createImageNode();
      node->setOwnsTexture(true);
    }
    if (fresh || newTextures_) {
      node->setTexture(window()->createTextureFromImage(frame.image));
    }
    if (fresh) root->appendChildNode(node);
    node->setFiltering(QSGTexture::Linear);
    QRectF r = toScreen(frame.area);
    if (qFuzzyCompare(frame.scale, scale_))
      r.moveTopLeft(QPointF(std::round(r.x()), std::round(r.y()))); // crisp
    node->setRect(r);
  };
  show(root->base, base_);
  if (root->overlay && !overlay_.image.isNull() && root->overlay->nextSibling()) {
    root->removeChildNode(root->overlay);
    root->appendChildNode(root->overlay);
  }
  show(root->overlay, overlay_);
  newTextures_ = false;
  return root;
}

void GraphCanvas::geometryChange(const QRectF& now, const QRectF& before) {
  QQuickItem::geometryChange(now, before);
  if (now.size() == before.size()) return;
  if (!fitted_) {
    onPicture();
    return;
  }
  offset_ += QPointF(now.width() - before.width(), now.height() - before.height()) / 2; // the centre stays
  Q_EMIT viewChanged();
  redraw();
}

void GraphCanvas::itemChange(ItemChange change, const ItemChangeData& data) {
  if (change == ItemDevicePixelRatioHasChanged) {
    baseDirty_ = overlayDirty_ = true;
    redraw();
  }
  QQuickItem::itemChange(change, data);
}

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
  pressedAt_ = lastAt_ = event->position();
  dragging_ = false;
  moving_ = -1;
  if (event->modifiers() & Qt::ShiftModifier && picture_)
    if (const int i = nodeAt(*picture_, toGraph(pressedAt_), 2 / scale_); i >= 0)
      moving_ = picture_->nodes[static_cast<size_t>(i)].id;
  glide_.stop();
  forceActiveFocus(Qt::MouseFocusReason);
  event->accept();
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!dragging_ && (event->position() - pressedAt_).manhattanLength() < 5) return;
  dragging_ = true;
  setCursor(Qt::ClosedHandCursor);
  if (moving_ >= 0) return;
  setView(scale_, offset_ + event->position() - lastAt_, false);
  lastAt_ = event->position();
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
  unsetCursor();
  if (dragging_ && moving_ >= 0) {
    const QPointF to = toGraph(event->position());
    Q_EMIT nodeMoved(moving_, to.x(), to.y());
    moving_ = -1;
    return;
  }
  if (dragging_ || !picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 2 / scale_);
  if (i >= 0)
    Q_EMIT nodeClicked(picture_->nodes[static_cast<size_t>(i)].id);
  else
    Q_EMIT backgroundClicked();
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 2 / scale_);
  if (i >= 0) {
    const int64_t id = picture_->nodes[static_cast<size_t>(i)].id;
    focusNode(id);
    Q_EMIT nodeDoubleClicked(id);
  } else {
    fit();
  }
}

void GraphCanvas::setHovered(qlonglong id) {
  if (id == hovered_) return;
  hovered_ = id;
  overlayDirty_ = true;
  Q_EMIT hoveredChanged();
  redraw();
}

void GraphCanvas::hoverMoveEvent(QHoverEvent* event) {
  if (!picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 1 / scale_);
  setHovered(i >= 0 ? picture_->nodes[static_cast<size_t>(i)].id : -1);
}

void GraphCanvas::hoverLeaveEvent(QHoverEvent*) {
  setHovered(-1);
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
  glide_.stop();
  if (event->modifiers() & Qt::ShiftModifier) {
    panBy(event->angleDelta().y() / 2.0, 0);
  } else {
    const double s = std::clamp(scale_ * std::pow(1.0016, event->angleDelta().y()), kMinScale, kMaxScale);
    setView(s, event->position() - (event->position() - offset_) * (s / scale_), false);
  }
  event->accept();
}

} // namespace uopscope
