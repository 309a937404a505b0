// The list of rules that round, and the setting that switches them off.
#include "engine/rules/rounding.h"

#include "engine/base/context_var.h"

namespace uopscope {

namespace {

constexpr RoundingRule kRounding[] = {
    {"add-zero", "-0.0 + 0.0 is 0.0 and stays -0.0: nobody but 1/x and copysign can tell"},
    {"mul-zero",
     "inf * 0 and nan * 0 are nan and become 0, as in the reference: a mask of zeros has to drop what it "
     "hides"},
    {"fdiv-self", "0/0, inf/inf and nan/nan are nan and become 1, as in the reference"},
    {"mul-reciprocal", "x * (1/x) rounds twice and becomes 1, which is nearer to the quotient"},
    {"mul-fdiv-same", "x*y/y rounds twice, and may overflow between: x is nearer to the quotient"},
    {"mul-mul-reciprocal", "x*y*(1/y) rounds three times: x is nearer to the quotient"},
    {"div-div", "x*(1/y)*(1/z) becomes x*(1/(y*z)): one division instead of two, one rounding less"},
    {"float-mul-consts",
     "one of the factors is a power of two, so it differs only where a product leaves the range"},
    {"reciprocal-of-multiple",
     "the factor is a power of two, so it differs only where a product leaves the range"},
    {"exp-over-one-more",
     "e/(1+e) with e = 2**x is 1/(1+2**-x): the same value, and 1 where e leaves the range"},
    {"exp-over-one-more-times", "exp-over-one-more, inside of a product"},
    {"exp-over-one-more-times-two", "exp-over-one-more, inside of a product of three"},
    {"exp-over-one-more-plus", "exp-over-one-more, inside of a sum"},
    {"pow-const",
     "a power by a small whole or half number is a product, or a square root: nearer than exp2 of log2"},
    {"const-pow", "c**x is exp2(x*log2(c)), which is how targets compute a power"},
    {"mul-out-of-reduce",
     "a factor is taken out of a float sum, as in the reference: a product for each result "
     "instead of one for each term"},
    {"exact-product", "a product of two halves, or smaller floats, is exact in the float32 of its sum: it is "
                      "not rounded to a half between, "
                      "as no tensor core does"},
    {"sum-by-dot-products", "an instruction adds two products of bfloat16s to a sum: it rounds twice, and "
                            "takes numbers below the normal "
                            "ones for zeros; sums of bytes are exact, and stay"},
    {"reduce-to-accumulator",
     "a sum is added up in the order of the kernel's loops, and a product is fused with its "
     "sum where the target can",
     false},
    {"split-reduce", "a long sum is added up in parts, which have the smaller error", false},
    {"exp2-by-series", "the target has no exp2: a series within two units of the last place", false},
    {"scaled-exp2-by-series",
     "the target has no exp2: a series of the number itself, whose product with the factor is not rounded",
     false},
    {"exp2-beside-1",
     "a power less 1 is 2^n*(2^r - 1) + (2^n - 1): what a difference of rounded numbers loses near 0 stays",
     false},
    {"exp2-from-1", "1 less a power is (1 - 2^n) - 2^n*(2^r - 1), for the same reason", false},
    {"log2-beside-1",
     "the target has no log2: a series of what is added to 1, or taken from it, which is not rounded to the "
     "places of 1",
     false},
    {"log2-by-series", "the target has no log2: a series within two units of the last place", false},
    {"sin-by-series", "the target has no sine: a series within two units of the last place", false},
    {"cos-by-series",
     "the target has no sine: the series of a quarter of a turn ahead, which keeps the places next to a "
     "cosine's zeros that 1 - 2 sin(x/2)^2 loses",
     false},
    {"pow-by-exp2", "the target has no power: exp2 of a product with log2", false},
    {"sqrt-by-pow", "the target has no square root: exp2 of half of log2", false},
    {"small-float-arithmetic", "the target does not compute with the type: float32 is rounded once more",
     false},
};

} // namespace

std::span<const RoundingRule> roundingRules() {
  return kRounding;
}

const RoundingRule* roundingRule(std::string_view name) {
  for (const RoundingRule& r : kRounding)
    if (r.name == name) return &r;
  return nullptr;
}

bool mayRound(DType d) {
  return !d.isFloat() || !vars::strictFloat;
}

} // namespace uopscope
