// A map from dense numbers (UOp::slot) to small values that empties in O(1): every slot carries the epoch in
// which it was written. Rewriting, topological sorts and substitutions borrow a store from a stock of the
// thread, so nested traversals each have a map of their own and a warm program allocates nothing.
//
//   IdMap<const Node*> done;          // borrowed here, given back at the end of the scope
//   if (auto* hit = done.find(u.slot())) ...
//   done.set(u.slot(), node);
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace uopscope {

template <typename T>
class IdMap {
public:
  IdMap() {
    auto& stock = stockOfThread();
    if (stock.empty()) {
      store_ = std::make_unique<Store>();
    } else {
      store_ = std::move(stock.back());
      stock.pop_back();
    }
    if (++store_->epoch == 0) { // the counter wrapped: forget the old stamps for good
      store_->slots.clear();
      store_->epoch = 1;
    }
  }
  ~IdMap() {
    if (store_) stockOfThread().push_back(std::move(store_));
  }
  IdMap(IdMap&&) noexcept = default;
  IdMap(const IdMap&) = delete;
  IdMap& operator=(const IdMap&) = delete;
  IdMap& operator=(IdMap&&) = delete;

  T* find(uint32_t id) {
    auto& slots = store_->slots;
    return id < slots.size() && slots[id].epoch == store_->epoch ? &slots[id].value : nullptr;
  }
  bool contains(uint32_t id) { return find(id) != nullptr; }
  void set(uint32_t id, T value) {
    auto& slots = store_->slots;
    if (id >= slots.size()) slots.resize(id + id / 2 + 64);
    slots[id] = {store_->epoch, value};
  }

private:
  struct Slot {
    uint32_t epoch = 0;
    T value{};
  };
  struct Store {
    std::vector<Slot> slots;
    uint32_t epoch = 0;
  };
  static std::vector<std::unique_ptr<Store>>& stockOfThread() {
    static thread_local std::vector<std::unique_ptr<Store>> stock;
    return stock;
  }
  std::unique_ptr<Store> store_;
};

} // namespace uopscope
