// The entry point of every test program; tests/<part>/**/*_test.cpp are linked into it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
