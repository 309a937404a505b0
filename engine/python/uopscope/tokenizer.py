# Text to token numbers and back: byte-pair encoding with the vocabularies of GGUF files of Llama 3, Qwen and OLMo.
#
#   tok = SimpleTokenizer.from_gguf_kv(kv)
#   ids = tok.role("user") + tok.encode("hello") + tok.end_turn(eos)
#   tok.decode(ids)
#
# The number of a token is its rank: of all pairs that may be joined, the one whose joined token has the lowest number is
# joined first.
import codecs, functools, re, sys, unicodedata

PRESETS = ("llama3", "llama-v3", "llama-bpe", "qwen2", "olmo")

@functools.cache
def _byte_letters():
  """The printable letter for each byte in a vocabulary, as introduced by GPT-2."""
  plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
  others = [b for b in range(256) if b not in plain]
  return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(others)}

@functools.cache
def _letters(kind):
  """A character set for regular expressions, as ranges: all characters whose Unicode category begins with this letter."""
  last_assigned = 0x323b0
  found = [c for c in range(last_assigned) if unicodedata.category(chr(c)).startswith(kind)]
  starts = [c for c, before in zip(found, [-2] + found) if c != before + 1]
  ends = [c for c, after in zip(found, found[1:] + [-2]) if after != c + 1]
  return "".join(f"{re.escape(chr(a))}-{re.escape(chr(b))}" if b > a else re.escape(chr(a)) for a, b in zip(starts, ends))

@functools.cache
def _words():
  space, number, letter = r"\t\n\x0b\x0c\r\x85" + _letters("Z"), _letters("N"), _letters("L")
  return re.compile("(?i:'s|'t|'re|'ve|'m|'ll|'d)" rf"|[^\r\n{number}{letter}]?[{letter}]+" rf"|[{number}]{{1,3}}" rf"| ?[^{space}{number}{letter}]+[\r\n]*"
                    rf"|[{space}]*[\r\n]+" rf"|[{space}]+(?![^{space}])" rf"|[{space}]+")

class SimpleTokenizer:
  """`normal_tokens` are spelled in byte letters, `special_tokens` as they appear in text."""
  def __init__(self, normal_tokens, special_tokens, preset="llama3"):
    if preset not in PRESETS: raise ValueError(f"Invalid tokenizer preset '{preset}'; known are {', '.join(PRESETS)}")
    letters = _byte_letters()
    try: self._normal_tokens = {bytes(letters[c] for c in token): i for token, i in normal_tokens.items()}
    except KeyError as e: raise ValueError(f"a token holds {e.args[0]!r}, which is the letter of no byte: the vocabulary is of another kind than byte-pair encoding") from None
    self._special_tokens, self.preset = special_tokens, preset
    self._tok2bytes = {i: token for token, i in self._normal_tokens.items()} | {i: token.encode() for token, i in special_tokens.items()}
    longest_first = sorted(special_tokens, key=len, reverse=True)
    self._specials = re.compile("|".join(map(re.escape, longest_first)) if special_tokens else r"(?!)")

  @staticmethod
  def from_gguf_kv(kv):
    missing = [k for k in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type", "tokenizer.ggml.pre") if k not in kv]
    if missing: raise ValueError(f"the file has no {missing[0]}: no tokenizer this program knows")
    normal, special = {}, {}
    for i, (token, kind) in enumerate(zip(kv["tokenizer.ggml.tokens"], kv["tokenizer.ggml.token_type"])): (normal if kind == 1 else special)[token] = i
    return SimpleTokenizer(normal, special, kv["tokenizer.ggml.pre"])

  def _encode_word(self, word):
    ranks = self._normal_tokens
    if word in ranks: return [ranks[word]]
    parts = [bytes([b]) for b in word]
    while len(parts) > 1:
      rank, at = min((ranks.get(a + b, sys.maxsize), k) for k, (a, b) in enumerate(zip(parts, parts[1:])))
      if rank == sys.maxsize: break
      parts[at:at + 2] = [parts[at] + parts[at + 1]]
    unknown = [p for p in parts if p not in ranks]
    if unknown: raise RuntimeError(f"token not found: {unknown[0]!r} is not in the vocabulary")
    return [ranks[p] for p in parts]
  def _encode_plain(self, text): return [i for word in _words().findall(text) for i in self._encode_word(word.encode())]

  def encode(self, text):
    """Special tokens in the text are kept as tokens; the text between them is split into words and encoded."""
    ids, at = [], 0
    for special in self._specials.finditer(text):
      ids += self._encode_plain(text[at:special.start()]) + [self._special_tokens[special.group()]]
      at = special.end()
    return ids + self._encode_plain(text[at:])
  def decode(self, ids): return b"".join(self._tok2bytes[i] for i in ids).decode(errors="replace")
  def stream(self):
    """A function that decodes one token after another and holds back an incomplete character."""
    whole = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return lambda i=None: whole.decode(b"" if i is None else self._tok2bytes[i], final=i is None)

  def role(self, role):
    """The tokens that begin a turn of a conversation."""
    if self.preset == "olmo": return self.encode(f"<|{role}|>\n")
    if self.preset == "qwen2": return self.encode(f"<|im_start|>{role}\n")
    return self.encode(f"<|start_header_id|>{role}<|end_header_id|>\n\n")
  def end_turn(self, eos_id): return self.encode("\n") if self.preset == "olmo" else [eos_id] + (self.encode("\n") if self.preset == "qwen2" else [])
