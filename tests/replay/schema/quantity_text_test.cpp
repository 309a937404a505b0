// How amounts and cut texts read.
#include "replay/schema/letters.h"
#include "replay/schema/quantity_text.h"

#include <doctest/doctest.h>

using namespace uopscope;

TEST_CASE("quantity: a duration and a size have three digits in the unit that suits them") {
  CHECK(durationText(0) == "0 ns");
  CHECK(durationText(59) == "59 ns");
  CHECK(durationText(999) == "999 ns");
  CHECK(durationText(1'000) == "1.00 µs");
  CHECK(durationText(9'994) == "9.99 µs");
  CHECK(durationText(9'996) == "10.0 µs");
  CHECK(durationText(122'460) == "122 µs");
  CHECK(durationText(999'499) == "999 µs");
  CHECK(durationText(999'700) == "1.00 ms");
  CHECK(durationText(24'099'999) == "24.1 ms");
  CHECK(durationText(1'130'000'000) == "1.13 s");
  CHECK(durationText(3'600'000'000'000) == "3,600 s");
  CHECK(durationText(-222'100) == "-222 µs");
  CHECK(durationText(INT64_MIN) == "-9,223,372,037 s");
  CHECK(sizeText(12) == "12 B");
  CHECK(sizeText(93'184) == "93.2 kB");
  CHECK(sizeText(533'000) == "533 kB");
  CHECK(sizeText(4'070'786) == "4.07 MB");
  CHECK(sizeText(13'214'000'000) == "13.2 GB");
}

TEST_CASE("quantity: counts have a comma every three digits") {
  CHECK(countText(0) == "0");
  CHECK(countText(999) == "999");
  CHECK(countText(1'342) == "1,342");
  CHECK(countText(-1'342) == "-1,342");
  CHECK(countText(-999) == "-999");
  CHECK(countText(INT64_MIN) == "-9,223,372,036,854,775,808");
}

TEST_CASE("quantity: one of a kind has no s") {
  CHECK(countedText(1, "kernel") == "1 kernel");
  CHECK(countedText(0, "kernel") == "0 kernels");
  CHECK(countedText(1'024, "kernel") == "1,024 kernels");
}

TEST_CASE("letters: a text is cut between letters") {
  CHECK(letterCount("12 µs") == 5);
  CHECK(clipped("12 µs", 5) == "12 µs");
  CHECK(clipped("12 µs", 4) == "12 …");
  CHECK(clipped("ab…c", 3) == "ab…");
  CHECK(clipped("…………", 3) == "………");
  CHECK(clipped("abc", 0) == "…");
  CHECK(clipped("", 0).empty());
  CHECK(clipped(std::string(1000, '\x80'), 20).size() < 30); // no UTF-8 at all
}
