"""Ways to damage bytes, and ways to write the same edges differently."""

from __future__ import annotations

import gzip

from benchmarks.attack.outcomes import Case

SEPARATORS = (",", ";", "\t", " ", "  ", ", ")
HEADERS = (("source", "target"), ("u", "v"), ("FromNodeId", "ToNodeId"), ("node_1", "node_2"), ("src", "dst"))
ODD_IDS = (
    *(
        "NaN",
        "nan",
        "inf",
        "-1",
        "-0",
        "+3",
        "1.5",
        "2.0",
        "1e3",
        "1e+03",
        "1e-2",
        "0x10",
        "1_000",
        "1,5",
        "",
    ),
    *(
        "99999999999999999999",
        "9223372036854775807",
        "2147483648",
        "4294967296",
        "007",
        "NA",
        "null",
        "-",
        "?",
    ),
    *("٣", "１", "²", "é", "n\u00a0m", "\u2028", "\x85", "\x0b", "\x1c", "\ufeff", "#", "%", '"', "'", "a b"),
    *("source", "\x1b[31m", "\u202e", "=1+1", "..", "\\", "1 2", "\ud7ff", "𝟙", "true", "None", "1.", ".5"),
)


def flipped(case: Case, data: bytes, most: int = 4) -> bytes:
    """Return data with some bits flipped."""
    changed = bytearray(data)
    for _ in range(case.number(1, most)):
        at = case.number(0, len(changed) - 1)
        changed[at] ^= 1 << case.number(0, 7)
        case.tell("flip in byte", at)
    return bytes(changed)


def truncated(case: Case, data: bytes) -> bytes:
    """Return the beginning of data."""
    length = case.number(0, len(data) - 1)
    case.tell("cut after", length)
    return data[:length]


def spliced(case: Case, data: bytes) -> bytes:
    """Return data with random bytes put in, or with a piece taken out or repeated."""
    at, length = case.number(0, len(data)), case.number(1, 12)
    how = case.pick(["insert", "remove", "repeat", "zeros"])
    case.tell(how, length, "at", at)
    piece = {
        "insert": case.rng.bytes(length),
        "remove": b"",
        "repeat": data[at : at + length] * 2,
        "zeros": bytes(length),
    }[how]
    return data[:at] + piece + data[at + (length if how in ("remove", "repeat") else 0) :]


def mistyped(case: Case, data: bytes) -> bytes:
    """Return text in which a few characters are others that such a text may have."""
    changed = bytearray(data)
    for _ in range(case.number(1, 3)):
        at = case.number(0, len(changed) - 1)
        changed[at] = case.pick(b'0123456789 ,;\t#%.-+eE\n\r"_x')
        case.tell("byte", at, "is now", repr(chr(changed[at])))
    return bytes(changed)


def damaged(case: Case, data: bytes) -> bytes:
    """Return data damaged in one of these ways."""
    return case.pick([flipped, truncated, spliced])(case, data)


def damaged_text(case: Case, data: bytes) -> bytes:
    """Return text damaged in one of these ways, most often by a typing error."""
    return case.pick([mistyped, mistyped, mistyped, damaged])(case, data)


def packed(data: bytes) -> bytes:
    """Return data as a gzip file, the same bytes each time."""
    return gzip.compress(data, mtime=0)


def random_ids(case: Case, count: int) -> list[str]:
    """Return distinct ids: consecutive, 1-based or scattered numbers, names, or names with odd letters."""
    kind = case.pick(["0-based", "1-based", "scattered", "huge", "names", "unicode", "hex", "words", "mixed"])
    case.tell("ids", kind)
    return {
        "0-based": lambda: [str(one) for one in range(count)],
        "1-based": lambda: [str(one) for one in range(1, count + 1)],
        "scattered": lambda: [str(one) for one in case.rng.choice(10_000, count, replace=False)],
        "huge": lambda: [str(2**40 + 977 * one) for one in range(count)],
        "names": lambda: [f"n{one}" for one in range(count)],
        "unicode": lambda: [f"Ø{chr(0x4E00 + one)}" for one in range(count)],
        "hex": lambda: [f"{one:03x}e5" for one in range(count)],
        "words": lambda: [f"Node-{one}.x" for one in range(count)],
        "mixed": lambda: [str(one) if one % 2 else f"x{one}" for one in range(count)],
    }[kind]()


def random_pairs(case: Case, ids: list[str]) -> list[tuple[str, str]]:
    """Return pairs of ids in which each id occurs; some are repeated, turned or self-loops."""
    pairs = [(ids[at], ids[(at + 1) % len(ids)]) for at in range(len(ids))]
    pairs += [(case.pick(ids), case.pick(ids)) for _ in range(case.number(0, len(ids)))]
    order = case.rng.permutation(len(pairs))
    return [pairs[at][:: case.pick([1, -1])] for at in order]


def written(case: Case, pairs: list[tuple[str, str]]) -> bytes:
    """Return pairs as a text file in one of many styles, all of which mean the same."""
    mark = case.pick(SEPARATORS)
    extra = case.number(0, 2) if case.chance(0.3) else 0
    quoted = case.chance(0.15)
    lines = []
    if case.chance(0.3):
        lines.append(mark.join((*case.pick(HEADERS), *["weight", "year"][:extra])))
    for u, v in pairs:
        fields = [f'"{one}"' if quoted else one for one in (u, v)]
        lines.append(mark.join([*fields, *[str(case.number(0, 9)) for _ in range(extra)]]))
    for _ in range(case.number(0, 3)):
        filler = case.pick(["# a comment, with 1 2", "% 3 4", "", "   ", "#", "\t" if mark != "\t" else " "])
        lines.insert(case.number(0, len(lines)), filler)
    if case.chance(0.2):
        lines = [line + case.pick([" ", "  "]) for line in lines]
    end = case.pick(["\n", "\n", "\r\n", "\r"])
    text = end.join(lines) + (end if case.chance(0.8) else "")
    data = text.encode(case.pick(["utf-8", "utf-8", "utf-8-sig"]))
    case.tell("separator", repr(mark), "end", repr(end))
    return data
