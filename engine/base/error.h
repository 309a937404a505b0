// The one exception type of the project. A message names the fault, its place and the remedy; the kind
// decides which Python exception a script sees and which exit code the command line gives.
//
//   throw Error(ErrorKind::Shape, fmt::format("cannot broadcast {} with {}", a, b));
#pragma once
#include <stdexcept>
#include <string>

namespace uopscope {

enum class ErrorKind {
  Runtime,    ///< RuntimeError in Python
  Value,      ///< ValueError: an argument's value does not fit
  Type,       ///< TypeError: an argument's type does not fit
  Index,      ///< IndexError
  Key,        ///< KeyError
  Shape,      ///< ValueError, about shapes
  Compile,    ///< a kernel does not lower, render or compile
  Device,     ///< unknown or absent device
  Rewrite,    ///< a rule failed or rewriting does not end
  Spec,       ///< a graph is not valid
  File,       ///< a file is missing, truncated, foreign or newer
  Unsupported ///< NotImplementedError: known, and not supported here
};

class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

private:
  ErrorKind kind_;
};

} // namespace uopscope
