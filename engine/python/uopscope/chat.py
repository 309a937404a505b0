# Conversations with a language model: in a terminal, and over HTTP with the interface of OpenAI's service.
#
#   chat = Chat(model, kv, "tiny");  print("".join(chat.answer([{"role": "user", "content": "hi"}])))
#   serve(chat, 11434)              # POST /v1/chat/completions, GET /v1/models, GET / a page to type into
#
# One request is answered at a time, since there is one model with one cache. The server accepts connections from this
# machine alone.
import http.server, json, sys, time, uuid
from uopscope.tokenizer import SimpleTokenizer

class Chat:
  """A model with its tokenizer and its special tokens: those that the metadata `kv` of a GGUF file describes."""
  def __init__(self, model, kv, name="model"):
    bos = kv.get("tokenizer.ggml.bos_token_id") if kv.get("tokenizer.ggml.add_bos_token", True) else None
    self._take(model, SimpleTokenizer.from_gguf_kv(kv), bos, kv["tokenizer.ggml.eos_token_id"], name)
  @classmethod
  def of(cls, model, tok, bos, eos, name="model"):
    """A chat of a model with `generate` and a tokenizer with `encode`, `decode`, `role` and `end_turn`; bos: None or a token."""
    chat = cls.__new__(cls)
    chat._take(model, tok, bos, eos, name)
    return chat
  def _take(self, model, tok, bos, eos, name): self.model, self.tok, self.bos, self.eos, self.name = model, tok, bos, eos, name

  def prompt(self, messages):
    """The token numbers of a conversation, which the model is to continue."""
    ids = [] if self.bos is None else [self.bos]
    for message in messages:
      ids += self.tok.role(message["role"])
      for text in _texts(message["content"]): ids += self.tok.encode(text)
      ids += self.tok.end_turn(self.eos)
    return ids + self.tok.role("assistant")

  def tokens(self, ids, most=None):
    """The tokens of the answer, one at a time, without the token that ends it."""
    for n, i in enumerate(self.model.generate(ids) if most is None or most > 0 else ()):
      if i == self.eos: return
      yield i
      if n + 1 == most: return
  def pieces(self):
    """A function that takes the tokens of an answer one by one and returns the text that each completes; without a token it
    returns the rest."""
    if isinstance(self.tok, SimpleTokenizer): return self.tok.stream()
    ids, said = [], 0
    def piece(i=None):
      nonlocal said
      if i is not None: ids.append(i)
      text = self.tok.decode(ids) if ids else ""
      if i is not None: text = text.rstrip("\ufffd") # the bytes of a letter may come in several tokens
      new, said = text[said:], max(said, len(text))
      return new
    return piece
  def room(self):
    """Tokens that a conversation may have; None if the model does not say."""
    most = getattr(self.model, "max_context", None)
    return most if isinstance(most, int) else None
  def answer(self, messages, most=None):
    piece = self.pieces()
    for i in self.tokens(self.prompt(messages), most): yield piece(i)
    yield piece()

def _texts(content):
  if isinstance(content, str): return [content]
  if not isinstance(content, list): raise ValueError(f"a message's content is text or a list of parts, not {type(content).__name__}")
  for part in content:
    if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str): raise ValueError("this model reads text alone: parts have type \"text\"")
  return [part["text"] for part in content]

def _request(body):
  """A validated request: messages, whether to stream, the maximum number of tokens, and the fields to report."""
  try: asked = json.loads(body)
  except (ValueError, RecursionError) as e: raise ValueError(f"the request is no JSON: {e}") from None
  if not isinstance(asked, dict) or not isinstance(asked.get("messages"), list) or not asked["messages"]: raise ValueError("the request needs a list of messages")
  for m in asked["messages"]:
    if not isinstance(m, dict) or not isinstance(m.get("role"), str) or "content" not in m: raise ValueError("a message needs a role and content")
    _texts(m["content"])
  most = asked.get("max_completion_tokens", asked.get("max_tokens"))
  if most is not None and (type(most) is not int or most < 0): raise ValueError("max_tokens is a number of tokens")
  return asked, most

_PAGE = b"""<!doctype html><meta charset="utf-8"><title>uopscope chat</title>
<style>body{max-width:48rem;margin:2rem auto;font:1rem/1.5 system-ui;padding:0 1rem}p{white-space:pre-wrap}.user{font-weight:bold}textarea{width:100%;font:inherit}</style>
<main id="said"></main><textarea id="box" rows="3" placeholder="Type, Enter sends"></textarea>
<script>
const said = document.getElementById("said"), box = document.getElementById("box"), messages = [];
const add = (kind, text) => { const p = document.createElement("p"); p.className = kind; p.textContent = text; said.append(p); return p; };
box.addEventListener("keydown", async e => {
  if (e.key !== "Enter" || e.shiftKey || !box.value.trim()) return;
  e.preventDefault();
  messages.push({role: "user", content: box.value.trim()}); add("user", box.value.trim()); box.value = "";
  const p = add("assistant", ""), text = new TextDecoder(); let rest = "";
  const reply = await fetch("/v1/chat/completions", {method: "POST", body: JSON.stringify({messages, stream: true})});
  for await (const bytes of reply.body) {
    const lines = (rest + text.decode(bytes, {stream: true})).split("\\n"); rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) p.textContent += JSON.parse(line.slice(6)).choices[0]?.delta?.content ?? "";
  }
  messages.push({role: "assistant", content: p.textContent});
});
</script>"""

