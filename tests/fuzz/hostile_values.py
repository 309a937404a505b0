"""Values that no recorder writes: integers at the ends of their range, escape sequences, nesting, packed values with a
wrong content. All are drawn from a random.Random, so a seed makes them again.

    value(random.Random(3), old=17)
"""
import zlib

INTEGERS = [0, 1, -1, 2, 127, 255, 256, 1023, 1024, 65536, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**62, 2**63 - 1, -2**31, -2**63]
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def texts(r):
    return r.choice([
        "", " ", "\n", "\0", ESCAPE, "x" * r.choice([100, 10000, 300000]), "[" * 20000, "{\"a\":" * 5000, "(" * 20000, "((1,2),(3", "null",
        "[null,-1,1e999,\"x\",[[]]]", "[99999999999999999999]", "../../../etc/passwd", "/dev/zero", "%s%n%d{}{0}", "<script>alert(1)</script>",
        "'; DROP TABLE step; --", "dtypes.float.vec(99999999)", "dtypes.nothing", "Range(-1;NOPE)", "Range(0;REDUCE)", "1e999", "-", "'", "\"",
        "\u202eevil\u202c", "\ud7ff\ufffd\U0010ffff", "kernel", "script", "schedule", "done", "failed", "recording", "full", "9" * 400, "nan", "a\tb\rc\n" * 50])


def packed(data):
    """The unpacked bytes of a value, or the value itself."""
    try: return zlib.decompressobj().decompress(data, 1 << 22), True
    except zlib.error: return data, False


def blobs(r, old):
    data, was_packed = packed(bytes(old or b""))
    data = bytearray(data)
    way = r.randrange(8)
    if way == 0: data = bytearray()
    elif way == 1: data = bytearray(b"\x80" * r.choice([1, 9, 11, 5000]))
    elif way == 2: data = bytearray(b"\xff" * len(data))
    elif way == 3: data = bytearray(len(data))
    elif way == 4: data = data[:r.randrange(len(data) + 1)]
    elif way == 5: data += bytes(r.randrange(256) for _ in range(50))
    elif way == 6: data = bytearray(texts(r).encode("utf8", "surrogatepass"))
    else:
        for _ in range(r.choice([1, 3, 30])):
            if data: data[r.randrange(len(data))] = r.randrange(256)
    if was_packed and r.random() < 0.8: return zlib.compress(bytes(data))
    return zlib.compress(bytes(50_000_000)) if r.random() < 0.03 else bytes(data)


def value(r, old):
    if old is None or r.random() < 0.1: return r.choice([None, r.choice(INTEGERS), texts(r), b"\xff\xfe"])
    if isinstance(old, int): return r.choice([r.choice(INTEGERS), old + r.choice([-1, 1, 1000]), -old, r.randrange(1, 50)])
    if isinstance(old, float): return r.choice([float("inf"), -0.0, 1e308, 5e-324])
    if isinstance(old, str):
        if r.random() < 0.4 and old:
            at = r.randrange(len(old))
            return r.choice([old[:at], old[:at] + ESCAPE + old[at:], old[:at] + texts(r)[:200] + old[at:], old * 3, old[::-1]])
        return texts(r)
    return blobs(r, old)
