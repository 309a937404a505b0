// The variables in patterns of the tests' own rules, so that every file names the same ones.
//
//   RULE("add-const", (x + c0) + c1, x + pat::fold(c0 + c1))
#pragma once
#include "engine/rewrite/driver.h"

namespace uopscope::test {

inline constexpr PatVar x{"x"}, y{"y"}, c0{"c0", PatVar::Const}, c1{"c1", PatVar::Const};

} // namespace uopscope::test
