// Pictures of a pass: true to the graph, and steady from step to step.
#include "tests/viz/support.h"
#include "viz/pictures/pass_view.h"

#include <doctest/doctest.h>

#include <cmath>
#include <map>

using namespace uopscope;
using namespace uopscope::test;

namespace {

std::vector<std::pair<ScopeId, PassInfo>> passesOf(Trace& trace) {
  std::vector<std::pair<ScopeId, PassInfo>> out;
  for (const ScopeInfo& s : trace.scopes())
    for (const PassInfo& p : trace.passes(s.id))
      if (p.steps > 0) out.push_back({s.id, p});
  return out;
}

bool overlap(const PictureNode& a, const PictureNode& b) {
  return std::abs(a.x - b.x) < (a.width + b.width) / 2 - 1 &&
         std::abs(a.y - b.y) < (a.height + b.height) / 2 - 1;
}

} // namespace

TEST_CASE("pass view: every step of every pass draws the graph as it was, each node where it was before") {
  for (const QString& path : {expressionTrace(), compiledTrace()}) {
    Trace trace(path.toStdString());
    const auto passes = passesOf(trace);
    REQUIRE_FALSE(passes.empty());
    size_t looked = 0;
    for (const auto& [scope, pass] : passes) {
      PassView view(trace, pass.id, {});
      REQUIRE(view.prepare());
      std::map<int64_t, std::pair<float, float>> where;
      int moved = 0, missing = 0, overlaps = 0;
      const int64_t every = std::max<int64_t>(1, view.steps() / 25);
      for (int64_t k = 0; k <= view.steps(); k += every) {
        const PicturePtr p = view.at(k);
        size_t unfolded = 0;
        for (NodeId n : view.cursor().graphAt(k)) {
          const Op op = view.cursor().fields(n).op;
          if (op == Op::CONST || op == Op::DEVICE || op == Op::UNIQUE || op == Op::LUNIQUE ||
              op == Op::VECTORIZE || op == Op::VCONST)
            continue;
          ++unfolded;
          missing += p->find(n) == nullptr;
        }
        CHECK(p->nodes.size() >= unfolded);
        for (const PictureNode& n : p->nodes) {
          const auto [it, fresh] = where.emplace(n.id, std::pair(n.x, n.y));
          moved += !fresh && it->second != std::pair(n.x, n.y);
        }
        if (p->nodes.size() < 150)
          for (size_t i = 0; i < p->nodes.size(); ++i)
            for (size_t j = 0; j < i; ++j) overlaps += overlap(p->nodes[i], p->nodes[j]);
        for (const PictureEdge& e : p->edges) REQUIRE((e.from < p->nodes.size() && e.to < p->nodes.size()));
      }
      INFO(pass.name, " of scope ", scope);
      CHECK(moved == 0);
      CHECK(missing == 0);
      CHECK(overlaps == 0);
      if (++looked == 40) break;
    }
  }
}

TEST_CASE("pass view: every wire of a kernel's passes goes down, from a source to its user") {
  Trace trace(compiledTrace().toStdString());
  int drawn = 0, up = 0;
  for (const auto& [scope, pass] : passesOf(trace)) {
    PassView view(trace, pass.id, {});
    REQUIRE(view.prepare());
    for (const bool whole : {true, false})
      for (int64_t k = 1; k <= std::min<int64_t>(view.steps(), 10); ++k) {
        Arrangement near;
        near.firstStep = near.lastStep = k, near.paneWidth = 800, near.paneHeight = 660;
        REQUIRE(view.arrange(whole ? Arrangement{} : near));
        const PicturePtr p = view.at(k);
        for (const PictureEdge& e : p->edges) {
          const PictureNode &from = p->nodes[e.from], &to = p->nodes[e.to];
          if (e.quiet || from.mark == Mark::Removed || to.mark == Mark::Removed) continue;
          ++drawn;
          up += from.y >= to.y;
        }
      }
  }
  CHECK(drawn > 1000);
  CHECK(up == 0);
}

TEST_CASE("pass view: marks say what the step did, whichever way one came") {
  Trace trace(expressionTrace().toStdString());
  const PassId pass = trace.findPass(trace.findScope("r_4"), "shrink");
  PassView view(trace, pass, {});
  REQUIRE(view.prepare());
  const PicturePtr begin = view.at(0);
  CHECK(begin->added + begin->removed + begin->changed == 0);
  for (int64_t k = 1; k <= view.steps(); ++k) {
    const PicturePtr p = view.at(k);
    const StepInfo s = view.cursor().step(k);
    INFO("step ", k);
    CHECK(p->added + p->removed + p->changed > 0);
    const PictureNode* after = p->find(s.after);
    if (after && after->mark == Mark::Added) CHECK_FALSE(after->was.empty());
  }
  const PicturePtr a = view.at(3);
  view.at(view.steps());
  view.at(0);
  const PicturePtr b = view.at(3);
  REQUIRE(a->nodes.size() == b->nodes.size());
  for (size_t i = 0; i < a->nodes.size(); ++i) {
    CHECK(a->nodes[i].id == b->nodes[i].id);
    CHECK(a->nodes[i].mark == b->nodes[i].mark);
    CHECK(a->nodes[i].x == b->nodes[i].x);
  }
}

TEST_CASE("pass view: constants are drawn when asked, written into labels when not") {
  Trace trace(expressionTrace().toStdString());
  const PassId pass = trace.findPass(trace.findScope("r_4"), "shrink");
  PassView folded(trace, pass, {}), drawn(trace, pass, {.foldConstants = false, .foldHubs = false});
  REQUIRE(folded.prepare());
  REQUIRE(drawn.prepare());
  const PicturePtr a = folded.at(0), b = drawn.at(0);
  CHECK(a->foldedConstants > 0);
  CHECK(b->foldedConstants == 0);
  CHECK(b->nodes.size() == drawn.cursor().graphAt(0).size());
  CHECK(a->nodes.size() + a->foldedConstants == b->nodes.size());
}

TEST_CASE("pass view: a selected node is found again in every other step") {
  Trace trace(expressionTrace().toStdString());
  const PassId pass = trace.findPass(trace.findScope("r_4"), "shrink");
  PassView view(trace, pass, {});
  REQUIRE(view.prepare());
  const NodeId root = view.cursor().rootAt(0);
  for (int64_t k = 0; k <= view.steps(); ++k)
    CHECK(view.counterpart(root, *view.at(k)) == view.cursor().rootAt(k));
  CHECK(view.counterpart(kNoNode, *view.at(0)) == kNoNode);
}

TEST_CASE("pass view: a cancelled preparation says so") {
  Trace trace(compiledTrace().toStdString());
  const std::atomic<bool> cancel{true};
  PassView view(trace, passesOf(trace).front().second.id, {});
  CHECK_FALSE(view.prepare(&cancel));
}
