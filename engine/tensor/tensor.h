// Tensor: a lazy array. Every operation adds nodes to the tensor graph; realize() computes them.
//
//   Tensor::manualSeed(0);
//   Tensor x = Tensor::rand({4, 8}), w = Tensor::rand({8, 2});
//   Tensor y = x.matmul(w).relu();
//   std::vector<float> values = y.values<float>();      // realizes
//
// A Tensor is a handle: copies share one state, as in Python. A state may come to stand for a different node:
// realize() makes it the buffer that was computed, assign() a new value. Names, arguments and results follow
// the reference's Tensor (`log_softmax` is logSoftmax here). Errors name the operation, the shapes and the
// script's line.
//
// Files: tensor.cpp the handle, creation.cpp, random.cpp, movement.cpp, elementwise.cpp, activation.cpp,
// reduce.cpp, indexing.cpp, matmul.cpp, pooling.cpp, loss.cpp, sorting.cpp, linalg.cpp, hashing.cpp,
// multi.cpp, rearrange.cpp, gradient.cpp, realize.cpp; jit.h replays functions of tensors.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/schedule/schedule.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/operation_scope.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace uopscope {

class Tensor;
struct HostAction;

/// Whether a tensor takes part in backward(). An optimizer sets it to true where it is unset.
using RequiresGrad = std::optional<bool>;
/// The axes of a reduction; none means all.
using Axes = std::optional<std::vector<int64_t>>;
using Ints = std::vector<int64_t>;

struct TensorOptions {
  std::optional<std::string> device;
  std::optional<DType> dtype;
  RequiresGrad requiresGrad;
};

/// The second operand of an operation: a tensor, a number, or a symbolic integer.
class Operand;

/// One entry of an index, see Tensor::get.
struct Index;

enum class Reduction { Mean, Sum, None };

class Tensor {
public:
  struct State;

  Tensor() = default;
  explicit Tensor(std::shared_ptr<State> state) : state_(std::move(state)) {}
  /// Wraps a node of the tensor pool and reports it as made by the current operation.
  static Tensor fromUOp(UOp uop, RequiresGrad requiresGrad = {});
  /// The same; a view of a buffer becomes a name of that memory.
  static Tensor named(UOp uop, RequiresGrad requiresGrad = {});

  explicit operator bool() const { return state_ != nullptr; }
  const std::shared_ptr<State>& state() const { return state_; }
  bool sameAs(const Tensor& o) const { return state_ == o.state_; }

  UOp uop() const;
  DType dtype() const { return uop().dtype(); }
  const Shape& shape() const { return uop().shape(); }
  /// The shape as numbers, and the length of one axis. They throw Error(Shape) for what is symbolic.
  Ints intShape() const;
  int64_t intDim(size_t axis) const;
  int64_t ndim() const { return static_cast<int64_t>(shape().size()); }
  std::string device() const;
  Sint numel() const { return uopscope::prod(shape()); }
  int64_t intNumel() const;
  bool isFloat() const { return dtype().isFloat(); }
  RequiresGrad requiresGrad() const;
  Tensor setRequiresGrad(RequiresGrad value = true) const;
  Tensor grad() const;
  void setGrad(const Tensor& grad) const;
  std::string str() const;

