// Origins of nodes: one table per pool (by the pool's serial number), texts interned for the life of the
// process.
#include "engine/uop/origin.h"

#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

namespace uopscope {

namespace {

using Table = std::unordered_map<uint32_t, NodeOrigin>;

struct Registry {
  std::mutex mutex;
  std::set<std::string, std::less<>> texts;
  std::unordered_map<uint32_t, std::unique_ptr<Table>> tables;

  std::string_view intern(std::string_view text) {
    auto it = texts.find(text);
    return it != texts.end() ? *it : *texts.emplace(text).first;
  }
};

Registry& registry() {
  static Registry r;
  return r;
}

} // namespace

void setOrigin(UOp node, const NodeOrigin& origin) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto& table = r.tables[node.node()->pool->serial()];
  if (!table) table = std::make_unique<Table>();
  auto [it, isNew] = table->try_emplace(node.id());
  if (isNew)
    it->second = {r.intern(origin.operation), r.intern(origin.file), origin.line, r.intern(origin.calls)};
}

const NodeOrigin* originOf(UOp node) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  auto table = r.tables.find(node.node()->pool->serial());
  if (table == r.tables.end()) return nullptr;
  auto it = table->second->find(node.id());
  return it == table->second->end() ? nullptr : &it->second;
}

void dropOrigins(const Pool& pool, const std::function<bool(uint32_t id)>& keep) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  if (!keep)
    r.tables.erase(pool.serial());
  else if (auto it = r.tables.find(pool.serial()); it != r.tables.end())
    std::erase_if(*it->second, [&](const auto& entry) { return !keep(entry.first); });
}

} // namespace uopscope
