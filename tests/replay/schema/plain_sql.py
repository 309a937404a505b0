"""Runs every query of a page, and every view, on a trace with Python's sqlite3 alone, without any function or import of ours.

    python3 tests/replay/schema/plain_sql.py run.uoptrace docs/guide/twenty-questions.md [--with pandas,duckdb]

Prints a line for each query: rows and milliseconds. Exit code 1 where a query or a view fails, where the page has fewer than
twenty, where more than four have no answer, or where pandas or DuckDB (with its sqlite extension from pip) gives other rows.
"""
import glob, os, re, sqlite3, sys, time

trace, page = sys.argv[1:3]
db = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)


def through_pandas():
    import pandas
    return lambda sql: [tuple(row) for row in pandas.read_sql(sql, db).itertuples(index=False)]


def through_duckdb():
    import duckdb, duckdb_extension_sqlite_scanner as extension
    duck = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    duck.execute(f"LOAD '{glob.glob(os.path.dirname(extension.__file__) + '/extensions/*/*.duckdb_extension')[0]}'")
    duck.execute(f"ATTACH '{trace}' AS t (TYPE sqlite, READ_ONLY)")
    return lambda sql: duck.execute("SELECT * FROM sqlite_query('t', ?)", [sql]).fetchall()


def plain(row):
    """A row as text: pandas has NaN where a column of numbers has NULL, and DuckDB returns numbers of views as text."""
    def one(v):
        if v is None or v != v: return ""
        try: return f"{float(v):.9g}"
        except (TypeError, ValueError): return str(v)
    return tuple(map(one, row))


others = {name: {"pandas": through_pandas, "duckdb": through_duckdb}[name]() for name in (sys.argv[4].split(",") if sys.argv[3:4] == ["--with"] else [])}
queries = re.findall(r"(?m)^(\d+)\. (.*?)\n```sql\n(.*?)```", open(page, encoding="utf8").read(), re.S)
failed = empty = 0
for number, question, sql in queries:
    began = time.perf_counter()
    try:
        rows = db.execute(sql).fetchall()
        empty += not rows
        print(f"{number:>2}  {len(rows):>5} rows  {(time.perf_counter() - began) * 1e3:>8.1f} ms  {question.splitlines()[0]}")
        for name, run in others.items():
            if sorted(map(plain, run(sql))) == sorted(map(plain, rows)): continue
            failed += 1
            print(f"    FAILED: {name} gives other rows")
    except sqlite3.Error as error:
        failed += 1
        print(f"{number:>2}  FAILED: {error}\n{sql}")
for view, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name").fetchall():
    began = time.perf_counter()
    try:
        rows = db.execute(f"SELECT * FROM {view}").fetchall()
        print(f"    {len(rows):>5} rows  {(time.perf_counter() - began) * 1e3:>8.1f} ms  {view}")
    except sqlite3.Error as error:
        failed += 1
        print(f"    FAILED: {view}: {error}")
sys.exit(failed > 0 or len(queries) != 20 or empty > 4)
