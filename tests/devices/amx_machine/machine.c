// Runs kernels on a bare machine, and compares each result with what it should be, bit by bit. The line of a case goes to
// the serial port: "case 3 ok", or the first result that differs.
#include <stdint.h>

struct Case {
  void (*entry)(void* const* buffers, const int64_t* vars, int32_t core);
  const unsigned char *left, *right, *expected;
  uint64_t resultBytes;
  int isFloat;
};
extern const struct Case cases[];
extern const int caseCount;

static unsigned char result[4 << 20] __attribute__((aligned(64)));

static void out(uint16_t port, uint8_t value) {
  __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}
static void say(const char* text) {
  for (; *text; ++text) {
    uint8_t ready = 0;
    while (!(ready & 0x20)) __asm__ volatile("inb %1, %0" : "=a"(ready) : "Nd"((uint16_t)0x3fd));
    out(0x3f8, (uint8_t)*text);
  }
}
/// Whether two results of 4 bytes are the same: any NaN is as good as another.
static int isSame(const unsigned char* a, const unsigned char* b, int isFloat) {
  uint32_t x = 0, y = 0;
  for (int i = 4; i-- > 0;) x = x << 8 | a[i], y = y << 8 | b[i];
  return x == y || (isFloat && (x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000);
}
static void sayNumber(uint64_t n) {
  char digits[24];
  int at = 23;
  digits[at] = 0;
  do digits[--at] = (char)('0' + n % 10);
  while (n /= 10);
  say(digits + at);
}

void machine_main(void) {
  int failed = 0;
  out(0x3fb, 3); // the serial port: 8 bits a character
  for (int i = 0; i < caseCount; ++i) {
    const struct Case* c = &cases[i];
    for (uint64_t b = 0; b < c->resultBytes; ++b) result[b] = 0xee;
    void* const buffers[] = {result, (void*)c->left, (void*)c->right};
    c->entry(buffers, 0, 0);
    uint64_t at = 0, differ = 0;
    for (uint64_t b = c->resultBytes / 4; b-- > 0;)
      if (!isSame(result + 4 * b, c->expected + 4 * b, c->isFloat)) at = b, ++differ;
    say("case ");
    sayNumber((uint64_t)i);
    if (differ) {
      ++failed;
      say(": ");
      sayNumber(differ);
      say(" results differ, the first is number ");
      sayNumber(at);
      say("\n");
    } else {
      say(" ok\n");
    }
  }
  say(failed ? "FAILED\n" : "PASSED\n");
  uint8_t sent = 0;
  while (!(sent & 0x40)) __asm__ volatile("inb %1, %0" : "=a"(sent) : "Nd"((uint16_t)0x3fd));
  for (const char* p = "Shutdown"; *p; ++p) out(0x8900, (uint8_t)*p);
}
