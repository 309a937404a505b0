// The handle: its state, the list of live tensors, and questions to a tensor that compute nothing.
#include "engine/tensor/tensor.h"

#include "engine/base/engine_session.h"
#include "engine/runtime/device.h"
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/old_contents.h"
#include "engine/tensor/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace uopscope {

namespace {

struct Training {
  bool on = false;
};

LiveTensors& liveTensors() {
  return EngineSession::current().part<LiveTensors>();
}

} // namespace

bool& Tensor::training() {
  return EngineSession::current().part<Training>().on;
}

uint64_t tensorClock() {
  return liveTensors().clock;
}

Tensor::State::State(UOp u, RequiresGrad g)
    : uop(u), requiresGrad(g), live(liveTensors()), born(++live.clock), changed(born) {
  before = live.last;
  (before ? before->after : live.first) = this;
  live.last = this;
}

Tensor::State::~State() {
  leaveNames();
  (before ? before->after : live.first) = after;
  (after ? after->before : live.last) = before;
}

void Tensor::State::become(UOp u) {
  if (uop.get() == u) return;
  uop = u;
  changed = ++live.clock;
}
void Tensor::State::joinNames(State& of) {
  const bool repeats = isSpread || of.isSpread;
  leaveNames();
  isSpread = repeats;
  isStoredOnce = isStoredOnce || of.isStoredOnce;
  mayShare = of.mayShare; // a view of a copy outlives the tensor that was made as the copy
  nextName = of.nextName;
  previousName = &of;
  nextName->previousName = of.nextName = this;
}
void Tensor::State::leaveNames() {
  previousName->nextName = nextName;
  nextName->previousName = previousName;
  previousName = nextName = this;
  isSpread = false;
}

namespace {

/// The BUFFERs that a tensor of this node lies in, or will lie in once it is assigned: one for each device.
std::vector<UOp> buffersUnder(UOp u) {
  u = graph::viewed(u);
  while (u.is(Op::ASSIGN)) u = graph::viewed(u.src(0));
  if (u.is(Op::BUFFER)) return {u};
  std::vector<UOp> all;
  if (u.is(Op::MULTI))
    for (UOp part : u.src(0).src())
      for (UOp b : buffersUnder(part)) all.push_back(b);
  return all;
}

bool contains(const std::vector<UOp>& all, UOp u) {
  return std::find(all.begin(), all.end(), u) != all.end();
}

} // namespace

void Tensor::State::leaveSharedBuffer() {
  bool may = false;
  std::vector<const State*> names;
  forEachName([&](State& s) {
    may = may || s.mayShare;
    s.mayShare = false;
    names.push_back(&s);
  });
  if (!may) return;
  UOpMap<UOp> apart;
  for (UOp buffer : buffersUnder(uop)) {
    if (buffer.arg().i() == 0) continue; // nobody reads it, and a copy would be no memory but a constant
    bool shared = false;
    forEachTensor([&](State& s) {
      shared = shared || (contains(buffersUnder(s.uop), buffer) &&
                          std::find(names.begin(), names.end(), &s) == names.end());
    });
    if (shared) apart[buffer] = UOp::make(Op::CONTIGUOUS, buffer.dtype(), {buffer}, Arg::of("copy"));
  }
  if (!apart.empty()) forEachName([&](State& s) { s.become(UOp(s.uop).substitute(apart)); });
}

void forEachTensor(const std::function<void(Tensor::State&)>& f) {
  for (Tensor::State* s = liveTensors().first; s; s = s->after) f(*s);
}

std::vector<Tensor> Tensor::live() {
  std::vector<Tensor> all;
  forEachTensor([&](State& s) {
    if (auto shared = s.weak_from_this().lock()) all.emplace_back(shared);
  });
  return all;
}

Tensor Tensor::fromUOp(UOp uop, RequiresGrad requiresGrad) {
  OperationScope::made(uop);
  madeInCapture(uop);
  return Tensor(std::make_shared<State>(uop, requiresGrad));
}

UOp Tensor::uop() const {
  if (!state_) throw Error(ErrorKind::Value, "an empty Tensor handle has no value");
  return state_->uop.get();
}

std::string Tensor::device() const {
  std::string d = uop().device();
  return d.empty() ? Device::defaultName() : d;
}

Ints Tensor::intShape() const {
  Ints out;
  for (size_t i = 0; i < shape().size(); ++i) out.push_back(intDim(i));
  return out;
}

int64_t Tensor::intDim(size_t axis) const {
  const Sint& length = shape()[axis];
  if (!length.isInt())
    fail(ErrorKind::Shape, fmt::format("does not support symbolic shape {}", shapeStr(shape())));
  return length.i();
}

int64_t Tensor::intNumel() const {
  int64_t n = 1;
  for (int64_t s : intShape()) n *= s;
  return n;
}

