// A background thread lays spans out in lanes and stacks buffers; the model keeps the visible interval and
// the selection.
#include "viz/models/numbers/timeline.h"

#include "viz/models/work/reports.h"
#include "viz/models/work/table_text.h"

#include <algorithm>

namespace uopscope {
namespace {

// Lanes of one kind: a span goes to the first free lane, so work of several threads appears side by side.
class LaneGroup {
public:
  LaneGroup(TimelineData& data, const QString& name) : data_(data), name_(name.toStdString()) {}
  void add(TimelineSpan span, size_t atLeast = 0) {
    size_t lane = atLeast;
    while (lane < ends_.size() && ends_[lane] > span.begin) ++lane;
    while (lane >= ends_.size()) {
      ends_.push_back(INT64_MIN);
      ids_.push_back(UINT32_MAX);
    }
    if (ids_[lane] == UINT32_MAX) {
      ids_[lane] = static_cast<uint32_t>(data_.lanes.size());
      data_.lanes.push_back(lane == 0 ? name_ : std::string());
    }
    ends_[lane] = span.end;
    span.lane = ids_[lane];
    data_.spans.push_back(std::move(span));
  }

  const std::vector<uint32_t>& ids() const { return ids_; }

private:
  TimelineData& data_;
  std::string name_;
  std::vector<int64_t> ends_;
  std::vector<uint32_t> ids_;
};

// Whether a name comes before another one, digits compared as numbers: "slot 9" before "slot 10".
bool comesBefore(std::string_view a, std::string_view b) {
  constexpr std::string_view kDigits = "0123456789";
  auto numberOf = [&](std::string_view& text) { // and cuts it off
    const size_t end = std::min(text.find_first_not_of(kDigits), text.size());
    std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return std::pair(digits.size(), digits);
  };
  while (!a.empty() && !b.empty()) {
    if (kDigits.find(a[0]) != std::string_view::npos && kDigits.find(b[0]) != std::string_view::npos) {
      const auto first = numberOf(a), second = numberOf(b);
      if (first != second) return first < second;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1), b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

// Lanes of one kind lie below each other. The parts of a device follow it by their numbers ("AMD", "AMD SE 0, SIMD 2"), and
// devices come in the order of their first work.
void sortLanes(TimelineData& d, const std::vector<const LaneGroup*>& fixed,
               const std::map<std::string, LaneGroup>& devices) {
  std::map<std::string, uint32_t> firstOf; // device -> its first lane, or that of one of its parts
  auto deviceOf = [](const std::string& name) { return name.substr(0, name.find_first_of(" ,")); };
  for (const auto& [name, lanes] : devices)
    for (const uint32_t id : lanes.ids()) {
      uint32_t& first = firstOf.try_emplace(deviceOf(name), id).first->second;
      first = std::min(first, id);
    }
  std::vector<std::pair<std::string, const LaneGroup*>> byName;
  for (const auto& [name, lanes] : devices) byName.emplace_back(name, &lanes);
  std::stable_sort(byName.begin(), byName.end(), [&](const auto& a, const auto& b) {
    const uint32_t first = firstOf[deviceOf(a.first)], second = firstOf[deviceOf(b.first)];
    return first != second ? first < second : comesBefore(a.first, b.first);
  });
  std::vector<const LaneGroup*> kinds = fixed;
  for (const auto& [name, lanes] : byName) kinds.push_back(lanes);
  std::vector<uint32_t> placeOf(d.lanes.size());
  std::vector<std::string> names;
  for (const LaneGroup* kind : kinds)
    for (const uint32_t id : kind->ids()) {
      if (id == UINT32_MAX) continue;
      placeOf[id] = static_cast<uint32_t>(names.size());
      names.push_back(d.lanes[id]);
    }
  d.lanes = std::move(names);
  for (TimelineSpan& s : d.spans) s.lane = placeOf[s.lane];
}

} // namespace

TimelinePtr buildTimeline(Trace& trace) {
  auto data = std::make_shared<TimelineData>();
  TimelineData& d = *data;
  int64_t low = INT64_MAX, high = 0;
  auto seen = [&](int64_t begin, int64_t end) { low = std::min(low, begin), high = std::max(high, end); };
  LaneGroup scopes(d, QObject::tr("schedules, kernels")), passes(d, QObject::tr("passes")),
      phases(d, QObject::tr("parts of kernels"));
  std::vector<TimelineSpan> passSpans, phaseSpans;
  for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes())) {
    const int64_t end = s.endNs.value_or(s.beginNs);
    seen(s.beginNs, end);
    if (s.kind != ScopeKind::Script)
      scopes.add({0,
                  s.beginNs,
                  end,
                  s.name,
                  s.kind == ScopeKind::Kernel ? "kernel" : "schedule",
                  s.id,
                  0,
                  s.script.known() ? "line " + std::to_string(s.script.line) : "",
                  {}});
    for (const PhaseInfo& p : trace.phases(s.id))
      phaseSpans.push_back({0, p.beginNs, p.beginNs + p.ns, p.name, "phase", s.id, 0, {}, {}});
    for (const PassInfo& p : trace.passes(s.id))
      passSpans.push_back({0,
                           p.beginNs,
                           p.endNs.value_or(p.beginNs),
                           p.name,
                           "pass",
                           s.id,
                           p.id,
                           std::to_string(p.steps) + " steps",
                           {}});
  }
  auto byBegin = [](const TimelineSpan& a, const TimelineSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  std::stable_sort(passSpans.begin(), passSpans.end(), byBegin);
  std::stable_sort(phaseSpans.begin(), phaseSpans.end(), byBegin);
  for (auto& s : passSpans) seen(s.begin, s.end), passes.add(std::move(s));
  for (auto& s : phaseSpans) seen(s.begin, s.end), phases.add(std::move(s));
  std::map<std::string, LaneGroup> devices;
  std::map<int64_t, int64_t> baseOf;
  for (const BufferInfo& b : trace.buffers()) baseOf[b.id] = b.base ? b.base : b.id;
  for (const LaunchInfo& l : trace.launches()) {
    const auto it =
        devices.try_emplace(l.device, d, QObject::tr("runs on %1").arg(QString::fromStdString(l.device)))
            .first;
    TimelineSpan span{
        0, l.beginNs, l.beginNs + l.ns, l.kernel, "launch", l.compiled ? l.compiled : l.scope, 0, {}, {}};
    for (const int64_t b : l.buffers) span.buffers.push_back(baseOf.contains(b) ? baseOf[b] : b);
    if (l.ns > 0 && (l.flops > 0 || l.bytes > 0))
      span.detail = QObject::tr("%1 GFLOP/s, %2 GB/s")
                        .arg(l.gflops(), 0, 'f', 2)
                        .arg(l.gbPerSecond(), 0, 'f', 2)
                        .toStdString();
    seen(span.begin, span.end);
    it->second.add(std::move(span));
  }
  sortLanes(d, {&scopes, &passes, &phases}, devices);
  // Memory: views own none. Buffers are stacked where they fit, oldest at the bottom.
  std::map<int64_t, int64_t> changes;
  for (const BufferInfo& b : trace.buffers()) {
    if (b.base || b.bytes <= 0) continue;
    const int64_t end = std::max(b.endNs.value_or(high), b.beginNs);
    d.buffers.push_back({b.beginNs, end, b.bytes, 0, b.id, b.device});
    changes[b.beginNs] += b.bytes;
    changes[end] -= b.bytes;
    seen(b.beginNs, end);
  }
  int64_t now = 0;
  for (const auto& [at, bytes] : changes) {
    now += bytes;
    d.memory.push_back({at, now});
    d.peak = std::max(d.peak, now);
  }
  std::stable_sort(d.buffers.begin(), d.buffers.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  std::map<int64_t, int64_t> taken; // offset -> end of the buffer there
  std::vector<TimelineData::Buffer*> alive;
  for (auto& b : d.buffers) {
    std::erase_if(alive, [&](auto* o) { return o->end <= b.begin; });
    std::sort(alive.begin(), alive.end(), [](auto* x, auto* y) { return x->offset < y->offset; });
    int64_t at = 0;
    for (const auto* o : alive) {
      if (o->offset - at >= b.bytes) break;
      at = std::max(at, o->offset + o->bytes);
    }
    b.offset = at;
    alive.push_back(&b);
    d.peak = std::max(d.peak, at + b.bytes);
  }
  d.begin = low == INT64_MAX ? 0 : low;
  d.end = std::max(high, d.begin + 1);
  d.first = d.end;
  for (const TimelineSpan& s : d.spans) d.first = std::min(d.first, s.begin);
  return data;
}

TimelineModel::TimelineModel(Session& session, QObject* parent) : QObject(parent), session_(session) {
  auto forget = [this] {
    data_ = nullptr;
    totals_.clear();
    selection_.clear();
    buffers_.clear();
    selectedFrom_ = selectedTo_ = 0;
    Q_EMIT changed();
    Q_EMIT selectionChanged();
    if (session_.tab() == QLatin1String("timeline")) load();
  };
  connect(&session_, &Session::opened, this, forget);
  connect(&session_, &Session::grown, this, forget);
  connect(&session_, &Session::placeChanged, this, [this] {
    if (!data_ && session_.tab() == QLatin1String("timeline")) load();
    // In a trace of times alone there is no other way to look at a kernel.
    if (data_ && session_.trace() && session_.trace()->facts().lastPass == 0 && session_.scope() != scope_)
      showScope();
  });
}

void TimelineModel::load() {
  if (data_ || !session_.trace() || session_.jobs().busy(Channel::Timeline)) return;
  session_.jobs().ask(Channel::Timeline, [this](Jobs::Job& job) -> Jobs::Answer {
    const TimelinePtr d = buildTimeline(job.trace());
    return [this, d] {
      data_ = d;
      scope_ = session_.scope();
      showWork();
      Q_EMIT changed();
    };
  });
}

void TimelineModel::show(double from, double to) {
  if (!data_) return;
  const auto low = static_cast<double>(data_->begin), high = static_cast<double>(data_->end);
  const double wide = std::clamp(to - from, 100.0, high - low);
  from_ = std::clamp(from, low, high - wide);
  to_ = from_ + wide;
  Q_EMIT viewChanged();
}

void TimelineModel::showAll() {
  if (data_) show(static_cast<double>(data_->begin), static_cast<double>(data_->end));
}

// Skips the import of libraries, which may take far longer than the interesting part.
void TimelineModel::showWork() {
  if (!data_ || data_->spans.empty()) return showAll();
  const auto first = static_cast<double>(data_->first), end = static_cast<double>(data_->end);
  show(first - (end - first) * 0.02, end);
}

void TimelineModel::showScope() {
  scope_ = session_.scope();
  if (!data_) return;
  int64_t from = INT64_MAX, to = INT64_MIN;
  for (const TimelineSpan& s : data_->spans)
    if (s.scope == scope_ && s.pass == 0) from = std::min(from, s.begin), to = std::max(to, s.end);
  if (from > to) return showWork();
  const double margin = static_cast<double>(to - from) * 0.02;
  show(static_cast<double>(from) - margin, static_cast<double>(to) + margin);
}

void TimelineModel::zoomBy(double factor) {
  const double middle = (from_ + to_) / 2, half = (to_ - from_) / 2 * factor;
  show(middle - half, middle + half);
}

void TimelineModel::moveBy(double share) {
  const double by = (to_ - from_) * share;
  show(from_ + by, to_ + by);
}

void TimelineModel::select(double from, double to) {
  if (!data_) return;
  selectedFrom_ = std::min(from, to), selectedTo_ = std::max(from, to);
  buffers_.clear();
  std::map<std::string, Sum> sums;
  for (const TimelineSpan& s : data_->spans) {
    const int64_t a = std::max(s.begin, static_cast<int64_t>(selectedFrom_)),
                  b = std::min(s.end, static_cast<int64_t>(selectedTo_));
    if (b <= a) continue;
    Sum& sum = sums[s.kind + "  " + s.name];
    ++sum.count;
    sum.ns += b - a;
  }
  selection_ = selectedTo_ > selectedFrom_
                   ? tr("%1 selected").arg(duration(static_cast<int64_t>(selectedTo_ - selectedFrom_)))
                   : QString();
  setTotals(sums);
}

void TimelineModel::setTotals(const std::map<std::string, Sum>& sums) {
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second.ns > b.second.ns; });
  totals_.clear();
  for (const auto& [name, sum] : order)
    totals_ << QVariantMap{{"name", QString::fromStdString(name)},
                           {"count", static_cast<qlonglong>(sum.count)},
                           {"ns", static_cast<qlonglong>(sum.ns)},
                           {"time", duration(sum.ns)}};
  Q_EMIT selectionChanged();
}

void TimelineModel::selectSpan(int span) {
  if (!data_ || span < 0 || static_cast<size_t>(span) >= data_->spans.size()) return select(0, 0);
  const TimelineSpan& s = data_->spans[static_cast<size_t>(span)];
  select(static_cast<double>(s.begin), static_cast<double>(s.end));
  buffers_ = s.buffers;
  std::sort(buffers_.begin(), buffers_.end());
  if (!buffers_.empty())
    selection_ = tr("%1: %2, %3 buffers")
                     .arg(QString::fromStdString(s.name), duration(s.end - s.begin))
                     .arg(std::unique(buffers_.begin(), buffers_.end()) - buffers_.begin());
  Q_EMIT selectionChanged();
}

void TimelineModel::selectBuffer(int buffer) {
  if (!data_ || buffer < 0 || static_cast<size_t>(buffer) >= data_->buffers.size()) return select(0, 0);
  const TimelineData::Buffer& b = data_->buffers[static_cast<size_t>(buffer)];
  selectedFrom_ = static_cast<double>(b.begin), selectedTo_ = static_cast<double>(b.end);
  buffers_ = {b.id};
  std::map<std::string, Sum> users;
  for (const TimelineSpan& s : data_->spans)
    if (std::find(s.buffers.begin(), s.buffers.end(), b.id) != s.buffers.end()) {
      Sum& sum = users[s.kind + "  " + s.name];
      ++sum.count;
      sum.ns += s.end - s.begin;
    }
  selection_ = tr("Buffer %1, %2: launches that have it").arg(b.id).arg(amount(b.bytes));
  setTotals(users);
}

QString TimelineModel::describeBuffer(int buffer) const {
  if (!data_ || buffer < 0 || static_cast<size_t>(buffer) >= data_->buffers.size()) return {};
  const TimelineData::Buffer& b = data_->buffers[static_cast<size_t>(buffer)];
  const auto users = std::count_if(data_->spans.begin(), data_->spans.end(), [&](const TimelineSpan& s) {
    return std::find(s.buffers.begin(), s.buffers.end(), b.id) != s.buffers.end();
  });
  return tr("buffer %1 on %2\n%3, alive %4\n%5 launches have it")
      .arg(b.id)
      .arg(QString::fromStdString(b.device), amount(b.bytes), duration(b.end - b.begin))
      .arg(users);
}

QString TimelineModel::exportTotals(const QString& path) const {
  QList<QVariantList> rows;
  for (const QVariant& t : totals_) {
    const QVariantMap m = t.toMap();
    rows << QVariantList{m["name"], m["count"], m["ns"]};
  }
  return writeTable(path, {QStringLiteral("name"), QStringLiteral("count"), QStringLiteral("took_ns")}, rows);
}

QString TimelineModel::describe(int span) const {
  if (!data_ || span < 0 || static_cast<size_t>(span) >= data_->spans.size()) return {};
  const TimelineSpan& s = data_->spans[static_cast<size_t>(span)];
  return tr("%1 %2\n%3%4")
      .arg(QString::fromStdString(s.kind), QString::fromStdString(s.name), duration(s.end - s.begin),
           s.detail.empty() ? QString() : QStringLiteral("\n") + QString::fromStdString(s.detail));
}

void TimelineModel::follow(int span) {
  if (!data_ || span < 0 || static_cast<size_t>(span) >= data_->spans.size()) return;
  const TimelineSpan s = data_->spans[static_cast<size_t>(span)];
  if (!s.scope) return; // work of another program, which no kernel of the trace stands for
  const bool hasGraphs = session_.trace() && session_.trace()->facts().lastPass != 0;
  session_.setTab(hasGraphs ? QStringLiteral("graph") : QStringLiteral("asm"));
  if (s.pass)
    session_.goToPass(s.scope, s.pass);
  else
    session_.goToScope(s.scope);
}

} // namespace uopscope
