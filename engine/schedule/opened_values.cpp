// Opens stored values and rows, and rewrites expressions of small floats.
#include "engine/schedule/opened_values.h"

#include "engine/rules/movement_index.h"
#include "engine/uop/visit.h"

namespace uopscope::sched {

namespace {

bool isUpToFloat(DType type) {
  return type.isFloat() && type.itemsize() <= 4;
}

class InFloat {
public:
  UOp operator()(UOp u) {
    const bool isAsked =
        u.dtype().isBool() && u.in(group::kAlu | OpSet{Op::CAST}); // a condition on such numbers
    if (!isUpToFloat(u.dtype()) && !isAsked) return u;
    if (const auto known = known_.find(u); known != known_.end()) return known->second;
    const UOp made = make(u);
    return known_[u] = made;
  }

private:
  UOp make(UOp u) {
    if (u.dtype().isBool()) return u.withSrc(inFloats(u));
    if (u.isConst()) return UOp::constant(dtypes::float32, u.arg().f());
    if (u.is(Op::CAST))
      return isUpToFloat(u.src(0).dtype()) ? (*this)(u.src(0)) : u.src(0).cast(dtypes::float32);
    if (!u.in(group::kAlu | OpSet{Op::REDUCE})) return u.cast(dtypes::float32);
    return UOp::make(u.op(), dtypes::float32, inFloats(u), u.arg());
  }
  std::vector<UOp> inFloats(UOp u) {
    std::vector<UOp> src;
    for (UOp s : u.src()) src.push_back((*this)(s));
    return src;
  }
  UOpMap<UOp> known_;
};

/// Whether a value is computed element by element from a sum of products, which may be stored for it.
bool isProduct(UOp value) {
  return !visitBelow(value, [](UOp u) {
    if (u.is(Op::REDUCE)) return withoutCasts(u.src(0)).is(Op::MUL) ? Visit::Stop : Visit::Past;
    if (u.is(Op::INDEX) && u.src(0).is(Op::BUFFERIZE))
      return isProduct(u.src(0).src(0)) ? Visit::Stop : Visit::Past;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Past;
  });
}

/// A read, at this key, of a product that is stored, or of a row that the kernel keeps; null if there is none.
UOp productRead(UOp score, UOp key) {
  UOp found;
  visitBelow(score, [&](UOp u) {
    const bool isRead = u.is(Op::INDEX) && u.src(0).is(Op::BUFFERIZE) && u.dependsOn(key);
    if (isRead && (!hasMemory(u.src(0)) || isProduct(u.src(0).src(0)))) found = u;
    return u.in({Op::INDEX, Op::REDUCE}) ? Visit::Past : Visit::Below;
  });
  return found;
}

} // namespace

UOp withoutCasts(UOp u) {
  while (u.is(Op::CAST) && isUpToFloat(u.dtype()) && isUpToFloat(u.src(0).dtype())) u = u.src(0);
  return u;
}

UOp inFloat(UOp u) {
  return InFloat()(u);
}

UOp Opened::operator()(UOp read) {
  read = withoutCasts(read);
  if (!read.is(Op::INDEX) || !read.src(0).is(Op::BUFFERIZE)) return read;
  const UOp b = read.src(0);
  if (hasMemory(b) && !state_->stored[static_cast<size_t>(b.tag().i())].removable) return read;
  UOpMap<UOp> to;
  for (size_t k = 1; k < b.srcCount(); ++k) {
    if (ungate(read.src(k)).valid) return read;
    if (b.src(k).is(Op::RANGE)) to[b.src(k)] = read.src(k);
  }
  if (hasMemory(b)) stored_.insert(static_cast<size_t>(b.tag().i()));
  return (*this)(b.src(0).substitute(to));
}

UOp Opened::score(UOp score, UOp key) {
  bool any = false;
  for (;;) {
    const UOp read = productRead(score, key), value = read ? (*this)(read) : UOp();
    if (!read) return any ? score : UOp();
    if (value == read) return {};
    any |= hasMemory(read.src(0));
    UOpMap<UOp> fresh;
    visitBelow(value, [&](UOp u) {
      if (u.is(Op::REDUCE))
        for (UOp r : u.src().subspan(1))
          if (r.is(Op::RANGE)) fresh[r] = UOp::range(r.src(0), {state_->nextRange++}, r.axisType());
      return u.is(Op::BUFFERIZE) ? Visit::Past : Visit::Below;
    });
    score = score.substitute({{read, value.substitute(fresh)}});
  }
}

} // namespace uopscope::sched
