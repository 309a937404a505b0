// The current operation of the model script, and its line. Every public operation of Tensor opens a scope;
// the outermost one counts. Nodes made inside are reported with it, and error messages name it.
//
//   Tensor Tensor::relu() const {
//     OperationScope op("relu");          // also makes the tensor pool the current one
//     return fromUOp(...);
//   }
//
// Invariant: the line of the script is looked up at most once per outermost scope, and only if it is needed.
#pragma once
#include "engine/base/error.h"
#include "engine/rewrite/observer.h"
#include "engine/uop/uop.h"

#include <string>

namespace uopscope {

/// The pool in which Python and C++ tensors are built.
Pool& tensorPool();

/// A function that finds the current line of the model script; the Python binding sets it. The views it
/// returns stay valid.
using ScriptLocator = SourceLocation (*)();
void setScriptLocator(ScriptLocator locator);
/// The current line of the script; empty if it is unknown.
SourceLocation scriptLocation();

class OperationScope {
public:
  /// `name` must live as long as the process (a literal).
  explicit OperationScope(const char* name);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

  /// The outermost operation on this thread; null if there is none.
  static const char* current();
  /// Reports a node made in the current scope. A node that existed before keeps its origin.
  static void made(UOp node);
  /// Reports every node below `root` that was made since `from`, a Pool::nextId(); below a node that is older it does not look.
  /// A scope that makes a graph in steps calls it for each, so that a node is visited once.
  static void madeGraph(UOp root, uint32_t from);

private:
  PoolScope pool_;
  bool outermost_;
};

/// Throws an Error whose message names the current operation and the line of the script.
[[noreturn]] void fail(ErrorKind kind, const std::string& message);

} // namespace uopscope
