#!/usr/bin/env python3
"""Valid SQLite with hostile content: traces and corpora whose rows, values, tables and views are what no recorder
writes, passed through every verb of the command line.

    tests/fuzz/hostile_files.py build/bin/uopscope samples/matmul.py --seed 1 --count 1000 --keep found

A file is a recording with one to four changes drawn from a seed: the same seed makes the same file (--only SEED makes
it again and keeps it). Nothing about the schema is written here: tables and columns are asked of the file, packed values
are found by what zlib says of them. A call fails where it ends by a signal, takes longer than --seconds, needs more than
two gigabytes, exits with a code above 2, or lets an escape byte through. Prints a line for each failure and a summary;
exit code 1 where there was one.
"""
import argparse, os, random, resource, shutil, signal, sqlite3, subprocess, sys, tempfile, time, zlib

INTEGERS = [0, 1, -1, 2, 127, 255, 256, 1023, 1024, 65536, 2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**62, 2**63 - 1, -2**31, -2**63]
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m"


def texts(r):
    return r.choice([
        "", " ", "\n", "\0", ESCAPE, "x" * r.choice([100, 10000, 300000]), "[" * 20000, "{\"a\":" * 5000, "(" * 20000, "((1,2),(3", "null",
        "[null,-1,1e999,\"x\",[[]]]", "[99999999999999999999]", "../../../etc/passwd", "/dev/zero", "%s%n%d{}{0}", "<script>alert(1)</script>",
        "'; DROP TABLE step; --", "dtypes.float.vec(99999999)", "dtypes.nothing", "Range(-1;NOPE)", "Range(0;REDUCE)", "1e999", "-", "'", "\"",
        "\u202eevil\u202c", "\ud7ff\ufffd\U0010ffff", "kernel", "script", "schedule", "done", "failed", "recording", "full", "9" * 400, "nan", "a\tb\rc\n" * 50])


def packed(data):
    """What zlib makes of a value, or the value itself."""
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


def tables(db):
    return [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]


def quoted(name): return '"' + name.replace('"', '""') + '"'


def change(db, r):
    """One change; what SQLite refuses is tried no further."""
    table = r.choice(tables(db))
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({quoted(table)})")]
    column, way = r.choice(columns), r.randrange(20)
    name, field = quoted(table), quoted(column)
    if way < 11: # values of some rows, or of all
        rows = db.execute(f"SELECT DISTINCT {field} FROM {name}").fetchall()
        if not rows: return
        for (old,) in r.sample(rows, 1 if r.random() < 0.7 else len(rows))[:300]:
            db.execute(f"UPDATE OR IGNORE {name} SET {field} = ? WHERE {field} IS ?", (value(r, old), old))
    elif way == 11: db.execute(f"DELETE FROM {name}" + r.choice(["", " WHERE rowid % 2", " WHERE rowid > 3"]))
    elif way == 12: db.execute(f"UPDATE OR IGNORE {name} SET {field} = {quoted(r.choice(columns))}")
    elif way == 13:
        rows = db.execute(f"SELECT * FROM {name} LIMIT 20").fetchall()
        for _ in range(r.choice([3, 3000])):
            if rows: db.execute(f"INSERT OR IGNORE INTO {name} ({', '.join(map(quoted, columns))}) VALUES ({','.join('?' * len(columns))})",
                                [value(r, v) if r.random() < 0.3 else v for v in r.choice(rows)])
    elif way == 14: db.execute(f"DROP TABLE {name}")
    elif way == 15: # a view in a table's place: endless, or an error
        db.execute(f"ALTER TABLE {name} RENAME TO hidden_{r.randrange(1000)}")
        body = r.choice(["WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c", "SELECT abs(-9223372036854775808)",
                         "SELECT zeroblob(900000000)", f"SELECT * FROM {name}", "SELECT load_extension('x')"])
        db.execute(f"CREATE VIEW {name} AS {body}")
    elif way == 16: db.execute(f"CREATE TABLE {quoted(texts(r)[:300] or 'x')} (a)")
    elif way == 17: db.execute(f"PRAGMA user_version = {r.choice([0, 1, 2, 3, 4, 5, 6, -1, 2**31 - 1])}")
    elif way == 18 and "scope" in tables(db): # very deep
        db.execute("INSERT OR IGNORE INTO scope (id, parent, kind, name, line, begin_ns) WITH RECURSIVE c(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM c "
                   "WHERE i < ?) SELECT i, CASE WHEN i = 1000 THEN 1 ELSE i - 1 END, 'other', 1, 0, 0 FROM c", (r.choice([1600, 30000]),))
    elif way == 19 and "pass" in tables(db):
        db.execute(r.choice(["UPDATE pass SET parent = id - 1", "UPDATE pass SET parent = id", "UPDATE pass SET first_step = 1", "UPDATE pass SET scope = 1"]))


