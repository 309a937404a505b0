// Candidates for a pair share the script line, else the name, else the device. A bucket too large for all
// pairs is cut into neighbours in order of their sizes.
#include "replay/compare/align.h"

#include <algorithm>
#include <map>

namespace uopscope {

namespace {
using Bag = std::map<std::string, int, std::less<>>;

/// The nodes of a graph without their sources, counted.
Bag bagOf(std::string_view graph) {
  Bag bag;
  while (!graph.empty()) {
    std::string_view row = graph.substr(0, graph.find('\n'));
    graph.remove_prefix(std::min(graph.size(), row.size() + 1));
    size_t end = 0;
    for (int field = 0; field < 4 && end != std::string_view::npos; ++field)
      end = row.find('\t', end + (field ? 1 : 0));
    auto it = bag.try_emplace(std::string(row.substr(0, end))).first;
    ++it->second;
  }
  return bag;
}

double likenessOf(const Bag& a, const Bag& b) {
  int common = 0, all = 0;
  auto x = a.begin(), y = b.begin();
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->first < y->first))
      all += (x++)->second;
    else if (x == a.end() || y->first < x->first)
      all += (y++)->second;
    else {
      common += std::min(x->second, y->second);
      all += std::max(x->second, y->second);
      ++x, ++y;
    }
  }
  return all ? static_cast<double>(common) / all : 0;
}

constexpr size_t kBucket = 64;
constexpr double kLeast = 1.0 / 3;
} // namespace

double likeness(const std::string& graphA, const std::string& graphB) {
  return likenessOf(bagOf(graphA), bagOf(graphB));
}

std::vector<Pairing> pairByLikeness(const Corpus& a, const std::vector<CorpusEntry>& before, const Corpus& b,
                                    const std::vector<CorpusEntry>& after) {
  std::vector<Pairing> pairs(before.size());
  if (before.empty() || after.empty()) return pairs;
  std::vector<Bag> bagsA, bagsB;
  for (const CorpusEntry& e : before) bagsA.push_back(bagOf(a.load(e, false, false).graph));
  for (const CorpusEntry& e : after) bagsB.push_back(bagOf(b.load(e, false, false).graph));
  std::vector<bool> taken(after.size());

  auto round = [&](auto key) {
    struct Bucket {
      std::vector<size_t> a, b;
    };
    std::map<std::string, Bucket> buckets;
    for (size_t i = 0; i < before.size(); ++i)
      if (!pairs[i].other) buckets[key(before[i])].a.push_back(i);
    for (size_t j = 0; j < after.size(); ++j)
      if (!taken[j]) buckets[key(after[j])].b.push_back(j);
    for (auto& [name, bucket] : buckets) {
      struct Candidate {
        double likeness;
        size_t i, j;
      };
      std::vector<Candidate> candidates;
      bool all = bucket.a.size() * bucket.b.size() <= kBucket * kBucket;
      if (!all) {
        auto bySizeA = [&](size_t x, size_t y) { return before[x].record.size < before[y].record.size; };
        auto bySizeB = [&](size_t x, size_t y) { return after[x].record.size < after[y].record.size; };
        std::stable_sort(bucket.a.begin(), bucket.a.end(), bySizeA);
        std::stable_sort(bucket.b.begin(), bucket.b.end(), bySizeB);
      }
      for (size_t x = 0; x < bucket.a.size(); ++x) {
        size_t center = all ? 0 : x * bucket.b.size() / bucket.a.size();
        size_t from = all || center < kBucket / 2 ? 0 : center - kBucket / 2;
        size_t to = all ? bucket.b.size() : std::min(bucket.b.size(), from + kBucket);
        for (size_t y = from; y < to; ++y)
          if (double l = likenessOf(bagsA[bucket.a[x]], bagsB[bucket.b[y]]); l >= kLeast)
            candidates.push_back({l, bucket.a[x], bucket.b[y]});
      }
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const Candidate& x, const Candidate& y) { return x.likeness > y.likeness; });
      for (const Candidate& c : candidates)
        if (!pairs[c.i].other && !taken[c.j]) {
          pairs[c.i] = {c.j, c.likeness};
          taken[c.j] = true;
        }
    }
  };
  auto kind = [](const CorpusEntry& e) { return std::string(e.isKernel() ? "k" : "s") + e.device; };
  round([&](const CorpusEntry& e) { return kind(e) + "|" + e.place() + "|" + e.name; });
  round([&](const CorpusEntry& e) { return kind(e) + "|" + e.place(); });
  round([&](const CorpusEntry& e) { return kind(e) + "|" + e.name; });
  round(kind);
  return pairs;
}

} // namespace uopscope
