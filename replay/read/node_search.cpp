// Searches the texts of all kinds first, then scans the blocks for nodes of the matching kinds.
#include "replay/read/node_search.h"

#include "replay/read/block_kinds.h"
#include "replay/read/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace uopscope {

namespace {
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr int64_t kMostIds = 1 << 24; ///< largest id in a small table; a larger id is an attack on memory

/// For each row number: a bit for each word that its text contains.
std::vector<uint64_t> wordsIn(const Database& db, const char* sql, const std::vector<std::string>& words) {
  std::vector<uint64_t> out(1);
  std::string text;
  for (Statement s = db.prepare(sql); s.step();) {
    int64_t id = s.integer(0);
    if (id < 0 || id >= kMostIds) continue;
    text.assign(s.text(1));
    std::ranges::transform(text, text.begin(), lower);
    uint64_t found = 0;
    for (size_t w = 0; w < words.size(); ++w)
      found |= uint64_t{text.find(words[w]) != std::string::npos} << w;
    if (static_cast<size_t>(id) >= out.size()) out.resize(static_cast<size_t>(id) + 1);
    out[static_cast<size_t>(id)] = found;
  }
  return out;
}

/// For each kind number: whether its label has all the words. No word contains a space, so it is part of the
/// operation, the type or an argument; each of these texts is searched once, however many kinds share it.
std::vector<bool> kindsWith(const Database& db, std::string_view text) {
  std::vector<std::string> words;
  std::istringstream in{std::string(text)};
  for (std::string word; words.size() < 63 && in >> word;) {
    std::ranges::transform(word, word.begin(), lower);
    words.push_back(word);
  }
  const uint64_t all = (uint64_t{1} << words.size()) - 1;
  auto ops = wordsIn(db, "SELECT id, name FROM op", words),
       dtypes = wordsIn(db, "SELECT id, name FROM dtype", words),
       args = wordsIn(db, "SELECT id, value FROM arg", words);
  auto of = [](const std::vector<uint64_t>& masks, int64_t id) {
    return id >= 0 && static_cast<size_t>(id) < masks.size() ? masks[static_cast<size_t>(id)] : 0;
  };
  std::vector<bool> out;
  for (Statement s = db.prepare("SELECT id, op, dtype, arg, tag FROM kind"); s.step();) {
    int64_t id = s.integer(0);
    uint64_t found =
        of(ops, s.integer(1)) | of(dtypes, s.integer(2)) | of(args, s.integer(3)) | of(args, s.integer(4));
    if (id < 1 || id >= kMostIds || found != all) continue;
    if (static_cast<size_t>(id) >= out.size()) out.resize(static_cast<size_t>(id) + 1);
    out[static_cast<size_t>(id)] = true;
  }
  return out;
}
} // namespace

NodeHits findNodes(Trace& trace, std::string_view text, size_t most) {
  NodeHits out;
  const Database& db = trace.database();
  std::vector<bool> wanted = kindsWith(db, text);
  auto look = [&](int64_t id, size_t kind) {
    if (kind >= wanted.size() || !wanted[kind] || id < 1 || id >= kFirstViewNode) return;
    ++out.total;
    if (out.nodes.size() < most) out.nodes.push_back(static_cast<NodeId>(id));
  };
  if (db.pragma("user_version") < 2) {
    for (Statement s = db.prepare("SELECT id, kind FROM node ORDER BY id"); s.step();)
      look(s.integer(0), static_cast<size_t>(std::max<int64_t>(s.integer(1), 0)));
    return out;
  }
  for (Statement s = db.prepare(
           fmt::format("SELECT first, count, kinds, {} FROM node_block ORDER BY first", usedColumns(db)));
       s.step();) {
    KindsOfBlock kinds(s.integer(1), s.blob(2), s.integer(4), s.blob(3));
    if (!kinds.valid() || s.integer(0) < 1 || s.integer(0) >= kFirstViewNode) continue;
    for (int64_t k = 0; k < s.integer(1); ++k)
      look(s.integer(0) + k, static_cast<size_t>(kinds[static_cast<size_t>(k)]));
  }
  return out;
}

std::optional<NodePlace> placeOf(Trace& trace, NodeId node) {
  const Database& db = trace.database();
  // Candidates in the order of events: the root of a pass counts half a step before its first step, the end
  // root half a step after its last step.
  struct Candidate {
    int64_t at;
    PassId pass;
    int64_t step;
  };
  std::vector<Candidate> candidates;
  Statement s = db.prepare(
      "SELECT id, pass, before >= ?1 FROM step WHERE before >= ?1 OR after >= ?1 ORDER BY id LIMIT 1");
  if (s.bind(1, static_cast<int64_t>(node)).step()) {
    const StepId id = s.integer(0);
    const PassId pass = s.integer(1);
    const bool before = s.integer(2) != 0;
    Statement k = db.prepare("SELECT count(*) FROM step WHERE pass = ?1 AND id <= ?2 AND id >= ?3");
    k.bind(1, pass).bind(2, id).bind(3, trace.pass(pass).firstStep).step();
    candidates.push_back({2 * id, pass, k.integer(0) - before});
    candidates.push_back({2 * id, pass, k.integer(0)});
  }
  for (const auto& [column, place] : {std::pair("root", "first_step"), {"end_root", "last_step"}}) {
    Statement p = db.prepare(std::string("SELECT id, ") + place + " FROM pass WHERE " + column +
                             " >= ?1 ORDER BY id LIMIT 1");
    if (!p.bind(1, static_cast<int64_t>(node)).step()) continue;
    const bool begins = column == std::string_view("root");
    const PassId pass = p.integer(0);
    candidates.push_back({2 * p.integer(1) + (begins ? -1 : 1), pass, begins ? 0 : trace.pass(pass).steps});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::at);
  for (const Candidate& c : candidates) {
    const PassInfo pass = trace.pass(c.pass);
    if (pass.root == kNoNode) continue;
    Cursor cursor(trace, c.pass);
    const auto& graph = cursor.graphAt(std::min(c.step, cursor.steps()));
    if (std::ranges::find(graph, node) != graph.end())
      return NodePlace{pass.scope, c.pass, std::min(c.step, cursor.steps())};
  }
  return std::nullopt;
}

} // namespace uopscope
