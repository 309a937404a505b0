// Direct evaluation of a tensor graph, element by element, without a schedule, kernels or rules. A
// compilation of the graph must give the same values.
//
//   TensorValues values;
//   const std::vector<ConstValue>& v = values.of(y.uop());     // in row order
//
// All shapes must be numbers. Buffers are read at first use. Throws Error(Unsupported) for a node that has no
// value here.
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