  // --- creation (creation.cpp) ---
  static Tensor scalar(ConstValue value, const TensorOptions& o = {}, bool unique = false);
  /// Values in row-major order. `bytes` has as many elements of o.dtype as the shape.
  static Tensor fromBytes(const void* bytes, const Ints& shape, DType dtype, const TensorOptions& o = {});
  static Tensor fromDoubles(const std::vector<double>& values, const Ints& shape,
                            const TensorOptions& o = {});
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Ints& shape, const TensorOptions& o = {});
  static Tensor empty(const Shape& shape, const TensorOptions& o = {});
  /// The bytes of a file on the device "DISK:/path"; they are read when used.
  static Tensor fromFile(const std::string& path);
  /// The same memory with a different type; an empty handle if the values are not contiguous in a buffer.
  /// Only for memory that does not change: it may or may not see later assignments.
  Tensor memoryView(DType as) const;
  static Tensor full(const Shape& shape, ConstValue value, const TensorOptions& o = {});
  static Tensor zeros(const Shape& shape, const TensorOptions& o = {});
  static Tensor ones(const Shape& shape, const TensorOptions& o = {});
  static Tensor arange(ConstValue start, ConstValue stop, ConstValue step, const TensorOptions& o = {});
  static Tensor arange(int64_t n, const TensorOptions& o = {});
  static Tensor linspace(double start, double stop, int64_t steps, const TensorOptions& o = {});
  static Tensor eye(int64_t n, std::optional<int64_t> m = {}, const TensorOptions& o = {});
  Tensor fullLike(ConstValue value, TensorOptions o = {}) const;

  // --- random numbers (random.cpp): the reference's streams, equal seed gives equal numbers ---
  static void manualSeed(int64_t seed);
  /// The work of a replay before a captured draw: writes the position of the stream to `at` and advances it
  /// by so many words.
  static HostAction drawAgain(const std::string& device, int64_t words, std::shared_ptr<Buffer> at);
  static Tensor rand(const Ints& shape, const TensorOptions& o = {}, bool contiguous = true);
  static Tensor randn(const Ints& shape, const TensorOptions& o = {});
  Tensor randLike(TensorOptions o = {}, bool contiguous = true) const;
  Tensor randnLike(TensorOptions o = {}) const;
  static Tensor uniform(const Ints& shape, ConstValue low, ConstValue high, const TensorOptions& o = {});
  static Tensor normal(const Ints& shape, double mean, double std, const TensorOptions& o = {});
  static Tensor randint(const Ints& shape, int64_t low, int64_t high, const TensorOptions& o = {});
  static Tensor randperm(int64_t n, const TensorOptions& o = {});
  static Tensor scaledUniform(const Ints& shape, const TensorOptions& o = {});
  static Tensor glorotUniform(const Ints& shape, const TensorOptions& o = {});
  static Tensor kaimingUniform(const Ints& shape, double a = 0.01, const TensorOptions& o = {});
  static Tensor kaimingNormal(const Ints& shape, double a = 0.01, const TensorOptions& o = {});
  Tensor multinomial(int64_t samples = 1, bool replacement = false) const;
  Tensor dropout(double p = 0.5) const;

  // --- movement (movement.cpp) ---
  Tensor reshape(Shape shape) const; ///< one -1 is inferred
  Tensor expand(Shape shape) const;  ///< -1 keeps
  Tensor broadcastTo(const Shape& shape) const;
  Tensor permute(Ints order) const;
  Tensor transpose(int64_t a = 1, int64_t b = 0) const;
  Tensor flip(Ints axes) const;
  Tensor shrink(const std::vector<std::optional<std::pair<Sint, Sint>>>& bounds) const;
  Tensor shrinkTo(const std::vector<std::optional<Sint>>& sizes) const;
  /// Amounts per axis, first axis first. Negative amounts shrink.
  Tensor pad(const Bounds& amounts, ConstValue value = ConstValue::ofFloat(0)) const;
  Tensor padMode(const Bounds& amounts, const std::string& mode, ConstValue value) const;
  Tensor padTo(const std::vector<std::optional<Sint>>& sizes) const;
  Tensor squeeze(std::optional<int64_t> dim = {}) const;
  Tensor unsqueeze(int64_t dim) const;
  /// "b (h w) c -> b h w c": names, groups in brackets, 1 and () for axes of size one, `...`; `sizes` for
  /// groups that are split.
  Tensor rearrange(const std::string& formula,
                   const std::vector<std::pair<std::string, int64_t>>& sizes = {}) const;
  Tensor flatten(int64_t start = 0, int64_t end = -1) const;
  Tensor unflatten(int64_t dim, const Shape& sizes) const;
  Tensor repeat(Ints repeats) const;
  Tensor repeatInterleave(int64_t repeats, std::optional<int64_t> dim = {}) const;
  static Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0);
  static Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0);
  std::vector<Tensor> split(const Ints& sizes, int64_t dim = 0) const;
  std::vector<Tensor> splitEvery(int64_t size, int64_t dim = 0) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
  Tensor unfold(int64_t dim, int64_t size, int64_t step) const;
  static std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing = "ij");
  Tensor diag() const;
  /// The elements of two axes for which the index of dim2 is the index of dim1 plus offset. They become the
  /// last axis.
  Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  Tensor roll(const Ints& shifts, const std::optional<Ints>& dims = {}) const;
  Tensor tril(int64_t diagonal = 0) const;
  Tensor triu(int64_t diagonal = 0) const;
  /// The windows of the last axes: (..., outputs..., kernel...). `bySteps`: windows that overlap by whole steps are made of steps, so
  /// that their gradient is a short sum. A convolution needs none: its gradient is read off the indices of single elements.
  Tensor pool(const Ints& kernel, const Ints& stride, const Ints& dilation, bool bySteps = true) const;
  Tensor contiguous() const;
  Tensor contiguousBackward() const;
  Tensor detach() const;
  Tensor clone() const;
  Tensor to(const std::string& device) const;
  /// The axis that dim, which may count from the end, names; 0 or -1 of a number is accepted, and stays so.
  int64_t resolveDim(int64_t dim, bool extra = false) const;
  /// The same as an index into shape(): a number, which has no axis, is an IndexError.
  size_t resolveAxis(int64_t dim) const;

  // --- elementwise (elementwise.cpp) ---
  Tensor cast(DType dtype) const;
  Tensor bitcast(DType dtype) const;
  Tensor add(const Operand& x, bool reverse = false) const;
  Tensor sub(const Operand& x, bool reverse = false) const;
  Tensor mul(const Operand& x, bool reverse = false) const;
  Tensor div(const Operand& x, bool reverse = false, const std::string& rounding = "") const;
  Tensor idiv(const Operand& x, bool reverse = false) const; ///< rounds towards zero
  Tensor mod(const Operand& x, bool reverse = false) const;  ///< has the sign of the divisor
  Tensor pow(const Operand& x, bool reverse = false) const;
  Tensor maximum(const Operand& x) const;
  Tensor minimum(const Operand& x) const;
  Tensor bitAnd(const Operand& x, bool reverse = false) const;
  Tensor bitOr(const Operand& x, bool reverse = false) const;
  Tensor bitXor(const Operand& x, bool reverse = false) const;
  Tensor bitNot() const;
  Tensor lshift(int64_t n) const;
  Tensor rshift(int64_t n) const;
  Tensor lt(const Operand& x) const;
  Tensor gt(const Operand& x) const;
  Tensor le(const Operand& x) const;
  Tensor ge(const Operand& x) const;
  Tensor ne(const Operand& x) const;
  Tensor eq(const Operand& x) const;
  Tensor logicalNot() const;
  Tensor neg() const;
  Tensor where(const Operand& x, const Operand& y) const;
  Tensor reciprocal() const;
  Tensor sqrt() const;
  Tensor rsqrt() const;
  Tensor exp() const;
  Tensor exp2() const;
  Tensor log() const;
  Tensor log2() const;
  Tensor log10() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tan() const;
  Tensor trunc() const;
  Tensor floor() const;
  Tensor ceil() const;
  Tensor round() const;
  Tensor abs() const;
  Tensor sign() const;
  Tensor square() const;
  Tensor clamp(const std::optional<Operand>& low, const std::optional<Operand>& high) const;
  Tensor isnan() const;
  Tensor isinf(bool positive = true, bool negative = true) const;
  Tensor isfinite() const;
  Tensor isclose(const Tensor& o, double rtol = 1e-5, double atol = 1e-8, bool equalNan = false) const;
  Tensor lerp(const Tensor& end, const Operand& weight) const;
  Tensor copysign(const Operand& o) const;
  Tensor logaddexp(const Operand& o) const;
  Tensor threefry(const Tensor& key) const;
  /// The operation on operands of the same shape and type, without conversion.
  Tensor alu(Op op, const std::vector<Tensor>& others) const;

  // --- functions of one argument (activation.cpp) ---
  Tensor relu() const;
  Tensor relu6() const;
  Tensor sigmoid() const;
  Tensor tanh() const;
  Tensor gelu() const;
  Tensor quickGelu() const;
  Tensor silu() const;
  Tensor elu(double alpha = 1.0) const;
  Tensor celu(double alpha = 1.0) const;
  Tensor selu(double alpha = 1.67326, double gamma = 1.0507) const;
  Tensor mish() const;
  Tensor softplus(double beta = 1.0) const;
  Tensor softsign() const;
  Tensor logsigmoid() const;
  Tensor hardsigmoid(double alpha = 1.0 / 6, double beta = 0.5) const;
  Tensor hardswish() const;
  Tensor hardtanh(double low = -1, double high = 1) const;
  Tensor leakyRelu(double slope = 0.01) const;
  Tensor asin() const;
  Tensor acos() const;
  Tensor atan() const;
  Tensor sinh() const;
  Tensor cosh() const;
  Tensor asinh() const;
  Tensor acosh() const;
  Tensor atanh() const;
  Tensor erf() const;

  // --- reductions (reduce.cpp) ---
  Tensor sum(const Axes& axes = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor prod(const Axes& axes = {}, bool keepdim = false, std::optional<DType> dtype = {}) const;
  Tensor max(const Axes& axes = {}, bool keepdim = false) const;
  Tensor min(const Axes& axes = {}, bool keepdim = false) const;
  Tensor mean(const Axes& axes = {}, bool keepdim = false) const;
  Tensor var(const Axes& axes = {}, bool keepdim = false, int64_t correction = 1) const;
  Tensor std(const Axes& axes = {}, bool keepdim = false, int64_t correction = 1) const;
  Tensor any(const Axes& axes = {}, bool keepdim = false) const;
  Tensor all(const Axes& axes = {}, bool keepdim = false) const;
  Tensor softmax(int64_t axis = -1, std::optional<DType> dtype = {}) const;
  Tensor logSoftmax(int64_t axis = -1, std::optional<DType> dtype = {}) const;
  Tensor logsumexp(const Axes& axes = {}, bool keepdim = false) const;
  Tensor logcumsumexp(int64_t axis = 0) const;
  Tensor argmax(std::optional<int64_t> axis = {}, bool keepdim = false) const;
  Tensor argmin(std::optional<int64_t> axis = {}, bool keepdim = false) const;
  Tensor cumsum(int64_t axis = 0) const;
  Tensor cumprod(int64_t axis = 0) const;
  /// The running maximum, and its first position.
  std::pair<Tensor, Tensor> cummax(int64_t axis = 0) const;
  std::pair<Tensor, Tensor> cummin(int64_t axis = 0) const;
  Tensor layernorm(const Ints& axes = {-1}, double eps = 1e-5) const;
  Tensor batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd,
                   const Ints& axes = {1}) const;

  // --- products, convolution, pooling (matmul.cpp, pooling.cpp) ---
  Tensor dot(const Tensor& w, std::optional<DType> dtype = {}) const;
  Tensor matmul(const Tensor& w, bool reverse = false, std::optional<DType> dtype = {}) const;
  Tensor linear(const Tensor& weight, const Tensor& bias = {}, std::optional<DType> dtype = {}) const;
  static Tensor einsum(const std::string& formula, const std::vector<Tensor>& operands,
                       std::optional<DType> dtype = {});
  Tensor conv2d(const Tensor& weight, const Tensor& bias = {}, int64_t groups = 1, const Ints& stride = {1},
                const Ints& dilation = {1}, const Ints& padding = {0}, std::optional<DType> dtype = {}) const;
  Tensor convTranspose2d(const Tensor& weight, const Tensor& bias = {}, int64_t groups = 1,
                         const Ints& stride = {1}, const Ints& dilation = {1}, const Ints& padding = {0},
                         const Ints& outputPadding = {0}) const;
  Tensor scaledDotProductAttention(const Tensor& key, const Tensor& value, const Tensor& mask = {},
                                   double dropoutP = 0, bool causal = false, bool gqa = false) const;
  Tensor avgPool2d(const Ints& kernel = {2, 2}, const Ints& stride = {}, const Ints& dilation = {1},
                   const Ints& padding = {0}, bool ceilMode = false, bool countIncludePad = true) const;
  /// The values, and their positions if asked for.
  std::pair<Tensor, Tensor> maxPool2d(const Ints& kernel = {2, 2}, const Ints& stride = {},
                                      const Ints& dilation = {1}, const Ints& padding = {0},
                                      bool ceilMode = false, bool indices = false) const;
  /// Puts values back at the positions given by maxPool2d. The output size follows from the window, or is
  /// given.
  Tensor maxUnpool2d(const Tensor& indices, const Ints& kernel = {2, 2}, const Ints& stride = {},
                     const Ints& dilation = {1}, const Ints& padding = {0},
                     const Ints& outputSize = {}) const;
  Tensor interpolate(const Ints& size, const std::string& mode = "linear", bool alignCorners = false) const;

  // --- losses (loss.cpp) ---
  Tensor reduceLoss(Reduction r) const;
  Tensor binaryCrossentropy(const Tensor& y, Reduction r = Reduction::Mean) const;
  Tensor binaryCrossentropyLogits(const Tensor& y, Reduction r = Reduction::Mean,
                                  const Tensor& posWeight = {}) const;
  Tensor sparseCategoricalCrossentropy(const Tensor& y, int64_t ignoreIndex = -1, double smoothing = 0,
                                       Reduction r = Reduction::Mean) const;
  Tensor crossEntropy(const Tensor& y, Reduction r = Reduction::Mean, double smoothing = 0) const;
  Tensor nllLoss(const Tensor& y, const Tensor& weight = {}, std::optional<int64_t> ignoreIndex = {},
                 Reduction r = Reduction::Mean) const;

  // --- indexing (indexing.cpp) ---
  Tensor get(std::vector<Index> indices) const;
  void set(std::vector<Index> indices, const Operand& value) const;
  Tensor gather(int64_t dim, const Tensor& index) const;
  Tensor scatter(int64_t dim, const Tensor& index, const Operand& src, const std::string& reduce = "") const;
  Tensor scatterReduce(int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce,
                       bool includeSelf = true) const;
  Tensor oneHot(int64_t classes = -1) const;
  Tensor oneHotAlong(const Sint& classes, int64_t dim = -1) const;
  Tensor maskedSelect(const Tensor& mask) const;
  /// The positions of the nonzero elements: one row each, one column per axis. Realizes.
  Tensor nonzero() const;
  /// The sorted values, and their positions before sorting.
  std::pair<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
  std::pair<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true) const;

  // --- matrices (linalg.cpp) ---
  /// Q (orthogonal) and R (upper triangular) of the last two axes, by Householder reflections.
  std::pair<Tensor, Tensor> qr() const;
  struct Svd;
  /// U, S (descending) and V transposed of the last two axes, by one-sided Jacobi rotations.
  Svd svd(bool fullMatrices = true) const;
  /// A matrix closer to an orthogonal one: applies a polynomial in x xT `steps` times.
  Tensor newtonSchulz(int64_t steps, const std::vector<double>& params, double eps = 1e-7) const;

  // --- hashes (hashing.cpp) ---
  /// Keccak of the bytes along the last axis: "sha3_224", "sha3_256", "shake_128".
  Tensor keccak(const std::string& kind = "sha3_256") const;
  Tensor keccak(int64_t rate, int64_t suffix) const;
  /// 16 bytes: the root of a tree of shake_128 over chunks of a mebibyte.
  Tensor hash() const;

  // --- several devices (multi.cpp) ---
  /// Its device names: one, or one per shard.
  std::vector<std::string> devices() const;
  /// The axis that is split over the devices; none if each device has the whole tensor.
  std::optional<int64_t> shardAxis() const;
  /// Splits the tensor over devices along an axis, or copies it to each device.
  Tensor shard(const std::vector<std::string>& devices, std::optional<int64_t> axis = {}) const;
  Tensor shardLike(const Tensor& other) const;

  // --- state, computation, gradient (tensor.cpp, realize.cpp, gradient.cpp) ---
  Tensor replace(const Tensor& x, bool allowShapeMismatch = false) const;
  Tensor assign(const Operand& x) const;
  Tensor realize() const;
  static void realize(const std::vector<Tensor>& tensors);
  static Schedule schedule(const std::vector<Tensor>& tensors);
  /// Realizes and reads one element, or all elements in row-major order in the tensor's type.
  ConstValue item() const;
  std::vector<std::byte> bytes() const;
  std::shared_ptr<Buffer> buffer() const;
  template <typename T>
  std::vector<T> values() const;
  std::vector<double> doubles() const;
  std::vector<Tensor> gradient(const std::vector<Tensor>& targets, const Tensor& seed = {},
                               bool materialize = false) const;
  Tensor backward(const Tensor& seed = {}) const;

  /// Whether dropout and batch norm of this session work as in training (Tensor.training).
  static bool& training();
  /// Every live tensor, oldest first.
  static std::vector<Tensor> live();

