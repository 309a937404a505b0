// The view of a graph: a new picture is fitted, or keeps the selection at its place; pan, zoom, and moves to
// a node. graph_canvas_draw.cpp draws it; graph_canvas_input.cpp handles the mouse.
#include "viz/scene/graph_canvas.h"

#include "viz/scene/picture_file.h"

#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

/// A presentation shows small graphs large.
constexpr double kPresented = 2.4, kLarger = 1.6;
constexpr double kReadable = 0.62, kLegible = 0.26;
// Room around a graph that is shown whole.
constexpr double kBorder = 32, kTopBorder = 32, kBottomBorder = 32;

} // namespace

GraphCanvas::GraphCanvas(QQuickItem* parent) : QQuickItem(parent) {
  painters_.setMaxThreadCount(1);
  setFlag(ItemHasContents);
  setActiveFocusOnTab(true);
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
  move_.setDuration(220);
  move_.setStartValue(0.0);
  move_.setEndValue(1.0);
  move_.setEasingCurve(QEasingCurve::InOutCubic);
  connect(&move_, &QVariantAnimation::valueChanged, this, [this] {
    baseDirty_ = true;
    redraw();
  });
  connect(&move_, &QVariantAnimation::finished, this, [this] {
    baseDirty_ = true;
    redraw();
    Q_EMIT settledChanged();
  });
  fade_.setDuration(160);
  fade_.setStartValue(0.0);
  fade_.setEndValue(1.0);
  connect(&fade_, &QVariantAnimation::valueChanged, this, [this] { update(); });
  connect(&fade_, &QVariantAnimation::finished, this, [this] {
    before_ = {};
    newTextures_ = true;
    update();
    Q_EMIT settledChanged();
  });
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
  return !drawing_ && !again_ && !baseDirty_ && !sizeBefore_.isValid() &&
         glide_.state() != QAbstractAnimation::Running && move_.state() != QAbstractAnimation::Running &&
         fade_.state() != QAbstractAnimation::Running;
}

QRectF GraphCanvas::viewRect() const {
  return {toGraph({0, 0}), size() / scale_};
}

void GraphCanvas::onPicture() {
  const PicturePtr before = picture_;
  const double beforeScale = scale_;
  const QPointF beforeOffset = offset_;
  const PictureNode* held = picture_ ? picture_->find(anchor_) : nullptr;
  const QPointF heldAt = held ? QPointF(held->x, held->y) * scale_ + offset_ : QPointF();
  picture_ = source_ ? source_->picture() : nullptr;
  bounds_ = picture_ ? boundsOf(*picture_) : QRectF();
  // Steps that share a small layout share the view too.
  if (picture_ && picture_->alone) bounds_ |= QRectF(0, 0, picture_->width, picture_->height);
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
  const bool relaid = picture_->pass != shownPass_ || picture_->alone != shownAlone_ ||
                      (picture_->alone && picture_->layout != shownLayout_);
  shownAlone_ = picture_->alone;
  shownLayout_ = picture_->layout;
  if (fitted_ && held && selected && relaid && !picture_->alone &&
      boundingRect().adjusted(0, kTopBorder, 0, -kBottomBorder).contains(heldAt)) {
    // The selection stays at its place on the screen.
    shownPass_ = picture_->pass;
    setView(scale_, heldAt - QPointF(selected->x, selected->y) * scale_, false);
    return;
  }
  const bool newPass = relaid || !fitted_;
  shownPass_ = picture_->pass;
  if (newPass) {
    fitted_ = false;
    // A new graph has no view to glide from: its view is taken up at once. The theme keeps its animations meanwhile,
    // since all of the window depends on it.
    const auto atOnce = [this](void (GraphCanvas::*look)()) {
      (this->*look)();
      if (glide_.state() == QAbstractAnimation::Running) setView(toScale_, toOffset_, false);
    };
    atOnce(&GraphCanvas::fit);
    // A whole that cannot be read is entered where something happens, or at its root; the overview shows
    // where.
    if (follow_ && scale_ < kReadable * larger()) atOnce(&GraphCanvas::showChange);
    if (follow_ && scale_ < kLegible) atOnce(&GraphCanvas::showRoot);
    if (before && picture_->alone) moveFrom(*before, beforeScale, beforeOffset);
  } else if (follow_ && picture_->step > 0) {
    const QRectF change = changedRect(*picture_);
    if (!change.isNull() && (scale_ < 0.25 || !viewRect().contains(QRectF(change.center(), QSizeF(1, 1)))))
      showChange();
  }
  redraw();
}