def make(base, path, seed):
    r = random.Random(seed)
    shutil.copy(base, path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("PRAGMA ignore_check_constraints = ON")
    db.execute("BEGIN")
    for _ in range(r.randrange(1, 5)):
        try: change(db, r)
        except (sqlite3.Error, OverflowError, UnicodeError, IndexError): pass
    db.execute("COMMIT")
    db.close()
    return r


def calls(r, path, base, folder, corpus):
    out = os.path.join(folder, "out")
    kernel, number = str(r.randrange(1, 12)), str(r.randrange(1, 30))
    if corpus:
        return [["replay", "ls", path], ["replay", "ls", path, "--json"], ["replay", "diff", base, path], ["replay", "diff", path, base, "--json"],
                ["replay", "diff", path, base, "-o", out + ".html", "--diffs"]] + \
               [["replay", "show", path, str(k), "--what", what] for k in (1, 2) for what in ("source", "graph", "story", "launch", "opts", "settings")] + \
               [["replay", "reproduce", path, "1", "-o", out + ".py"], ["replay", "run", path, "-o", out + ".uopcorpus", "--json"]]
    return [["ls", path], ["ls", path, "--json"], ["ls", path, kernel], ["ls", path, kernel, number], ["stats", path], ["stats", path, "--json"],
            ["stats", path, "--by", "pass"], ["show", path, kernel], ["show", path, kernel, "--pass", number], ["show", path, kernel, "--pass", number, "--step", "1", "--what", "diff"],
            ["show", path, kernel, "--what", "provenance"], ["show", path, kernel, "--what", "uops"], ["show", path, kernel, "--what", "ir"],
            ["check", path], ["diff", base, path], ["diff", path, base, "--json"], ["stats", path, "--diff", base], ["compare", path, f"kernel={kernel}&pass={number}"],
            ["export", path, "-o", out + ".jsonl"], ["export", path, "-o", out + ".trace.json"], ["export", path, "-o", out + ".html"], ["export", path, "-o", out + ".csv"],
            ["export", path, kernel, "-o", out + ".json"], ["export", path, kernel, "-o", out + ".dot"], ["replay", "ls", path],
            ["query", path, "SELECT * FROM v_rewrite LIMIT 50"], ["query", path, "SELECT * FROM v_node LIMIT 50"], ["query", path, "SELECT id, expr(id), sources(id) FROM node LIMIT 50"],
            ["query", path, "SELECT * FROM v_kernel"], ["query", path, "SELECT count(*) FROM match_count"], ["query", path, "SELECT * FROM artifact LIMIT 3"]]


def limits():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.setpgid(0, 0)


def run(program, arguments, environment, seconds):
    """Why the call counts as failed, or nothing."""
    began = time.monotonic()
    p = subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment, preexec_fn=limits)
    try: out = p.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return f"longer than {seconds} s"
    if p.returncode < 0: return f"signal {-p.returncode}"
    if p.returncode > 2: return f"exit code {p.returncode}: {out[-200:].decode(errors='replace')}"
    if b"\x1b" in out or b"\xc2\x9b" in out: return "an escape byte"
    if b"terminate called" in out or b"Sanitizer" in out: return out[-300:].decode(errors="replace")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return f"{peak >> 10} MB" if peak > 2 << 20 else None


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("program"), a.add_argument("script")
    a.add_argument("--seed", type=int, default=1), a.add_argument("--count", type=int, default=100), a.add_argument("--only", type=int)
    a.add_argument("--calls", type=int, default=6, help="of a file, drawn from all verbs"), a.add_argument("--seconds", type=float, default=10)
    a.add_argument("--minutes", type=float, default=1e9), a.add_argument("--keep", help="folder for files that failed")
    o = a.parse_args()
    folder = tempfile.mkdtemp(prefix="uopscope-fuzz-")
    environment = {**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": folder, "QT_QPA_PLATFORM": "offscreen", "NO_COLOR": "1"}
    trace, corpus = os.path.join(folder, "base.uoptrace"), os.path.join(folder, "base.uopcorpus")
    subprocess.run([o.program, "record", o.script, "-o", trace], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    subprocess.run([o.program, "replay", "capture", "-q", o.script, "-o", corpus], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    began, files, made, failures = time.monotonic(), 0, 0, {}
    for seed in [o.only] if o.only is not None else range(o.seed, o.seed + o.count):
        if time.monotonic() - began > 60 * o.minutes: break
        is_corpus = seed % 4 == 0
        base = corpus if is_corpus else trace
        path = os.path.join(folder, "hostile" + (".uopcorpus" if is_corpus else ".uoptrace"))
        r = make(base, path, seed)
        files += 1
        every = calls(r, path, base, folder, is_corpus)
        for arguments in every if o.only is not None else r.sample(every, min(o.calls, len(every))):
            made += 1
            if wrong := run(o.program, arguments, environment, o.seconds):
                shown = " ".join(x.replace(path, "FILE").replace(base, "BASE").replace(folder, "") for x in arguments)
                failures.setdefault(wrong.split(":")[0] + " | " + " ".join(shown.split()[:2]), []).append(seed)
                print(f"seed {seed}: {shown}: {wrong}", flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    shutil.copy(path, os.path.join(o.keep, f"{seed}-{os.path.basename(path)}"))
        for left in os.listdir(folder):
            if left.startswith(("hostile", "out")): os.remove(os.path.join(folder, left))
    print(f"{files} files, {made} calls, {sum(map(len, failures.values()))} failures of {len(failures)} kinds, {time.monotonic() - began:.0f} s, seeds from {o.seed}")
    for kind, seeds in sorted(failures.items()): print(f"  {len(seeds):>5}  {kind}: seeds {seeds[:5]}")
    shutil.rmtree(folder, ignore_errors=True)
    return bool(failures)


if __name__ == "__main__": sys.exit(main())
