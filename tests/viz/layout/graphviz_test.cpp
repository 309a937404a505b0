// Graphviz as a library: graphs of anybody are read, written, drawn and laid out; hostile ones cost a message.
#include "engine/base/error.h"
#include "tests/replay/support.h"
#include "viz/graphviz/graphviz.h"
#include "viz/layout/dot_layout.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

using namespace uopscope;

namespace {

double secondsOf(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string messageOf(const std::string& text) {
  try {
    readDot(text);
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

/// The ends of all edges, sorted: cgraph writes them by the nodes that they leave.
std::vector<std::pair<uint32_t, uint32_t>> endsOf(const DotGraph& g) {
  std::vector<std::pair<uint32_t, uint32_t>> out;
  for (const DotEdge& e : g.edges) out.emplace_back(e.from, e.to);
  std::ranges::sort(out);
  return out;
}

/// Boxes in ranks of ten, each read by two of the next rank.
struct Boxes {
  std::vector<LayoutNode> nodes;
  std::vector<LayoutEdge> edges;
  explicit Boxes(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      nodes.push_back({60.0f + static_cast<float>(i % 7) * 10, 40});
      for (uint32_t port = 0; i >= 10 && port < 2; ++port)
        edges.push_back({i - 10 + (i * (port + 1)) % 5, i, port});
    }
  }
};

} // namespace

TEST_CASE("graphviz: names with quotes, umlauts, colons and backslashes come back as they were") {
  DotGraph g;
  g.name = "a \"graph\"";
  const std::vector<std::string> names{"quo\"te", "größe→1",   "a:b:n", "back\\slash",    "node", "1.5",
                                       "<b>",     "two words", "x->y",  "#not a comment", "{",    "\\N"};
  for (const std::string& name : names) g.nodes.push_back({name, "label of " + name + "\nsecond line"});
  for (uint32_t i = 1; i < g.nodes.size(); ++i) g.edges.push_back({i - 1, i});
  g.edges.push_back({0, 2});
  g.edges.push_back({0, 2}); // twice
  for (const DotGraph& back : {parseDot(writeDot(g)), readDot(writeDot(g))}) {
    CHECK(back.name == g.name);
    REQUIRE(back.nodes.size() == g.nodes.size());
    for (size_t i = 0; i < g.nodes.size(); ++i) {
      CHECK(back.nodes[i].name == g.nodes[i].name);
      CHECK(back.nodes[i].label == g.nodes[i].label);
    }
    REQUIRE(back.edges.size() == g.edges.size());
    CHECK(endsOf(back) == endsOf(g));
  }
  CHECK(parseDot(writeDot({.nodes = {{"ends in \\"}}})).nodes[0].name == "ends in  ");
}

TEST_CASE("graphviz: subgraphs, ports, defaults, comments, HTML labels and strict graphs of others") {
  const DotGraph g =
      readDot("/* of somebody */ strict digraph { node [label=\"\\N!\"]; # one\n"
              "  subgraph cluster { a; b [label=<<b>two</b><br/>&lt;lines&gt;>] } -> c:port:n\n"
              "  a -> c; c -> \"d\" + \"e\" // joined\n}");
  REQUIRE(g.nodes.size() == 4);
  CHECK(g.nodes[0].label == "a!");
  CHECK(g.nodes[1].label == "two\n<lines>");
  CHECK(g.nodes[3].name == "de");
  CHECK(g.edges.size() == 3); // a -> c once
  CHECK(readDot("graph { a -- b }").edges.size() == 1);
  CHECK(readDot("digraph { a -> b [headlabel=7] }").edges[0].attributes == DotAttributes{{"headlabel", "7"}});
  CHECK(readDot("digraph { a } digraph { b; c }").nodes.size() == 1);
}

TEST_CASE("graphviz: a text that is no graph is refused with the line of the fault") {
  for (const char* bad :
       {"", "not a graph", "digraph { a -> ", "digraph {\n a [label=\"x }", "digraph { a [b=] }"}) {
    CAPTURE(bad);
    CHECK_FALSE(messageOf(bad).empty());
  }
  CHECK(messageOf("digraph {\n a -> -> b }").find("line 2") != std::string::npos);
  CHECK(messageOf(std::string("digraph {\n\0 }", 13)).find("zero byte") != std::string::npos);
}

TEST_CASE("graphviz: a hostile file neither hangs nor fills the memory") {
  std::string left, right;
  for (int i = 0; i < 20'000; ++i) left += fmt::format("a{} ", i), right += fmt::format("b{} ", i);
  const std::string product = "digraph{{" + left + "}->{" + right + "}}"; // 400 million edges
  std::string nested = "digraph{", deep;
  for (int i = 0; i < 200'000; ++i) nested += "subgraph{";
  for (int i = 0; i < 2'000; ++i) deep += "{";
  const double took = secondsOf([&] {
    CHECK_FALSE(messageOf(product).empty());
    messageOf(nested);
    messageOf("digraph" + deep + "a->b" + std::string(2'000, '}'));
    CHECK_FALSE(messageOf("digraph{a[label=" + std::string(3'000'000, '<')).empty());
    const std::string blank(70'000'000, ' '); // NOLINT(bugprone-string-constructor)
    CHECK_FALSE(messageOf(blank).empty());
  });
  CHECK(took < 60);
  CHECK(readDot("digraph { a -> b }").nodes.size() == 2); // and nothing is left of it
}

TEST_CASE("graphviz: pictures as SVG, PNG and PDF, and a reason where there is none") {
  DotGraph g;
  g.nodes = {{"a", "<first> & \"more\""}, {"b"}};
  g.edges = {{0, 1}};
  const std::string svg = drawDot(g, "svg");
  CHECK(svg.find("&lt;first&gt; &amp; &quot;more&quot;") != std::string::npos);
  CHECK(drawDot(g, "png").starts_with("\x89PNG"));
  CHECK(drawDot(g, "pdf").starts_with("%PDF"));
  CHECK_THROWS_AS(drawDot(g, "nothing"), Error);
}

TEST_CASE("graphviz: dot lays out a small graph in ranks, either way round") {
  const Boxes b(40);
  for (const bool turned : {false, true}) {
    LayoutOptions options;
    options.leftToRight = turned;
    std::string problem;
    const auto l = layoutDot(b.nodes, b.edges, options, problem);
    REQUIRE_MESSAGE(l, problem);
    CHECK(l->curved);
    for (size_t i = 0; i < b.edges.size(); ++i) {
      const LayoutPoint from = l->centres[b.edges[i].from], to = l->centres[b.edges[i].to];
      CHECK((turned ? from.x < to.x : from.y < to.y));
      CHECK(l->rank[b.edges[i].from] < l->rank[b.edges[i].to]);
      CHECK(l->bends[i].size() % 3 == 1);
    }
    for (size_t i = 0; i < b.nodes.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const bool apart =
            std::abs(l->centres[i].x - l->centres[j].x) >= (b.nodes[i].width + b.nodes[j].width) / 2 - 1 ||
            std::abs(l->centres[i].y - l->centres[j].y) >= 39;
        CHECK(apart);
      }
  }
}

TEST_CASE("graphviz: dot lays out 2,000 nodes, and is stopped at once; a larger graph is refused") {
  const Boxes b(2'000);
  std::string problem;
  double took = secondsOf([&] { CHECK(layoutDot(b.nodes, b.edges, {}, problem)); });
  CHECK(problem.empty());
  MESSAGE("2,000 nodes: " << took << " s");
  std::atomic<bool> stop{false};
  LayoutOptions options;
  options.cancel = &stop;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    stop = true;
  });
  took =
      secondsOf([&] { CHECK(layoutDot(b.nodes, b.edges, options, problem).value_or(Layout{}).cancelled); });
  stopper.join();
  CHECK(took < 1.5);
  const Boxes large(3'000);
  CHECK_FALSE(layoutDot(large.nodes, large.edges, {}, problem));
  CHECK(problem.find("2500") != std::string::npos);
  CHECK(layoutDot({}, {}, {}, problem));
}