// Nodes of both layouts glide to their new places.
void GraphCanvas::moveFrom(const Picture& before, double scale, QPointF offset) {
  constexpr size_t kMost = 200;
  move_.stop();
  moved_.clear();
  if (!theme_ || !theme_->animated() || picture_->nodes.size() > kMost || before.nodes.size() > kMost) return;
  std::unordered_map<uint32_t, const PictureNode*> bySlot;
  if (before.pass == picture_->pass)
    for (const PictureNode& n : before.nodes)
      if (n.slot != UINT32_MAX && n.mark != Mark::Removed) bySlot.emplace(n.slot, &n);
  for (const PictureNode& n : picture_->nodes) {
    const auto known = bySlot.find(n.slot);
    const PictureNode* was = known != bySlot.end() ? known->second : before.find(n.id);
    if (was) moved_[n.id] = (QPointF(was->x, was->y) * scale + offset - offset_) / scale_;
  }
  if (!moved_.empty()) move_.start();
}

// Edges are straight while their ends move, since lanes belong to the final places.
PicturePtr GraphCanvas::moving() const {
  if (move_.state() != QAbstractAnimation::Running) return picture_;
  const auto t = static_cast<float>(move_.currentValue().toDouble());
  auto now = std::make_shared<Picture>(*picture_);
  for (PictureNode& n : now->nodes)
    if (const auto from = moved_.find(n.id); from != moved_.end()) {
      n.x += (static_cast<float>(from->second.x()) - n.x) * (1 - t);
      n.y += (static_cast<float>(from->second.y()) - n.y) * (1 - t);
    }
  now->curved = false;
  for (PictureEdge& e : now->edges) e.bends = {};
  return now;
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
                             (height() - kTopBorder - kBottomBorder) / bounds_.height(),
                             theme_ && theme_->presenting() ? kPresented : 1.15});
  const double scale = std::clamp(s, kMinScale, kMaxScale);
  setView(scale, middle() - bounds_.center() * scale, true);
}

double GraphCanvas::larger() const {
  return theme_ && theme_->presenting() ? kLarger : 1;
}

// Nothing is gained by emptiness beside a graph that would fill the pane.
QPointF GraphCanvas::inside(double scale, QPointF offset) const {
  auto axis = [scale](double at, double low, double high, double first, double last) {
    low *= scale, high *= scale;
    if (high - low <= last - first) return (first + last) / 2 - (low + high) / 2;
    return std::clamp(at, last - high, first - low);
  };
  return {axis(offset.x(), bounds_.left(), bounds_.right(), kBorder, width() - kBorder),
          axis(offset.y(), bounds_.top(), bounds_.bottom(), kTopBorder, height() - kBottomBorder)};
}

void GraphCanvas::showChange() {
  if (!picture_ || width() < 10) return;
  const QRectF change = changedRect(*picture_);
  if (change.isNull()) return;
  auto scaleOf = [this](const QRectF& r) {
    const QRectF area = r.adjusted(-150, -60, 150, 60);
    return std::min(width() / area.width(), (height() - kTopBorder - kBottomBorder) / area.height());
  };
  const double least = kReadable * larger();
  double all = scaleOf(change);
  QPointF centre = change.center();
  if (all < least) {
    // What does not fit at a size that can be read is entered at the node that the rule was applied to.
    for (const PictureNode& n : picture_->nodes)
      if (!n.was.empty()) centre = {n.x, n.y};
  } else if (const QRectF near = change | besideChange(*picture_); scaleOf(near) >= least) {
    all = scaleOf(near); // with its sources and users, where those are legible too
    centre = near.center();
  }
  const double s = std::clamp(all, least, larger());
  setView(s, inside(s, middle() - centre * s), true);
}

// A picture lists sources first, the root last, then removed nodes.
void GraphCanvas::showRoot() {
  const auto& nodes = picture_->nodes;
  const auto root = std::find_if(nodes.rbegin(), nodes.rend(),
                                 [](const PictureNode& n) { return n.mark != Mark::Removed; });
  if (root == nodes.rend() || width() < 10) return;
  const double s = kReadable * larger();
  setView(s, inside(s, middle() - QPointF(root->x, root->y) * s), true);
}

void GraphCanvas::focusNode(qlonglong id) {
  const PictureNode* n = picture_ ? picture_->find(id) : nullptr;
  if (!n || width() < 10) return;
  const double s = std::max(scale_, kReadable * 1.3 * larger());
  setView(s, inside(s, middle() - QPointF(n->x, n->y) * s), true);
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

void GraphCanvas::geometryChange(const QRectF& now, const QRectF& before) {
  QQuickItem::geometryChange(now, before);
  if (now.size() == before.size()) return;
  // Answered before it is drawn: bindings that set the size must not hear of what follows from it.
  if (!sizeBefore_.isValid()) sizeBefore_ = before.size();
  redraw();
}

void GraphCanvas::resized(const QSizeF& before) {
  if (!fitted_ || shownAlone_) { // a small picture fits its pane; one that still does stays where it is
    if (picture_ && !viewRect().contains(QRectF(0, 0, picture_->width, picture_->height))) fitted_ = false;
    return onPicture();
  }
  offset_ += QPointF(width() - before.width(), height() - before.height()) / 2; // the centre stays
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

} // namespace uopscope
