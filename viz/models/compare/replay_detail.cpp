// Asks the bench on its thread; each kind of question has a channel, in which a newer question replaces an
// older one.
#include "viz/models/compare/replay_detail.h"

#include <algorithm>

namespace uopscope {

void ReplayRows::setPair(std::shared_ptr<const ReplayPair> pair) {
  beginResetModel();
  pair_ = std::move(pair);
  endResetModel();
}

const std::vector<ReplayRow>& ReplayRows::rows() const {
  static const std::vector<ReplayRow> none;
  return pair_ ? pair_->rows : none;
}

int ReplayRows::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows().size());
}

QVariant ReplayRows::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const ReplayRow& r = rows()[static_cast<size_t>(index.row())];
  switch (role) {
  case LeftRole: return r.left;
  case RightRole: return r.right;
  case LeftDetailRole: return r.leftDetail;
  case RightDetailRole: return r.rightDetail;
  case MarkRole: return QString(QLatin1Char(r.mark));
  case PassRole: return r.pass;
  default: return {};
  }
}

QHash<int, QByteArray> ReplayRows::roleNames() const {
  return {{LeftRole, "before"},
          {RightRole, "after"},
          {LeftDetailRole, "beforeDetail"},
          {RightDetailRole, "afterDetail"},
          {MarkRole, "mark"},
          {PassRole, "pass"}};
}

ReplayDetail::ReplayDetail(Jobs& jobs, std::shared_ptr<ReplayBench> bench, QObject* parent)
    : QObject(parent), jobs_(jobs), bench_(std::move(bench)) {
  connect(&jobs_, &Jobs::idleChanged, this, &ReplayDetail::busyChanged);
}

void ReplayDetail::clear() {
  for (const int channel : {Load, Step, Text, Link}) jobs_.cancel(channel);
  pair_.reset();
  rows_.setPair(nullptr);
  lines_.setRows({});
  for (GraphSource* g : {&left_, &right_, &together_}) g->setPicture(nullptr);
  step_.clear();
  summary_.clear();
  problem_.clear();
  row_ = 0;
  Q_EMIT changed();
  Q_EMIT rowChanged();
  Q_EMIT stepChanged();
}

void ReplayDetail::fail(const QString& what) {
  problem_ = what;
  Q_EMIT changed();
}

void ReplayDetail::load(const Change& change) {
  clear();
  jobs_.ask(
      Load,
      [this, bench = bench_, change](Jobs::Job&) -> Jobs::Answer {
        auto pair = bench->load(change);
        return [this, pair] {
          pair_ = pair;
          problem_ = pair->problem;
          rows_.setPair(pair);
          row_ = static_cast<int>(pair->first);
          Q_EMIT changed();
          Q_EMIT rowChanged();
          ask();
        };
      },
      [this](const QString& what) { fail(what); });
}

// Asks for the data of the visible view.
void ReplayDetail::ask() {
  if (!pair_) return;
  askStep();
  if (what_ == QLatin1String("graph"))
    askTogether();
  else if (what_ != QLatin1String("rewrites"))
    askText();
}

void ReplayDetail::askStep() {
  const auto row = static_cast<size_t>(row_);
  const bool drawn = what_ == QLatin1String("rewrites");
  jobs_.ask(
      Step,
      [this, bench = bench_, row, drawn, turned = leftToRight_](Jobs::Job& job) -> Jobs::Answer {
        const ReplayStep s = bench->step(row);
        ReplayPictures pictures;
        if (drawn) pictures = bench->pictures(row, turned, &job.stop);
        return [this, s, drawn, pictures] {
          step_ = {{"leftPlace", s.leftPlace}, {"rightPlace", s.rightPlace}, {"leftHtml", s.leftHtml},
                   {"rightHtml", s.rightHtml}, {"leftStays", s.leftStays},   {"rightStays", s.rightStays}};
          if (drawn) {
            for (auto [source, picture, node] : {std::tuple(&left_, &pictures.left, pictures.leftNode),
                                                 std::tuple(&right_, &pictures.right, pictures.rightNode)}) {
              source->setSelected(node);
              source->setPicture(*picture);
              if (node >= 0) Q_EMIT source->lookAt(node);
            }
          }
          Q_EMIT stepChanged();
        };
      },
      [this](const QString& what) { fail(what); });
}