RequiresGrad Tensor::requiresGrad() const {
  return state_->requiresGrad;
}

Tensor Tensor::setRequiresGrad(RequiresGrad value) const {
  OperationScope op("requires_grad_");
  UOp u = uop();
  // Equal constants are one node, which would give all of them the gradient.
  if (value.value_or(false) && u.isConst() && u.srcCount() < 2)
    state_->become(graph::uniqueConstant(u.dtype(), u.constValue(), device()));
  state_->requiresGrad = value;
  return *this;
}

Tensor Tensor::grad() const {
  return Tensor(state_->grad);
}
void Tensor::setGrad(const Tensor& grad) const {
  state_->grad = grad.state_;
}

std::string Tensor::str() const {
  auto named = [](const std::string& device) {
    std::vector<std::string> names = splitDevices(device);
    return names.size() < 2 ? device : fmt::format("('{}')", fmt::join(names, "', '"));
  };
  auto text = [&](UOp u) {
    std::string type = u.dtype().name();
    if (type.starts_with("dtypes.")) type = type.substr(7);
    return fmt::format("<UOp {} {} {}>", named(u.device()), shapeStr(u.shape()), type);
  };
  return fmt::format("<Tensor {} on {} with grad {}>", text(uop()), named(device()),
                     state_->grad ? text(state_->grad->uop) : "None");
}

int64_t Tensor::resolveDim(int64_t dim, bool extra) const {
  int64_t total = ndim() + extra, bound = std::max<int64_t>(1, total);
  if (dim < -bound || dim >= bound)
    fail(ErrorKind::Index,
         fmt::format("dim={} out of range [{}, {}] for shape {}", dim, -bound, bound - 1, shapeStr(shape())));
  return dim < 0 ? dim + total : dim;
}

size_t Tensor::resolveAxis(int64_t dim) const {
  if (ndim() == 0) fail(ErrorKind::Index, fmt::format("dim={} of a tensor without axes", dim));
  return static_cast<size_t>(resolveDim(dim));
}

Tensor Tensor::apply(UOp result, std::initializer_list<Tensor> others) const {
  bool any = state_->requiresGrad.value_or(false), unset = !state_->requiresGrad.has_value();
  for (const Tensor& t : others) {
    any = any || t.state_->requiresGrad.value_or(false);
    unset = unset || !t.state_->requiresGrad.has_value();
  }
  Tensor made = fromUOp(result, any ? RequiresGrad(true) : unset ? RequiresGrad() : RequiresGrad(false));
  if (graph::isView(result, uop())) {
    made.state_->isSpread = graph::repeatsElements(result, uop());
    made.state_->joinNames(*state_);
  }
  return made;
}

/// A value of its own, even if it shares a buffer until one of the two is assigned.
Tensor Tensor::contiguous() const {
  OperationScope op("contiguous");
  Tensor made = fromUOp(graph::contiguous(inMemory().uop()), requiresGrad());
  made.state_->mayShare = true;
  return made;
}

Tensor Tensor::contiguousBackward() const {
  OperationScope op("contiguous_backward");
  return apply(UOp::make(Op::CONTIGUOUS_BACKWARD, dtype(), {uop()}));
}

Tensor Tensor::detach() const {
  OperationScope op("detach");
  Tensor made = fromUOp(graph::detach(uop()), false);
  made.state_->joinNames(*state_);
  return made;
}

Tensor Tensor::clone() const {
  OperationScope op("clone");
  if (devices().size() > 1) { // shard by shard
    realize();
    std::vector<UOp> parts;
    for (UOp part : uop().src(0).src()) parts.push_back(fromUOp(part).clone().uop());
    UOp multi = uop();
    return fromUOp(multi.withSrc({UOp::make(Op::MSTACK, dtype(), parts)}), requiresGrad());
  }
  Tensor out = empty(shape(), {device(), dtype(), {}});
  if (state_->grad) out.state_->grad = grad().clone().state_;
  return out.assign(*this);
}

Tensor Tensor::to(const std::string& where) const {
  OperationScope op("to");
  std::string name = Device::canonicalize(where);
  if (name == device()) return *this;
  if (isFileDevice(name)) { // files are written at once, so that they can be read elsewhere
    Tensor file = empty(shape(), {name, dtype(), state_->requiresGrad});
    file.writeToFile(isFileDevice(device()) ? to(Device::defaultName()) : *this);
    return file;
  }
  Tensor out = apply(graph::copyTo(inMemory().uop(), name));
  out.state_->mayShare = out.devices().size() > 1; // the part on this device may use this buffer
  if (state_->grad) out.state_->grad = grad().to(name).state_;
  return out;
}

