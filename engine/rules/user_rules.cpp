// The list of rules that users added, in order of registration.
#include "engine/rules/user_rules.h"

#include "engine/base/engine_session.h"
#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace uopscope {

namespace {

struct Added {
  uint64_t id;
  std::string pass;
  std::shared_ptr<const PatternMatcher> rules;
};
struct Registry {
  std::mutex mutex;
  std::vector<Added> added;
  std::map<std::string, RendererRules> renderers;
  uint64_t changes = 0;
  std::atomic<uint64_t> version{0}; ///< 0 if there are none, so that the common case takes no lock
};
Registry& registry() {
  return EngineSession::current().part<Registry>();
}
void changed(Registry& r) {
  ++r.changes;
  r.version = r.added.empty() && r.renderers.empty() ? 0 : r.changes;
}

} // namespace

UserRules::UserRules(std::string_view pass, std::span<const std::string_view> known, PatternMatcher rules) {
  if (std::find(known.begin(), known.end(), pass) == known.end())
    throw Error(ErrorKind::Value,
                fmt::format("no pass is called \"{}\"; there are: {}", pass, fmt::join(known, ", ")));
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  changed(r);
  id_ = r.changes;
  r.added.push_back({id_, std::string(pass), std::make_shared<const PatternMatcher>(std::move(rules))});
  r.version = r.changes;
}

UserRules::~UserRules() {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  std::erase_if(r.added, [&](const Added& a) { return a.id == id_; });
  changed(r);
}

void setRendererRules(const std::string& device, RendererRules rules) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (rules.pre || rules.extra)
    r.renderers[device] = std::move(rules);
  else
    r.renderers.erase(device);
  changed(r);
}

RendererRules rendererRules(const std::string& device) {
  if (!userRulesVersion()) return {};
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto it = r.renderers.find(device);
  return it == r.renderers.end() ? RendererRules{} : it->second;
}

std::vector<std::shared_ptr<const PatternMatcher>> userRulesAfter(std::string_view pass) {
  std::vector<std::shared_ptr<const PatternMatcher>> found;
  if (!userRulesVersion()) return found;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  for (const Added& a : r.added)
    if (a.pass == pass) found.push_back(a.rules);
  return found;
}

std::vector<UserRuleList> userRules() {
  std::vector<UserRuleList> found;
  if (!userRulesVersion()) return found;
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  for (const Added& a : r.added) found.push_back({"after " + a.pass, a.rules});
  for (const auto& [device, own] : r.renderers) {
    if (own.pre) found.push_back({"pre_matcher of " + device, own.pre});
    if (own.extra) found.push_back({"extra_matcher of " + device, own.extra});
  }
  return found;
}

uint64_t userRulesVersion() {
  return registry().version.load(std::memory_order_acquire);
}

} // namespace uopscope