void ReplayDetail::askTogether() {
  const auto row = static_cast<size_t>(row_);
  jobs_.ask(
      Text,
      [this, bench = bench_, row, where = where_, turned = leftToRight_](Jobs::Job& job) -> Jobs::Answer {
        const PicturePtr picture = bench->together(where, row, turned, &job.stop);
        return [this, picture] {
          summary_ = !picture ? tr("One side has no graph here.")
                     : picture->added + picture->removed + picture->changed == 0
                         ? tr("The graphs are the same.")
                         : tr("nodes: %1 added, %2 removed, %3 changed")
                               .arg(picture->added)
                               .arg(picture->removed)
                               .arg(picture->changed);
          together_.setPicture(picture);
          Q_EMIT changed();
        };
      },
      [this](const QString& what) { fail(what); });
}

void ReplayDetail::askText() {
  jobs_.ask(
      Text,
      [this, bench = bench_, what = what_, ignore = ignoreNames_](Jobs::Job&) -> Jobs::Answer {
        auto rows = std::make_shared<std::vector<TextRow>>(bench->texts(what, ignore));
        int counts[3] = {0, 0, 0};
        for (const TextRow& r : *rows)
          counts[0] += r.mark == '+', counts[1] += r.mark == '-', counts[2] += r.mark == '~';
        const QString summary =
            rows->empty() ? (what == QLatin1String("asm")
                                 ? tr("No assembly was kept: replay with --asm to have it.")
                                 : tr("Neither side has this text; schedules have none, their kernels do."))
            : counts[0] + counts[1] + counts[2] == 0
                ? tr("The texts are the same.")
                : tr("lines: %1 added, %2 removed, %3 changed").arg(counts[0]).arg(counts[1]).arg(counts[2]);
        return [this, rows, summary] {
          summary_ = summary;
          lines_.setRows(std::move(*rows));
          Q_EMIT changed();
        };
      },
      [this](const QString& what) { fail(what); });
}

void ReplayDetail::setWhat(const QString& what) {
  if (what == what_) return;
  what_ = what;
  summary_.clear();
  lines_.setRows({});
  Q_EMIT changed();
  ask();
}

void ReplayDetail::setWhere(const QString& where) {
  if (where == where_) return;
  where_ = where;
  Q_EMIT changed();
  if (pair_) askTogether();
}

void ReplayDetail::setIgnoreNames(bool on) {
  if (on == ignoreNames_) return;
  ignoreNames_ = on;
  Q_EMIT changed();
  ask();
}

void ReplayDetail::setLeftToRight(bool on) {
  if (on == leftToRight_) return;
  leftToRight_ = on;
  Q_EMIT changed();
  ask();
}

void ReplayDetail::setRow(int row) {
  const int last = rows_.rowCount() - 1;
  row = std::clamp(row, 0, std::max(0, last));
  if (row == row_ || last < 0) return;
  row_ = row;
  Q_EMIT rowChanged();
  askStep();
  if (what_ == QLatin1String("graph") && where_ == QLatin1String("row")) askTogether();
}

template <typename Accept>
void ReplayDetail::moveTo(int direction, Accept accept) {
  const auto& rows = rows_.rows();
  for (int r = row_ + direction; r >= 0 && r < static_cast<int>(rows.size()); r += direction)
    if (accept(rows[static_cast<size_t>(r)])) return setRow(r);
}

void ReplayDetail::movePass(int direction) {
  moveTo(direction, [](const ReplayRow& r) { return r.pass; });
}

void ReplayDetail::moveDifferent(int direction) {
  moveTo(direction, [](const ReplayRow& r) { return r.mark != ' '; });
}

void ReplayDetail::toParting() {
  if (pair_) setRow(static_cast<int>(pair_->first));
}

void ReplayDetail::askLink(bool before) {
  jobs_.ask(
      Link,
      [this, bench = bench_, row = static_cast<size_t>(row_), before](Jobs::Job&) -> Jobs::Answer {
        const ReplayLink l = bench->link(row, before);
        return [this, l] { Q_EMIT linkReady(l.trace, l.link); };
      },
      [this](const QString& what) { fail(what); });
}

QVariantList ReplayDetail::facts() const {
  QVariantList out;
  if (!pair_) return out;
  for (const ReplayFact& f : pair_->facts)
    out << QVariantMap{{"name", f.name}, {"before", f.before}, {"after", f.after}, {"differs", f.differs}};
  return out;
}

} // namespace uopscope
