// Times of a run: profile, timeline, and running times, from a trace of kernels that did run.
#include "tests/viz/support.h"
#include "viz/models/graph/run_times.h"
#include "viz/models/session/tools.h"

#include <doctest/doctest.h>

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

namespace {

// Two kernels on the CPU, the second of which reads what the first one wrote.
QString ranTrace() {
  static const TempTrace file;
  static const bool recorded = [] {
    SessionOptions options;
    options.path = file.path;
    options.script = "ran.py";
    options.handleSignals = false;
    RecordingSession session(options);
    const Tensor a = Tensor::arange(4096).reshape({64, 64}).contiguous().realize();
    a.sum(std::vector<int64_t>{0}).realize();
    return true;
  }();
  (void)recorded;
  return QString::fromStdString(file.path);
}

struct TimesDesk {
  QGuiApplication& app = application();
  Session session;
  Tools tools{session};
  explicit TimesDesk(const QString& file, const char* tab) {
    session.open(file);
    session.setTab(QLatin1String(tab));
    REQUIRE(waitFor([&] { return session.settled(); }));
  }
};

int64_t inKind(const Profile& p, const std::string& kind) {
  int64_t sum = 0;
  for (const ProfileNode& n : p.nodes)
    if (n.kind == kind) sum += n.ns;
  return sum;
}

} // namespace

TEST_CASE("profile: a part is never more than the whole, with and without what is no rewriting") {
  application();
  Trace trace(ranTrace().toStdString());
  const ProfilePtr whole = buildProfile(trace), rewrites = rewritesOf(*whole);
  for (const ProfilePtr& p : {whole, rewrites})
    for (size_t i = 0; i < p->nodes.size(); ++i) {
      int64_t sum = 0;
      for (const uint32_t c : p->nodes[i].children) {
        CHECK(p->nodes[c].parent == i);
        sum += p->nodes[c].ns;
      }
      CHECK(sum <= p->nodes[i].ns);
    }
  CHECK(inKind(*whole, "phase") > 0);
  CHECK(inKind(*rewrites, "phase") == 0);
  CHECK(inKind(*rewrites, "pass") == inKind(*whole, "pass"));
  CHECK(inKind(*rewrites, "rule") == inKind(*whole, "rule"));
  CHECK(rewrites->nodes[0].ns < whole->nodes[0].ns);
  for (const ProfileNode& n : rewrites->nodes)
    if (n.kind == "kernel" || n.kind == "schedule") CHECK_FALSE(n.children.empty());
}

TEST_CASE("profile: the model shows one or the other, and its tables are written") {
  TimesDesk d(ranTrace(), "profile");
  ProfileModel& profile = *d.tools.profile();
  profile.load();
  REQUIRE(waitFor([&] { return profile.ready(); }));
  const int64_t all = profile.profile()->nodes[0].ns;
  profile.setWhat("rewrites");
  CHECK(profile.profile()->nodes[0].ns < all);
  CHECK(profile.root() == 0);
  profile.setWhat("nonsense");
  CHECK(profile.what() == "rewrites");
  const QString file = ranTrace() + ".csv";
  CHECK(profile.exportTable("findings", file).isEmpty());
  QFile in(file);
  REQUIRE(in.open(QIODevice::ReadOnly));
  CHECK(in.readLine() == "kind,title,detail,advice,rule,step\n");
  in.remove();
  CHECK(profile.exportTable("findings", "/no/such/folder/x.csv").contains("/no/such/folder"));
}

TEST_CASE("timeline: begins at the work; a launch shows its buffers, a buffer its launches") {
  TimesDesk d(ranTrace(), "timeline");
  TimelineModel& timeline = *d.tools.timeline();
  timeline.load();
  REQUIRE(waitFor([&] { return timeline.ready(); }));
  const TimelineData& data = *timeline.data();
  CHECK(data.first >= data.begin);
  CHECK(timeline.to() == static_cast<double>(data.end));
  CHECK(timeline.from() <= static_cast<double>(data.first));
  timeline.showAll();
  CHECK(timeline.from() == static_cast<double>(data.begin));

  int launch = -1;
  for (size_t i = 0; i < data.spans.size(); ++i)
    if (data.spans[i].kind == "launch" && data.spans[i].buffers.size() == 2) launch = static_cast<int>(i);
  REQUIRE(launch >= 0); // the sum reads a tensor and writes one
  timeline.selectSpan(launch);
  REQUIRE(timeline.buffers().size() == 2);
  CHECK(timeline.selection().contains("2 buffers"));
  int shared = -1; // both launches use the first tensor
  for (size_t i = 0; i < data.buffers.size(); ++i)
    if (data.buffers[i].bytes == 4096 * 4) shared = static_cast<int>(i);
  REQUIRE(shared >= 0);
  timeline.selectBuffer(shared);
  CHECK(timeline.buffers() == std::vector<int64_t>{data.buffers[static_cast<size_t>(shared)].id});
  int64_t launches = 0;
  for (const QVariant& t : timeline.totals()) launches += t.toMap()["count"].toLongLong();
  CHECK(launches == 2);
  CHECK(timeline.describeBuffer(shared).contains("16.4 kB"));
  CHECK(timeline.describeBuffer(shared).contains("2 launches"));
  CHECK(timeline.describeBuffer(-1).isEmpty());
  timeline.selectBuffer(-1);
  CHECK(timeline.buffers().empty());

  timeline.select(timeline.from(), timeline.to());
  const QString file = ranTrace() + ".json";
  CHECK(timeline.exportTotals(file).isEmpty());
  CHECK(QFile(file).size() > 100);
  QFile::remove(file);
}

TEST_CASE("run times: a kernel's nodes have its time, a schedule's those of the kernels they went into") {
  application();
  Trace trace(ranTrace().toStdString());
  int64_t kernels = 0, schedules = 0;
  for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes())) {
    if (s.root == kNoNode || (s.kind != ScopeKind::Kernel && s.kind != ScopeKind::Schedule)) continue;
    Provenance provenance(trace, s.id);
    const RunTimes times(trace, s.id, provenance);
    int64_t ns = 0, runs = 0;
    for (const LaunchInfo& l : trace.launches())
      if (l.compiled == s.id) ns += l.ns, ++runs;
    if (s.kind == ScopeKind::Kernel && runs > 0) {
      CHECK(times.of(s.root) == ns / runs);
      ++kernels;
    }
    if (s.kind == ScopeKind::Schedule)
      for (const NodeId id : trace.nodes().toposort(s.root)) schedules += times.of(id) > 0;
  }
  CHECK(kernels == 2);
  CHECK(schedules > 0);
}
