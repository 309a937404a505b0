# HTTP servers for small responses.
#
#   class Handler(HTTPRequestHandler):
#     def do_GET(self): self.send_data(b"{}")
#   TCPServerWithReuse(("127.0.0.1", 8000), Handler).serve_forever()
import contextlib, itertools, json
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer

class TCPServerWithReuse(TCPServer):
  """A server that can be started again at once on the same port."""
  allow_reuse_address = True
  def __init__(self, address, handler):
    super().__init__(address, handler)
    print(f"*** started server on http://127.0.0.1:{self.server_address[1]}")

class HTTPRequestHandler(BaseHTTPRequestHandler):
  """Responds with bytes as a whole, or with objects as a stream of events."""
  def _begin(self, status, headers):
    self.send_response(status)
    for name, value in headers.items(): self.send_header(name, value)
    self.end_headers()
  def send_data(self, data, content_type="application/json", status_code=200):
    self._begin(status_code, {"Content-Type": content_type, "Content-Length": str(len(data))})
    return self.wfile.write(data)
  def stream_json(self, source):
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the reader may leave at any time
      self._begin(200, {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
      for text in itertools.chain(map(json.dumps, source), ["[DONE]"]):
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()
