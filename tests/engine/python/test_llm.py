# Language models: the test makes a tiny one, writes it as GGUF and reads it back; it must give what NumPy computes from the same
# numbers; then the tokenizer, the cache, conversations, and the server.
import http.client, http.server, json, pathlib, tempfile, threading
import numpy as np
import _uopscope
from tinygrad import Tensor, UOp, dtypes, nn
from tinygrad.apps import llm
from tinygrad.apps.llm import SimpleTokenizer, Transformer, main
from uopscope.chat import Chat, make_server
from check import close, raises, run
from gguf_files import Typed, write

FOLDER = tempfile.TemporaryDirectory()
FILE = pathlib.Path(FOLDER.name) / "tiny.gguf"
DIM, HEADS, KV_HEADS, HEAD, HIDDEN, BLOCKS, CONTEXT = 16, 4, 2, 4, 24, 2, 64

def letters():
  plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
  others = [b for b in range(256) if b not in plain]
  return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}
LETTERS = letters()
def written(text): return "".join(LETTERS[b] for b in text.encode())
MERGED = ["he", "ll", "hell", "hello", " w", " wo", "12", "é"]
SPECIAL = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
VOCABULARY = [LETTERS[b] for b in range(256)] + [written(t) for t in MERGED] + SPECIAL
EOS = VOCABULARY.index("<|eot_id|>")

def metadata(arch, pre):
  return {"general.architecture": arch, **{f"{arch}.{k}": v for k, v in {"block_count": BLOCKS, "context_length": CONTEXT, "embedding_length": DIM, "feed_forward_length": HIDDEN, "attention.head_count": HEADS,
          "attention.head_count_kv": KV_HEADS, "attention.layer_norm_rms_epsilon": 1e-5, "rope.freq_base": 10000.0}.items()},
          "tokenizer.ggml.tokens": VOCABULARY, "tokenizer.ggml.token_type": Typed(5, [1] * (256 + len(MERGED)) + [3] * len(SPECIAL)), "tokenizer.ggml.pre": pre,
          "tokenizer.ggml.bos_token_id": VOCABULARY.index(SPECIAL[0]), "tokenizer.ggml.eos_token_id": EOS}

def weights(seed=1, qk_norm=0, experts=0, tied=True):
  rng = np.random.default_rng(seed)
  def w(*shape): return (rng.normal(0, shape[-1] ** -0.5, shape) * 1.5).astype(np.float16).astype(np.float32)
  out = {"token_embd.weight": w(len(VOCABULARY), DIM), "output_norm.weight": 1 + w(DIM) / 4}
  if not tied: out["output.weight"] = w(len(VOCABULARY), DIM)
  for i in range(BLOCKS):
    part = {"attn_q": w(HEADS * HEAD, DIM), "attn_k": w(KV_HEADS * HEAD, DIM), "attn_v": w(KV_HEADS * HEAD, DIM), "attn_output": w(DIM, HEADS * HEAD), "attn_norm": 1 + w(DIM) / 4, "ffn_norm": 1 + w(DIM) / 4}
    if experts: part |= {"ffn_gate_inp": w(experts, DIM), "ffn_gate_exps": w(experts, HIDDEN, DIM), "ffn_up_exps": w(experts, HIDDEN, DIM), "ffn_down_exps": w(experts, DIM, HIDDEN)}
    else: part |= {"ffn_gate": w(HIDDEN, DIM), "ffn_up": w(HIDDEN, DIM), "ffn_down": w(DIM, HIDDEN)}
    if qk_norm: part |= {"attn_q_norm": 1 + w(qk_norm) / 4, "attn_k_norm": 1 + w(qk_norm) / 4}
    out |= {f"blk.{i}.{k}.weight": v for k, v in part.items()}
  return out

def rms(x, w): return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * w
def silu(x): return x / (1 + np.exp(-x))
def softmax(x):
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)
def rope(x, interleaved):
  """(T, heads, HEAD): the halves of a pair are adjacent, or half a head apart."""
  angle = np.arange(len(x))[:, None, None] / 10000.0 ** (np.arange(0, HEAD, 2) / HEAD)
  a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :HEAD // 2], x[..., HEAD // 2:])
  a, b = a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)
  return np.stack([a, b], -1).reshape(x.shape) if interleaved else np.concatenate([a, b], -1)