private:
  friend struct TensorMaker;
  Tensor apply(UOp result, std::initializer_list<Tensor> others = {}) const;
  Tensor inMemory() const; ///< for a tensor on DISK the part of the file; else the tensor itself
  void writeToFile(const Tensor& values) const;
  void assignWhole(const Tensor& x) const;
  void assignNamed(const Tensor& x) const;
  Tensor unary(Op op) const;
  Tensor unaryFloat(Op op) const;
  Tensor binary(Op op, const Operand& x, bool reverse) const;
  Tensor reduce(Op op, const Axes& axes, bool keepdim) const;
  Tensor inverse() const;
  Tensor cumulate(int64_t axis, Op op) const;
  Tensor splitCumulate(int64_t axis, Op op) const;
  Tensor logSums() const;      ///< logcumsumexp along the last axis
  Tensor finiteOrZero() const; ///< 0 for infinities: a largest value to subtract from exponents
  Tensor getOrSet(std::vector<Index> indices, const Tensor& value) const;
  std::pair<Tensor, Tensor> preScatter(int64_t dim, const Tensor& index, const Tensor& src) const;
  std::vector<int64_t> resolveAxes(const Axes& axes) const;
  Ints poolPads(const Ints& padding, size_t dims) const;
  Ints ceilPads(const Ints& pads, const Ints& kernel, const Ints& stride, const Ints& dilation) const;
  Tensor padFlat(const Ints& pads, ConstValue value) const;

  std::shared_ptr<State> state_;
};

