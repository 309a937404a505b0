// A tensor graph computed as it stands, element by element: no schedule, no kernel, no rule. What the
// compiler makes of the same graph must come out the same.
//
//   TensorValues values;
//   const std::vector<ConstValue>& v = values.of(y.uop());     // in row order
//
// Shapes are numbers. Buffers are read when first asked for. Throws Error(Unsupported) for a node without a value
// here.
#pragma once
#include "engine/uop/uop.h"

#include <vector>

namespace uopscope::prove {

class TensorValues {
public:
  using Values = std::vector<ConstValue>;
  const Values& of(UOp u);

private:
  Values compute(UOp u);
  Values moved(UOp u);
  Values reduced(UOp u);
  Values elementwise(UOp u);

  UOpMap<Values> known_;
};

} // namespace uopscope::prove
