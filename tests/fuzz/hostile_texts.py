"""Changes text files at random that uopscope reads and strangers may write: graphs in DOT, traces as JSON lines,
timelines, CSV, lessons, searches. The base file's extension gives the kind. All other knowledge is which parts look like numbers, strings
or brackets.

    change_text(random.Random(3), "a.dot", "b.dot")
"""
import os

from hostile_values import INTEGERS, texts

NUMBERS = [*map(str, INTEGERS), "1e999", "-1e999", "nan", "1.5", "9" * 400, "0x10", "--5", ""]


def words(text):
    """Places of numbers, quoted strings and names, each (begin, end)."""
    out, k = [], 0
    while k < len(text):
        c, end = text[k], k + 1
        if c == '"':
            while end < len(text) and text[end] not in '"\n': end += 1 + (text[end] == "\\")
            out.append((k + 1, min(end, len(text))))
            end += 1
        elif c.isalnum() or c in "-_.":
            while end < len(text) and (text[end].isalnum() or text[end] in "-_."): end += 1
            out.append((k, end))
        k = max(end, k + 1)
    return out


def once(r, text):
    lines = text.split("\n")
    way = r.randrange(12)
    if way < 5: # changes a word
        line = r.randrange(len(lines))
        places = words(lines[line])
        if not places: return text
        begin, end = r.choice(places)
        old = lines[line][begin:end]
        new = r.choice(NUMBERS) if old[:1].isdigit() or r.random() < 0.3 else texts(r)[:r.choice([20, 1000, 400000])]
        if r.random() < 0.5: new = new.replace("\n", " ").replace('"', "'")
        lines[line] = lines[line][:begin] + new + lines[line][end:]
    elif way == 5: del lines[r.randrange(len(lines)):][:r.choice([1, 10, 1000])]
    elif way == 6: lines = lines[:r.randrange(len(lines)) + 1]
    elif way == 7: lines.insert(r.randrange(len(lines) + 1), texts(r))
    elif way == 8: # reorders or repeats lines
        a = r.randrange(len(lines))
        some = lines[a:a + r.choice([1, 5, 50])]
        lines[r.randrange(len(lines)):0] = some * r.choice([1, 2, 1000 if len(some) < 3 else 5])
    elif way == 9:
        at = r.randrange(len(text) + 1)
        return text[:at] + r.choice(list("{}[]()\"'\\;,<>=&#`|\0\r\n\x1b") + ["->", "{" * 50000, "[" * 100000, "```", "\u2028"]) + text[at + r.choice([0, 1]):]
    elif way == 10: return "".join(r.sample(lines, len(lines))) if r.random() < 0.3 else "\n".join(r.sample(lines, len(lines)))
    else: return text.replace(*r.choice([("->", "--"), (":", ""), ('"', ""), (",", ",,"), ("}", ""), ("]", ""), ("\n", "\r"), ("\n", "")]), r.choice([1, 3, -1]))
    return "\n".join(lines)


def change_text(r, base, path):
    with open(base, encoding="utf8") as f: text = f.read()
    for _ in range(r.randrange(1, 4)):
        if len(text) < 3_000_000: text = once(r, text)
    data = text.encode("utf8", "surrogatepass")
    if r.random() < 0.1 and data:
        at = r.randrange(len(data))
        data = data[:at] + bytes(r.randrange(256) for _ in range(r.choice([1, 4, 100]))) + data[at:]
    with open(path, "wb") as f: f.write(data)


def text_calls(path, folder):
    out, end = os.path.join(folder, "out"), os.path.splitext(path)[1]
    if end == ".md": return [["lesson", path], ["lesson", path, "--teacher"]]
    if end == ".uopsearch":
        return [["search", "show", path], ["search", "show", path, "--json"], ["search", "use", path], ["search", "merge", path, "-o", out + ".uopsearch"]]
    imported = ["import", path, "-o", out + ".uoptrace"]
    return [imported, imported + ["--json"], ["open", path, "--screenshot", out + ".png"]] if end == ".dot" else [imported, imported + ["--json"]]
