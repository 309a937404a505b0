// Makes placeholders, and the error for a placeholder that is about to be computed.
#include "engine/tensor/placeholder.h"

#include "engine/base/engine_session.h"
#include "engine/tensor/operation_scope.h"
#include "engine/uop/sint.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {
const char* const kTag = "placeholder";
struct Placeholders {
  bool anyMade = false; ///< a session without placeholders searches no graph
};
Placeholders& placeholders() {
  return EngineSession::current().part<Placeholders>();
}
} // namespace

UOp newPlaceholder(const Shape& shape, DType dtype, const std::string& device) {
  Sint size = prod(shape);
  if (!size.isInt())
    fail(ErrorKind::Shape,
         fmt::format("an argument of the symbolic shape {} cannot be transformed: give it a "
                     "shape of numbers",
                     shapeStr(shape)));
  placeholders().anyMade = true;
  return newBuffer(device, dtype, size.i()).withTag(Arg::of(kTag));
}

bool isPlaceholder(UOp u) {
  return u.is(Op::BUFFER) && u.tag() == Arg::of(kTag);
}

bool dependsOnPlaceholder(UOp u) {
  if (!placeholders().anyMade) return false;
  std::vector<UOp> order = u.toposort();
  return std::any_of(order.begin(), order.end(), isPlaceholder);
}

void refusePlaceholders(std::span<const UOp> roots) {
  if (!placeholders().anyMade) return;
  for (UOp u : UOp::sink(roots).toposort())
    if (isPlaceholder(u))
      fail(ErrorKind::Runtime,
           fmt::format(
               "a value of shape {} is asked for that depends on an argument of a function under a transform "
               "(vmap, grad, jvp ...). Such arguments have shapes and no values: choose with where() instead "
               "of "
               "if, assign nothing, and keep no tensor of the function beyond its end",
               u.arg().i()));
}

} // namespace uopscope
