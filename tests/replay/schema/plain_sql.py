"""Runs every query of a page, and every view, on a trace with Python's sqlite3 alone, without any function or import of ours.

    python3 tests/replay/schema/plain_sql.py run.uoptrace docs/guide/twenty-questions.md

Prints a line for each query: rows and milliseconds. Exit code 1 where a query or a view fails, where the page has fewer than
twenty, or where more than four have no answer.
"""
import re, sqlite3, sys, time

trace, page = sys.argv[1:3]
db = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
queries = re.findall(r"(?m)^(\d+)\. (.*?)\n```sql\n(.*?)```", open(page, encoding="utf8").read(), re.S)
failed = empty = 0
for number, question, sql in queries:
    began = time.perf_counter()
    try:
        rows = db.execute(sql).fetchall()
        empty += not rows
        print(f"{number:>2}  {len(rows):>5} rows  {(time.perf_counter() - began) * 1e3:>8.1f} ms  {question.splitlines()[0]}")
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
