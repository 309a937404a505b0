# A script's results kept on disk: tables of (key, value) in one SQLite file of the user's cache folder (CACHEDB names a
# different file). CACHELEVEL=0 neither reads nor writes. Values are pickled, so the file is for a single user.
#
#   diskcache_put("sizes", {"model": "a", "layer": 3}, 17); diskcache_get("sizes", {"model": "a", "layer": 3})      # 17
import functools, hashlib, os, pickle, sqlite3
from tinygrad.helpers import cache_dir
from uopscope.settings import known

VERSION = 1  # of the tables
_KINDS = {str: "TEXT", bool: "INTEGER", int: "INTEGER", float: "NUMERIC", bytes: "BLOB"}
_open = {}

def _path(): return os.path.abspath(os.getenv("CACHEDB") or os.path.join(cache_dir, "python.db"))

def db_connection():
  path = _path()
  if (path, os.getpid()) not in _open:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    _open[path, os.getpid()] = connection = sqlite3.connect(path, timeout=60, isolation_level="IMMEDIATE", check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
  return _open[path, os.getpid()]

def _columns(key): return key if isinstance(key, dict) else {"key": key}
def _quoted(name): return '"' + str(name).replace('"', '""') + '"'
def _table(table): return _quoted(f"{table}_{VERSION}")

def diskcache_clear():
  connection = db_connection()
  for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall(): connection.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
  connection.commit()
  connection.execute("VACUUM")

def diskcache_get(table, key):
  """The value, or None."""
  if known["CACHELEVEL"] < 1: return None
  key = _columns(key)
  where = " AND ".join(f"{_quoted(column)} = ?" for column in key)
  try: row = db_connection().execute(f"SELECT val FROM {_table(table)} WHERE {where}", tuple(key.values())).fetchone()
  except sqlite3.OperationalError: return None  # the table does not exist yet
  return None if row is None else pickle.loads(row[0])

def diskcache_put(table, key, val, prepickled=False):
  """Stores the value and returns it."""
  if known["CACHELEVEL"] < 1: return val
  key, connection = _columns(key), db_connection()
  names = ", ".join(map(_quoted, key))
  kinds = ", ".join(f"{_quoted(column)} {_KINDS[type(value)]}" for column, value in key.items())
  connection.execute(f"CREATE TABLE IF NOT EXISTS {_table(table)} ({kinds}, val BLOB, PRIMARY KEY ({names}))")
  connection.execute(f"REPLACE INTO {_table(table)} ({names}, val) VALUES ({', '.join('?' * (len(key) + 1))})", (*key.values(), val if prepickled else pickle.dumps(val)))
  connection.commit()
  return val

def diskcache(func):
  """Wraps a function so that its results are stored; its arguments must be picklable."""
  @functools.wraps(func)
  def kept(*args, **kwargs):
    table, key = f"cache_{func.__name__}", hashlib.sha256(pickle.dumps((args, kwargs))).hexdigest()
    found = diskcache_get(table, key)
    return found if found is not None else diskcache_put(table, key, func(*args, **kwargs))
  return kept
