// Asynchronous products: a tensor core that reads shared memory itself (shared_operand.h) begins a WMMA, and its threads go
// on. How a program says where registers are handed to the core, and where it waits.
//
//   beginProducts(effects)         BARRIER "begin products": what a thread wrote to its registers, products may add to
//   waitForProducts(effects, 1)    BARRIER "products 1": the products that the thread began since the last one are a
//                                  group; the thread waits until at most one of its groups is under way
//   waitForAllProducts(effects)    BARRIER "all products": it waits until none of its groups is
//
// They concern their own thread alone. While a product is under way, nobody may write what it reads from shared memory, and
// nobody but a further product may touch the registers that it adds to. What threads copied to shared memory is seen
// by the core behind a barrier that shows it (barrierForCopies with `forUnits`). The interpreter checks all of it.
#pragma once
#include "engine/uop/uop.h"

#include <fmt/format.h>

#include <optional>

namespace uopscope {

/// Steps whose products may be under way while the next step begins its own; a kernel may wait for all in each step.
constexpr int64_t kProductsAhead = 1;

inline bool beginsProducts(UOp u) {
  return u.is(Op::BARRIER) && u.arg().kind() == ArgKind::String && u.arg().str() == "begin products";
}
/// The groups of products that may still be under way behind a BARRIER; no value for one that waits for no product.
inline std::optional<int64_t> productsLeft(UOp u) {
  constexpr std::string_view kWord = "products ";
  if (!u.is(Op::BARRIER) || u.arg().kind() != ArgKind::String || !u.arg().str().starts_with(kWord)) return {};
  return u.arg().str()[kWord.size()] - '0';
}

inline bool waitsForAllProducts(UOp u) {
  return u.is(Op::BARRIER) && u.arg().kind() == ArgKind::String && u.arg().str() == "all products";
}

inline UOp beginProducts(const std::vector<UOp>& after) {
  return UOp::make(Op::BARRIER, dtypes::void_, after, Arg::of("begin products"));
}
inline UOp waitForProducts(const std::vector<UOp>& after, int64_t left) {
  return UOp::make(Op::BARRIER, dtypes::void_, after, Arg::of(fmt::format("products {}", left)));
}
inline UOp waitForAllProducts(const std::vector<UOp>& after) {
  return UOp::make(Op::BARRIER, dtypes::void_, after, Arg::of("all products"));
}

} // namespace uopscope