class Handler(http.server.BaseHTTPRequestHandler):
  """Answers requests with `chat`, which a subclass gives."""
  timeout, longest = 30, 16 << 20
  chat = None
  def log_message(self, *_): pass
  def _send(self, data, status=200, kind="application/json"):
    self.send_response(status)
    self.send_header("Content-Type", kind)
    self.send_header("Content-Length", str(len(data)))
    self.end_headers()
    self.wfile.write(data)
  def _fail(self, status, message): self._send(json.dumps({"error": {"message": message, "type": "invalid_request_error" if status < 500 else "server_error"}}).encode(), status)

  def do_GET(self):
    if self.path == "/": return self._send(_PAGE, kind="text/html; charset=utf-8")
    if self.path == "/v1/models": return self._send(json.dumps({"object": "list", "data": [{"id": self.chat.name, "object": "model", "created": 0, "owned_by": "local"}]}).encode())
    self._fail(404, f"there is no {self.path}; there are /, /v1/models and POST /v1/chat/completions")

  def do_POST(self):
    if self.path != "/v1/chat/completions": return self._fail(404, f"there is no {self.path} to post to; there is /v1/chat/completions")
    try: length = int(self.headers.get("Content-Length", ""))
    except ValueError: return self._fail(411, "the request needs a Content-Length")
    if not 0 <= length <= self.longest: return self._fail(413, f"a request of {length} bytes; at most {self.longest}")
    try:
      asked, most = _request(self.rfile.read(length))
      ids = self.chat.prompt(asked["messages"])
      room = self.chat.room()
      if room is not None and len(ids) >= room: raise ValueError(f"the conversation has {len(ids)} tokens, and the model's context {room}")
    except (ValueError, RuntimeError) as e: return self._fail(400, str(e))
    self._complete(asked, ids, most)

  def _complete(self, asked, ids, most):
    about = {"id": f"chatcmpl-{uuid.uuid4().hex[:24]}", "created": int(time.time()), "model": asked.get("model") or self.chat.name}
    began, inputs, piece, out = time.perf_counter(), len(ids), self.chat.pieces(), 0
    def usage(): return {"prompt_tokens": inputs, "completion_tokens": out, "total_tokens": inputs + out}
    if asked.get("stream"):
      def event(**fields): self.wfile.write(b"data: " + json.dumps({**about, "object": "chat.completion.chunk", **fields}).encode() + b"\n\n")
      def delta(fields, reason=None): event(choices=[{"index": 0, "delta": fields, "finish_reason": reason}])
      self.send_response(200)
      self.send_header("Content-Type", "text/event-stream")
      self.send_header("Cache-Control", "no-cache")
      self.end_headers()
      try:
        delta({"role": "assistant", "content": ""})
        for i in self.chat.tokens(ids, most):
          out += 1
          if text := piece(i): delta({"content": text})
        if text := piece(): delta({"content": text})
        delta({}, "length" if out == most else "stop")
        if (asked.get("stream_options") or {}).get("include_usage"): event(choices=[], usage=usage())
        self.wfile.write(b"data: [DONE]\n\n")
      except (BrokenPipeError, ConnectionResetError): pass # the reader went away, so the answer ends
    else:
      text = ""
      for i in self.chat.tokens(ids, most):
        out += 1
        text += piece(i)
      text += piece()
      reason = "length" if out == most else "stop"
      self._send(json.dumps({**about, "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}], "usage": usage()}).encode())
    print(f"{self.path} in:{inputs} out:{out} {out / max(time.perf_counter() - began, 1e-9):.1f} tok/s", file=sys.stderr, flush=True)

def make_server(chat, port, host="127.0.0.1"): return http.server.HTTPServer((host, port), type("Handler", (Handler,), {"chat": chat}))

def serve(chat, port):
  try: server = make_server(chat, port)
  except OSError as e: raise SystemExit(f"port {port}: {e.strerror}")
  print(f"*** started server on http://127.0.0.1:{server.server_port}", flush=True)
  try: server.serve_forever()
  except KeyboardInterrupt: pass
  finally: server.server_close()

def talk(chat):
  """A conversation in the terminal, until the end of input."""
  messages = []
  while True:
    try: messages.append({"role": "user", "content": input(">>> ")})
    except (EOFError, KeyboardInterrupt): return print()
    said = ""
    for text in chat.answer(messages):
      said += text
      print(text, end="", flush=True)
    print("\n")
    messages.append({"role": "assistant", "content": said})
