// The rules of accesses to images.
#include "engine/codegen/images.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/rules/algebra.h"
#include "engine/rules/image_gate.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

using namespace pat;
constexpr PatVar image{"image"}, pixel{"pixel"}, gate{"gate"}, invalid{"invalid"};
using rules::at;
constexpr int64_t kChannels = 4;

bool isGatedPixel(const Match& m) {
  return m.root().dtype().isImage() && laneCount(m[pixel]) == 2 && m[invalid].isInvalidConst() &&
         m[gate].dtype() == dtypes::bool_;
}

/// A LOAD of this address with these sources after it, each alternative value repeated for the four channels.
UOp wholePixel(UOp load, UOp address) {
  std::vector<UOp> rest;
  for (UOp s : load.src().subspan(1)) rest.push_back(s.dtype().isVoid() ? s : s.broadcast(kChannels));
  return address.load(rest, load.dtype().scalar().vec(kChannels));
}

/// One element: the channel of its pixel. A number that may be negative has no channel where it is.
UOp elementOfImage(Match& m) {
  UOp load = m.root(), index = m[at];
  if (!index.dtype().isImage() || laneCount(index.src(1)) != 1) return m.decline("no element of an image");
  if (load.is(Op::STORE))
    throw Error(
        ErrorKind::Compile,
        "an image is written in whole pixels: store four neighbouring elements at once, the first at a "
        "multiple of four (for example by an UPCAST of 4)");
  UOp flat = indexOf(index.src(1)), allowed = index.srcCount() == 3 ? index.src(2) : UOp();
  if (index.src(1).is(Op::WHERE)) allowed = allowed ? allowed & validOf(index.src(1)) : validOf(index.src(1));
  UOp whole = wholePixel(load, pixelAddress(index.src(0), flat, allowed));
  UOp channel = simplify(flat % kChannels);
  const bool known = channel.vmin() >= 0;
  int64_t first = known ? channel.vmin() : 0, last = known ? channel.vmax() : kChannels - 1;
  UOp result = known ? lane(whole, first++) : UOp::constant(load.dtype(), std::nan(""));
  for (int64_t c = first; c <= last; ++c)
    result = ne(channel, channel.constLike(c)).where(result, lane(whole, c));
  return result;
}

/// The index where its gate holds, and the gate without what the borders of the image do by themselves.
UOp simplerPixel(Match& m) {
  UOp root = m.root(), index = m[at];
  if (!index.dtype().isImage() || !isPixelIndex(index)) return m.decline("no pixel of an image");
  UOp allowed = index.src(2);
  const bool isLoad = root.is(Op::LOAD),
             hasOther = isLoad && root.srcCount() > 1 && !root.src(1).dtype().isVoid();
  if (allowed.isConst(0)) {
    if (!isLoad) return UOp::make(Op::GROUP, dtypes::void_, std::initializer_list<UOp>{});
    return hasOther ? root.src(1) : UOp::constant(root.dtype(), int64_t{0});
  }
  UOp x = givenValid(allowed, lane(index.src(1), 0)), y = givenValid(allowed, lane(index.src(1), 1));
  UOp zero = hasOther ? laneConst(root.src(1)) : UOp();
  const bool borderDoes = isLoad && (!hasOther || (zero && zero.isConst(0)));
  UOp needed = borderDoes ? gateInsideImage(allowed, x, y, index.dtype().imageShape()) : allowed;
  std::vector<UOp> src{index.src(0), UOp::vectorize(std::array{x, y})};
  if (needed) src.push_back(needed);
  if (src[1] == index.src(1) && needed == allowed) return m.decline("the gate is needed, and says no more");
  std::vector<UOp> sources(root.src().begin(), root.src().end());
  sources[0] = index.withSrc(src);
  if (!needed && hasOther) sources.erase(sources.begin() + 1);
  return root.withSrc(sources);
}

constexpr RuleDef kImageGate[] = {
    // The pair stays a pair: a WHERE of vectors is cut into lanes, a gate is not.
    RULE("gate-of-pixel", op(Op::INDEX, image, op(Op::WHERE, gate, pixel, invalid)),
         rootOf(image, pixel, gate), guard::when(isGatedPixel, "no gated pixel of an image")),
};
const KnownRules kImageGateKnown(kImageGate);
constexpr RuleDef kImages[] = {
    RULE("pixel-in-image", op(OpSet{Op::LOAD, Op::STORE}, op(Op::INDEX, image, pixel, gate).named(at)).more(),
         simplerPixel),
    RULE("element-of-image", op(OpSet{Op::LOAD, Op::STORE}, any(Op::INDEX).named(at)).more(), elementOfImage),
};
const KnownRules kImagesKnown(kImages);

} // namespace

std::span<const RuleDef> imageGateRules() {
  return kImageGate;
}
std::span<const RuleDef> imageRules() {
  return kImages;
}

bool isPixelIndex(UOp index) {
  return index.src(0).dtype().isImage() && index.srcCount() > 1 &&
         laneCount(index.src(1)) == 2 * index.dtype().vcount();
}

UOp pixelAddress(UOp image, UOp flat, UOp gate) {
  const int64_t width = image.dtype().imageShape().width;
  UOp column = flat / kChannels % width, row = flat / (kChannels * width);
  UOp pair = UOp::vectorize(std::array{simplify(column), simplify(row)});
  return gate ? image.indexed({pair, gate}) : image.indexed({pair});
}

} // namespace uopscope