struct Tensor::Svd {
  Tensor u, s, v;
};

class Operand {
public:
  Operand(const Tensor& t) : tensor_(t) {}
  Operand(ConstValue v) : value_(v) {}
  Operand(bool v) : value_(ConstValue::ofBool(v)) {}
  Operand(int v) : value_(ConstValue::ofInt(v)) {}
  Operand(int64_t v) : value_(ConstValue::ofInt(v)) {}
  Operand(double v) : value_(ConstValue::ofFloat(v)) {}
  Operand(const Sint& s) {
    if (s.isInt())
      value_ = ConstValue::ofInt(s.i());
    else
      uop_ = s.uop();
  }
  bool isTensor() const { return static_cast<bool>(tensor_); }
  bool isUOp() const { return static_cast<bool>(uop_); }
  const Tensor& tensor() const { return tensor_; }
  ConstValue value() const { return value_; }
  UOp uop() const { return uop_; }

private:
  Tensor tensor_;
  ConstValue value_;
  UOp uop_;
};

struct Index {
  enum class Kind { Int, Slice, NewAxis, Ellipsis, Tensor } kind = Kind::Int;
  Sint at = 0;                     ///< for Int
  std::optional<Sint> start, stop; ///< for Slice
  int64_t step = 1;                ///< for Slice
  uopscope::Tensor tensor;         ///< for Tensor
  static Index of(Sint i) { return {Kind::Int, i, {}, {}, 1, {}}; }
  static Index slice(std::optional<Sint> start, std::optional<Sint> stop, int64_t step = 1) {
    return {Kind::Slice, 0, start, stop, step, {}};
  }
  static Index all() { return slice({}, {}); }
  static Index newAxis() { return {Kind::NewAxis, 0, {}, {}, 1, {}}; }
  static Index ellipsis() { return {Kind::Ellipsis, 0, {}, {}, 1, {}}; }
  static Index of(const uopscope::Tensor& t) { return {Kind::Tensor, 0, {}, {}, 1, t}; }
};

