// A trace as the data of an offline page: pictures and texts of every step, as JSON.
//
//   SessionData data(trace, {.kernel = "r_16_25_4"});
//   page(data.value(), data.limits());                // limits: sentences about the parts left out
//
// Pictures come from PassView, so they equal those of the window. A step is stored as its difference from the
// picture before. Invariant: the page contains a pass as a whole, or limits() tells of its absence.
#pragma once
#include "replay/read/trace.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct SessionChoice {
  std::string kernel, pass;           ///< text for findScope and findPass; empty: as much as fits
  size_t mostBytes = 4 * 1000 * 1000; ///< approximate size of the data
  /// Receives the share done, 0 to 1; by returning false it ends the work with Error(Runtime).
  std::function<bool(double)> progress;
};

/// Stores every text of a page once; the data name a text by its number.
class PageWords {
public:
  int64_t of(const std::string& text);
  size_t bytes() const { return bytes_; }
  const std::vector<std::string>& all() const { return words_; }
  /// Forgets all but the first `count` texts: the rest belong to a pass that does not fit.
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
  std::string opening(ScopeId scope) const; ///< where the page opens
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
  bool full_ = false; ///< a part was left out because of the size
};

} // namespace uopscope
