// Writes the matches of a graph in hand as a list and as JSON.
#include "replay/read/readable.h"
#include "replay/schema/letters.h"
#include "replay/teach/by_hand.h"
#include "replay/teach/hand_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope {

namespace {
constexpr int kDepth = 4;
constexpr size_t kLength = 100;
// Of one rule: lines of text, and pictures. All of its matches are in the JSON.
constexpr size_t kMostLines = 8, kMostDrawn = 12, kMostPictures = 400;

std::string textOf(UOpReader& known, UOp u) {
  // An argument, such as a list of lanes, has no limit of its own.
  return clipped(readableExpression(known.reader(), known.idOf(u), kDepth, kLength), kLength);
}
} // namespace

std::string handExpressions(UOpReader& known, UOp before, UOp after) {
  return textOf(known, before) + "  →  " + textOf(known, after);
}

std::string handMatchesText(HandGraph& hand) {
  UOpReader known;
  const auto& all = hand.matches();
  std::string names;
  for (const HandMatch& m : hand.chosen()) names += (names.empty() ? ", after " : ", ") + m.name();
  std::string out = fmt::format("\"{}\", step {}{}: {} {}\n", hand.pass(), hand.step(), names, all.size(),
                                all.size() == 1 ? "match" : "matches");
  if (!hand.inside().empty())
    out += fmt::format("\"{}\" rewrites an expression; this is the kernel meanwhile\n", hand.inside());
  size_t width = 0;
  for (const HandMatch& m : all) width = std::max(width, m.name().size());
  std::string pass;
  std::map<std::string, size_t> ofRule;
  for (const HandMatch& m : all) ++ofRule[m.rule];
  for (const HandMatch& m : all) {
    if (m.number > kMostLines + 1) continue;
    if (m.number == kMostLines + 1) {
      out += fmt::format("  … {} more, to {}#{}\n", ofRule[m.rule] - kMostLines, m.rule, ofRule[m.rule]);
      continue;
    }
    if (m.pass != pass) out += fmt::format("\n{}\n", pass = m.pass);
    out += fmt::format("  {:<{}}  {}{}\n", m.name(), width, handExpressions(known, m.before, m.after),
                       m.reason.empty() ? "" : "  (" + m.reason + ")");
  }
  for (const HandGraph::Unasked& u : hand.unasked())
    out += fmt::format("\nnot asked to its end: {}: {}\n", u.pass, u.why.substr(0, u.why.find('\n')));
  return out;
}

nlohmann::ordered_json handMatchesJson(HandGraph& hand, const HandPictures& draw) {
  using Json = nlohmann::ordered_json;
  UOpReader known;
  const auto& all = hand.matches();
  Json matches = Json::array(), chosen = Json::array(), unasked = Json::array();
  for (const HandMatch& m : all) {
    Json one{{"name", m.name()},
             {"rule", m.rule},
             {"pass", m.pass},
             {"reason", m.reason},
             {"before", textOf(known, m.before)},
             {"after", textOf(known, m.after)}};
    if (draw.rewrite && m.number <= kMostDrawn && matches.size() < kMostPictures)
      one["picture"] = draw.rewrite(m.before, m.after);
    matches.push_back(std::move(one));
  }
  for (const HandMatch& m : hand.chosen())
    chosen.push_back(
        Json{{"name", m.name()}, {"before", textOf(known, m.before)}, {"after", textOf(known, m.after)}});
  for (const HandGraph::Unasked& u : hand.unasked())
    unasked.push_back(Json{{"pass", u.pass}, {"why", u.why}});
  Json out{{"kernel", hand.kernel()}, {"pass", hand.pass()}, {"step", hand.step()},
           {"chosen", chosen},        {"count", all.size()}, {"matches", matches}};
  if (!hand.inside().empty()) out["inside"] = hand.inside();
  if (draw.whole) out["graph"] = draw.whole(hand.before(), hand.graph(), hand.images());
  out["unasked"] = unasked;
  return out;
}

} // namespace uopscope
