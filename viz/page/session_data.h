// A trace as the data of an offline page: what the page draws and says for every step, as JSON.
//
//   SessionData data(trace, {.kernel = "r_16_25_4"});
//   page(data.value(), data.limits());                // limits: what was left out, in words
//
// Pictures come from PassView, so that they are those of the window. A step is stored as what it adds to and
// takes from the picture before it. Invariant: a pass is in the page whole, or its absence is said in
// limits().
#pragma once
#include "replay/read/trace.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct SessionChoice {
  std::string kernel, pass;           ///< as findScope and findPass take them; empty: as much as fits
  size_t mostBytes = 4 * 1000 * 1000; ///< of the data, about
  /// Gets shares 0 to 1; returning false ends with Error(Runtime).
  std::function<bool(double)> progress;
};

/// Every text of a page once; data name texts by number.
class PageWords {
public:
  int64_t of(const std::string& text);
  size_t bytes() const { return bytes_; }
  const std::vector<std::string>& all() const { return words_; }
  /// Forgets all but the first `count`: what was added for a pass that does not fit.
  void keep(size_t count);

private:
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::vector<std::string> words_;
  size_t bytes_ = 0;
};

class SessionData {
public:
  SessionData(Trace& trace, const SessionChoice& choice);
  const nlohmann::json& value() const { return json_; }
  const std::vector<std::string>& limits() const { return limits_; }

private:
  nlohmann::json scopeJson(ScopeId scope, PassId only);
  nlohmann::json passJson(const PassInfo& pass, size_t number);
  nlohmann::json stepRows(const PassInfo& pass);
  int64_t ruleNumber(RuleId rule);
  void addFile(const std::string& path);
  void tell(double share) const;
  size_t room() const;

  Trace& trace_;
  const SessionChoice& choice_;
  nlohmann::json json_;
  std::vector<std::string> limits_;
  PageWords words_;
  std::map<RuleId, int64_t> rules_;
  size_t bytes_ = 0;
  bool full_ = false; ///< something was left out for want of room
};

} // namespace uopscope