def expected(w, tokens, interleaved=True, qk_norm=0, chosen=0):
  """Logits at every position."""
  x = w["token_embd.weight"][tokens]
  for i in range(BLOCKS):
    p = {k.split(".")[2]: v for k, v in w.items() if k.startswith(f"blk.{i}.")}
    n = rms(x, p["attn_norm"])
    q, k, v = ((n @ p[name].T).reshape(len(tokens), -1, HEAD) for name in ("attn_q", "attn_k", "attn_v"))
    if qk_norm: q, k = rms(q, p["attn_q_norm"]), rms(k, p["attn_k_norm"])
    q, k = rope(q, interleaved), rope(k, interleaved)
    k, v = np.repeat(k, HEADS // KV_HEADS, 1), np.repeat(v, HEADS // KV_HEADS, 1)
    scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(HEAD)
    scores = np.where(np.tril(np.ones((len(tokens),) * 2)) > 0, scores, -np.inf)
    x = x + np.einsum("hts,shd->thd", softmax(scores), v).reshape(len(tokens), -1) @ p["attn_output"].T
    n = rms(x, p["ffn_norm"])
    if chosen:
      probs, out = softmax(n @ p["ffn_gate_inp"].T), np.zeros_like(x)
      for t in range(len(tokens)):
        for e in np.argsort(-probs[t])[:chosen]: out[t] += probs[t, e] * (p["ffn_down_exps"][e] @ (silu(p["ffn_gate_exps"][e] @ n[t]) * (p["ffn_up_exps"][e] @ n[t])))
      x = x + out
    else: x = x + (silu(n @ p["ffn_gate"].T) * (n @ p["ffn_up"].T)) @ p["ffn_down"].T
  return rms(x, w["output_norm.weight"]) @ w.get("output.weight", w["token_embd.weight"]).T

def made(arch="llama", pre="llama-bpe", extra={}, **kw):
  w = weights(**kw)
  write(FILE, metadata(arch, pre) | {f"{arch}.{k}": v for k, v in extra.items()}, {k: (v, 0) for k, v in w.items()})
  return w, *Transformer.from_gguf(FILE)

PROMPT = [3, 1, 4, 1, 5, 9, 2, 6]
def test_logits_are_those_of_numpy():
  for options in (dict(), dict(arch="qwen3", pre="qwen2", qk_norm=HEAD), dict(tied=False), dict(arch="olmoe", pre="olmo", experts=4, extra={"expert_count": 4, "expert_used_count": 2})):
    w, model, _ = made(**options)
    want = expected(w, PROMPT, options.get("arch", "llama") == "llama", options.get("qk_norm", 0), 2 if "experts" in options else 0)
    np.testing.assert_allclose(model.logits(Tensor([PROMPT], dtype=dtypes.int32), 0).numpy()[0], want, rtol=0.05, atol=0.05)

def greedy(w, tokens, n):
  tokens = list(tokens)
  for _ in range(n): tokens.append(int(expected(w, tokens)[-1].argmax()))
  return tokens

def test_generation_with_a_cache_gives_what_one_without_does():
  w, model, _ = made()
  for prompt in (PROMPT, list(range(40)), list(range(32)), list(range(55)), [7]):
    want, tokens = greedy(w, prompt, 6), list(prompt)
    for _, _ in zip(range(6), model.generate(tokens)): pass
    assert tokens == want, f"{tokens} {want}"

def test_the_cache_serves_what_was_read_before():
  w, model, _ = made()
  tokens, reads = list(PROMPT), []
  for _, _ in zip(range(3), model.generate(tokens)): pass
  forward = model.forward
  model.forward = lambda t, *at: reads.append(at[0].unbind()[1]) or forward(t, *at)
  model.forward_jit, model.piece_jit = model.forward, model.forward
  longer = tokens[:] + [11]
  next(model.generate(longer))
  assert reads == [len(tokens) - 1] and longer == greedy(w, tokens + [11], 1) # begins at the last token made
  other = PROMPT[:4] + [200]
  next(model.generate(other))
  assert other == greedy(w, PROMPT[:4] + [200], 1)

def test_nothing_is_compiled_at_later_positions():
  _, model, _ = made()
  tokens = list(PROMPT)
  steps = model.generate(tokens)
  for _ in range(3): next(steps)
  before = _uopscope.kernel_cache_stats()
  for _ in range(20): next(steps)
  assert _uopscope.kernel_cache_stats()["misses"] == before["misses"]

def test_generation_ends_with_the_context():
  _, model, _ = made()
  tokens = [1] * (CONTEXT - 3)
  assert len(list(model.generate(tokens))) == 3 and len(tokens) == CONTEXT
  raises(AssertionError, lambda: next(model.generate([])), "at least one")

def test_tokenizer():
  tok = SimpleTokenizer.from_gguf_kv(made()[2])
  def words(text): return [VOCABULARY[i] for i in tok.encode(text)]
  assert words("hello") == ["hello"] and words("hell") == ["hell"] and words("helll") == ["hell", "l"] and words("shell") == ["s", "hell"]
  assert words("hello world") == ["hello", written(" wo"), "r", "l", "d"] and words("1234") == ["12", "3", "4"]
  assert words("éa") == [written("é"), "a"] and words("it's") == ["i", "t", "'", "s"] and words("a  b\n\n c") == ["a", written(" "), written(" "), "b", written("\n"), written("\n"), written(" "), "c"]
  assert words("hello<|eot_id|>hello") == ["hello", "<|eot_id|>", "hello"]
  for text in ("", "hello, wörld! 世界 🙂\n\t x1y2", "".join(map(chr, range(1, 400)))): assert tok.decode(tok.encode(text)) == text
  assert tok.decode([0xff]) == "\ufffd"
  piece = tok.stream()
  assert [piece(i) for i in "🙂".encode()] == ["", "", "", "🙂"] and piece() == ""
  assert tok.decode(tok.role("user")) == "<|start_header_id|>user<|end_header_id|>\n\n" and tok.end_turn(EOS) == [EOS]
  assert SimpleTokenizer({LETTERS[b]: b for b in range(256)}, {"<|im_start|>": 300}, "qwen2").role("x")[0] == 300
  raises(ValueError, lambda: SimpleTokenizer({}, {}, "bert"), "bert", "llama3"), raises(RuntimeError, lambda: SimpleTokenizer({"a": 0}, {}).encode("b"), "token not found"), raises(ValueError, lambda: SimpleTokenizer({"\u4e16": 0}, {}), "byte")
  raises(ValueError, lambda: SimpleTokenizer.from_gguf_kv({}), "tokenizer.ggml.tokens")

def test_server():
  _, model, kv = made()
  chat = Chat(model, kv, "tiny")
  server = make_server(chat, 0)
  seen, failures = {}, []
  def ask(method, path, body=None, headers={}):
    c = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    c.request(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, headers)
    r = c.getresponse()
    return r.status, r.read()
  def client():
    try:
      seen["models"], seen["page"], seen["none"] = ask("GET", "/v1/models"), ask("GET", "/"), ask("GET", "/x")
      hello = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 5}
      seen["whole"], seen["parts"] = ask("POST", "/v1/chat/completions", hello), ask("POST", "/v1/chat/completions", hello | {"messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]})
      seen["stream"] = ask("POST", "/v1/chat/completions", hello | {"stream": True, "stream_options": {"include_usage": True}})
      seen["nothing"] = ask("POST", "/v1/chat/completions", hello | {"max_tokens": 0})
      long = hello | {"messages": [{"role": "user", "content": "abc " * 40}]}
      seen["bad"] = [ask("POST", "/v1/chat/completions", b) for b in ("{", "[]", {}, {"messages": []}, {"messages": [{"role": "user"}]}, hello | {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, hello | {"max_tokens": -1}, long, "[" * 100000)]
      seen["missing"] = ask("POST", "/v1/other", hello)
      seen["large"] = ask("POST", "/v1/chat/completions", None, {"Content-Length": str(1 << 40)})
    except Exception as e: failures.append(e)
    finally: server.shutdown()
  thread = threading.Thread(target=client)
  thread.start()
  server.serve_forever(poll_interval=0.02)
  thread.join()
  server.server_close()
  assert not failures, failures
  assert seen["models"][0] == 200 and json.loads(seen["models"][1])["data"][0]["id"] == "tiny" and b"<textarea" in seen["page"][1] and seen["none"][0] == 404 and seen["missing"][0] == 404 and seen["large"][0] == 413
  whole = json.loads(seen["whole"][1])
  text = whole["choices"][0]["message"]["content"]
  assert whole["object"] == "chat.completion" and whole["usage"]["prompt_tokens"] > 5 and whole["usage"]["total_tokens"] == whole["usage"]["prompt_tokens"] + whole["usage"]["completion_tokens"]
  assert text == "".join(chat.answer([{"role": "user", "content": "hello"}], 5)) and whole["choices"][0]["finish_reason"] in ("length", "stop")
  assert json.loads(seen["parts"][1])["choices"] == whole["choices"] and json.loads(seen["nothing"][1])["choices"][0]["message"]["content"] == ""
  events = [line[6:] for line in seen["stream"][1].decode().splitlines() if line.startswith("data: ")]
  chunks = [json.loads(e) for e in events[:-1]]
  assert events[-1] == "[DONE]" and chunks[0]["choices"][0]["delta"]["role"] == "assistant" and chunks[-1]["usage"] == whole["usage"] and chunks[-2]["choices"][0]["finish_reason"] == whole["choices"][0]["finish_reason"]
  assert "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]) == text and all(c["object"] == "chat.completion.chunk" for c in chunks)
  for status, body in seen["bad"]: assert status == 400 and json.loads(body)["error"]["message"], (status, body)

class Bytes:
  """A tokenizer of a program's own: a token is a byte."""
  def encode(self, text): return list(text.encode())
  def decode(self, ids): return bytes(ids).decode(errors="replace")
  def role(self, role): return [ord(role[0])]
  def end_turn(self, eos): return [eos]
class Says:
  """A model of a program's own, which does not say how much it reads."""
  def __init__(self, text): self.text = text
  def generate(self, ids): return iter([*self.text.encode(), 999])

def test_handler_of_the_module():
  llm.model, llm.tok, llm.bos_id, llm.eos_id = Says("ja 🙂!"), Bytes(), 1, 999
  try:
    with http.server.HTTPServer(("127.0.0.1", 0), llm.Handler) as server:
      answers = []
      def client():
        c = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        for stream in (False, True):
          c.request("POST", "/v1/chat/completions", json.dumps({"messages": [{"role": "user", "content": "hi"}], "stream": stream}))
          answers.append(c.getresponse().read().decode())
      thread = threading.Thread(target=client)
      thread.start()
      for _ in range(2): server.handle_request()
      thread.join()
    whole = json.loads(answers[0])
    assert whole["choices"][0]["message"]["content"] == "ja 🙂!" and whole["usage"] == {"prompt_tokens": 6, "completion_tokens": 8, "total_tokens": 14}, whole
    parts = [json.loads(line[6:])["choices"][0]["delta"].get("content", "") for line in answers[1].splitlines() if line.startswith("data: {")]
    assert "".join(parts) == "ja 🙂!" and "🙂" in parts, parts
    assert [t for t in Chat.of(Says("a\ufffd"), Bytes(), None, 999).answer([]) if t] == ["a", "\ufffd"] and "".join(Chat.of(Says("ab"), Bytes(), None, 999).answer([], 1)) == "a"
  finally: llm.model = llm.tok = llm.bos_id = llm.eos_id = None

def test_command():
  made()
  main(["--model", str(FILE), "--benchmark", "2"])
  e = raises(SystemExit, lambda: main(["--model", "llama3.2:1b"]), "UOPSCOPE_DATA", "Llama-3.2-1B")
  raises(SystemExit, lambda: main(["--model", __file__]), "GGUF")

if __name__ == "__main__": run(globals())