/// Both operands, converted to one type and shape.
struct Broadcasted {
  Tensor x, y;
};
Broadcasted broadcasted(const Tensor& x, const Operand& y, bool reverse = false, bool matchDtype = true);

/// The type in which sums of this type are computed.
DType sumAccDtype(DType d);
/// The smallest and the largest value of a type; infinities for floats.
ConstValue dtypeMin(DType d);
ConstValue dtypeMax(DType d);
/// The dtype that Python gives to a literal with this value.
DType dtypeOf(ConstValue v);

inline Tensor operator+(const Tensor& a, const Operand& b) {
  return a.add(b);
}
inline Tensor operator-(const Tensor& a, const Operand& b) {
  return a.sub(b);
}
inline Tensor operator*(const Tensor& a, const Operand& b) {
  return a.mul(b);
}
inline Tensor operator/(const Tensor& a, const Operand& b) {
  return a.div(b);
}
inline Tensor operator-(const Tensor& a) {
  return a.neg();
}

extern template Tensor Tensor::from<float>(const std::vector<float>&, const Ints&, const TensorOptions&);
extern template Tensor Tensor::from<double>(const std::vector<double>&, const Ints&, const TensorOptions&);
extern template Tensor Tensor::from<int32_t>(const std::vector<int32_t>&, const Ints&, const TensorOptions&);
extern template Tensor Tensor::from<int64_t>(const std::vector<int64_t>&, const Ints&, const TensorOptions&);
extern template std::vector<float> Tensor::values<float>() const;
extern template std::vector<double> Tensor::values<double>() const;
extern template std::vector<int32_t> Tensor::values<int32_t>() const;
extern template std::vector<int64_t> Tensor::values<int64_t>() const;
extern template std::vector<uint8_t> Tensor::values<uint8_t>() const;

} // namespace uopscope