Tensor Tensor::replace(const Tensor& x, bool allowShapeMismatch) const {
  if (!allowShapeMismatch && shape() != x.shape())
    fail(ErrorKind::Shape,
         fmt::format("replace shape mismatch {} != {}", shapeStr(shape()), shapeStr(x.shape())));
  if (state_ == x.state_) return *this;
  state_->leaveNames();
  state_->become(x.uop());
  state_->joinNames(*x.state_);
  return *this;
}

Tensor Tensor::named(UOp uop, RequiresGrad requiresGrad) {
  Tensor made = fromUOp(uop, requiresGrad), other;
  UOp memory = graph::viewed(uop);
  if (!memory.is(Op::BUFFER)) return made;
  forEachTensor([&](State& s) {
    if (!other && s.uop.get() != uop && graph::viewed(s.uop) == memory) other = Tensor(s.shared_from_this());
  });
  if (other) made.state_->joinNames(*other.state_);
  return made;
}

Tensor Tensor::assign(const Operand& value) const {
  OperationScope op("assign");
  std::string where = isFileDevice(device()) ? Device::defaultName() : device();
  Tensor x = value.isTensor() ? value.tensor() : scalar(value.value(), {where, dtype(), {}});
  if (x.uop() == uop()) return *this;
  if (dtypes::leastUpper(dtype(), x.dtype()) == dtype()) x = x.broadcastTo(shape()).cast(dtype());
  if (shape() != x.shape())
    fail(ErrorKind::Shape,
         fmt::format("assign shape mismatch {} != {}", shapeStr(shape()), shapeStr(x.shape())));
  bool toFile = isFileDevice(device());
  if (device() != x.device() && !toFile)
    fail(ErrorKind::Shape, fmt::format("assign device mismatch {} != {}", device(), x.device()));
  if (dtype() != x.dtype())
    fail(ErrorKind::Shape, fmt::format("assign dtype mismatch {} != {}", dtype().name(), x.dtype().name()));
  if (toFile) {
    writeToFile(x);
    return *this;
  }
  state_->makeWhole();
  state_->leaveSharedBuffer();
  state_->isOnlyName() ? assignWhole(x) : assignNamed(x);
  return *this;
}

void Tensor::assignWhole(const Tensor& x) const {
  UOp target = uop(), made = graph::assign(target, x.uop());
  // A target without memory takes the value itself; gradients stop there, as at an assignment.
  if (!graph::isMemory(graph::viewed(target)) && devices().size() == 1) {
    made = graph::contiguous(graph::detach(x.uop()));
    state_->mayShare = true;
  }
  OperationScope::made(made);
  state_->become(made);
}

/// Assigns to a tensor with several names of its memory: all names read the new contents.
void Tensor::assignNamed(const Tensor& x) const {
  UOp target = uop(), memory = graph::viewed(target);
  // A constant's own EXPAND is as good as memory; that of a view repeats elements which other names show too.
  if (memory.is(Op::EXPAND) && (state_->isSpread || !graph::base(memory).is(Op::CONST))) {
    state_->leaveNames();
    assignWhole(x);
    return;
  }
  bool whole = !memory.is(Op::MULTI);
  for (UOp u = target; u != memory && whole; u = u.src(0)) whole = u.in({Op::RESHAPE, Op::DETACH});
  auto rename = [&](UOp now) {
    state_->forEachName([&](State& s) { s.become(UOp(s.uop).substitute({{memory, now}})); });
  };
  if (whole) {
    assignWhole(x);
    UOp made = uop();
    rename(graph::reshape(made, memory.shape()));
    state_->become(made);
    return;
  }
  // This is a part of the memory: it is stored at once, so that the remaining names see it.
  if (!graph::isMemory(memory)) rename(graph::contiguous(memory));
  realize();
  realizeTensors({fromUOp(graph::assign(uop(), x.uop()))}, state_.get());
}

DType sumAccDtype(DType d) {
  if (d.isUnsigned()) return dtypes::leastUpper(d, dtypes::uint32);
  if (d.isInt() || d.isBool()) return dtypes::leastUpper(d, dtypes::int32);
  return dtypes::leastUpper(d, dtypes::float32);
}

ConstValue dtypeMin(DType d) {
  if (d.isBool()) return ConstValue::ofBool(false);
  if (d.isFloat()) return ConstValue::ofFloat(-std::numeric_limits<double>::infinity());
  return ConstValue::ofInt(dtypes::minInt(d));
}

ConstValue dtypeMax(DType d) {
  if (d.isBool()) return ConstValue::ofBool(true);
  if (d.isFloat()) return ConstValue::ofFloat(std::numeric_limits<double>::infinity());
  return ConstValue::ofInt(static_cast<int64_t>(dtypes::maxInt(d)));
}

DType dtypeOf(ConstValue v) {
  switch (v.kind) {
  case ConstValue::Kind::Bool: return dtypes::bool_;
  case ConstValue::Kind::Float: return dtypes::defaultFloat();
  default: return dtypes::defaultInt();
  }
}

} // namespace uopscope
