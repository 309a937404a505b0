// Which operation of the model script is at work, and on which line: every public operation of Tensor opens a
// scope, the outermost one counts. Nodes made inside are reported with it, and error messages name it.
//
//   Tensor Tensor::relu() const {
//     OperationScope op("relu");          // also makes the tensor pool the current one
//     return fromUOp(...);
//   }
//
// Invariant: the script's line is looked up once per outermost scope, and only when somebody wants to know.
#pragma once
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/uop/uop.h"

#include <string>

namespace uopscope {

/// The pool that Python and C++ tensors build in.
Pool& tensorPool();

/// Finds the line of the model script that is running; set by the Python binding. Views it returns stay
/// valid.
using ScriptLocator = SourceLocation (*)();
void setScriptLocator(ScriptLocator locator);
/// The line of the script that is running now, empty where unknown.
SourceLocation scriptLocation();

class OperationScope {
public:
  /// `name` must live as long as the process (a literal).
  explicit OperationScope(const char* name);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

  /// The outermost operation at work on this thread, null if none.
  static const char* current();
  /// Reports a node made in the current scope (nodes that existed before keep their origin).
  static void made(UOp node);
  /// Reports every node below `root` that the current scope made.
  static void madeGraph(UOp root);

private:
  PoolScope pool_;
  bool outermost_;
};

/// Throws an Error whose message names the operation at work and the line of the script.
[[noreturn]] void fail(ErrorKind kind, const std::string& message);

} // namespace uopscope
