"""Words of a text in C: a reader of UTF-8 that folds case as Python does, from tables of a few kilobytes."""

import re
import sys
from functools import cache

import numpy as np

from abnet.export.c_text import CPart, c_array

__all__ = ["words_code"]

Run = tuple[int, int, int, int]
_KIND = "uint_least32_t"


@cache
def _ranges(pattern: str) -> tuple[int, ...]:
    """First and last character of every run of characters that match."""
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    return tuple(place for match in re.finditer(pattern, everything) for place in (match.start(), match.end() - 1))


@cache
def _folds() -> tuple[tuple[Run, ...], tuple[tuple[int, int, int, int], ...]]:
    """Case folding: runs ``(first, last, step, folded - first)`` of characters that become one other, and the rest."""
    single: list[list[int]] = []
    several: list[tuple[int, int, int, int]] = []
    for code in range(sys.maxunicode + 1):
        folded = [ord(character) for character in chr(code).casefold()]
        if folded == [code]:
            continue
        if len(folded) > 1:
            several.append((code, folded[0], folded[1], folded[2] if len(folded) > 2 else 0))
            continue
        delta, last = (folded[0] - code) % 2**32, single[-1] if single else None
        if last is not None and last[3] == delta and code - last[1] in (1, 2) and last[2] in (0, code - last[1]):
            last[1], last[2] = code, code - last[1]
        else:
            single.append([code, code, 0, delta])
    return tuple((a, b, step or 1, delta) for a, b, step, delta in single), tuple(several)


def words_code(longest: int) -> CPart:
    """``abnet_words`` for lists whose words have at most so many bytes."""
    letters, (runs, several) = _ranges(r"[^\W\d_]+"), _folds()
    arrays = [
        c_array(_KIND, name, np.array(values))
        for name, values in (("abnet_letters", letters), ("abnet_folds", runs), ("abnet_longer", several))
    ]
    counts = {"letters": len(letters) // 2, "folds": len(runs), "longer": len(several), "longest": longest}
    numbers = len(letters) + 4 * (len(runs) + len(several))
    return CPart("\n".join([*arrays, _UNICODE % counts, _WORDS % counts]), 4 * numbers, longest + 16)


_UNICODE = """
/* The first of n rows of a sorted table, each of `step` numbers, whose second number is not below c; n if none. */
static int abnet_row_of(uint_least32_t c, const uint_least32_t *table, int n, int step, int place) {
    int low = 0, high = n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (table[middle * step + place] < c) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int abnet_within(uint_least32_t c, const uint_least32_t *ranges, int n) {
    const int row = abnet_row_of(c, ranges, n, 2, 1);
    return row < n && ranges[2 * row] <= c;
}

static int abnet_letter(uint_least32_t c) { return abnet_within(c, abnet_letters, %(letters)d); }

/* A character with its case folded: one to three others; their number. */
static int abnet_fold(uint_least32_t c, uint_least32_t *to) {
    const uint_least32_t *row;
    int place = abnet_row_of(c, abnet_folds, %(folds)d, 4, 1);
    row = abnet_folds + 4 * place;
    to[0] = c;
    if (place < %(folds)d && row[0] <= c && (c - row[0]) %% row[2] == 0) {
        to[0] = (c + row[3]) & 0xFFFFFFFFu;
        return 1;
    }
    place = abnet_row_of(c, abnet_longer, %(longer)d, 4, 0);
    row = abnet_longer + 4 * place;
    if (place >= %(longer)d || row[0] != c) return 1;
    to[0] = row[1];
    to[1] = row[2];
    to[2] = row[3];
    return row[3] != 0 ? 3 : 2;
}

/* The bytes of the character that a text begins with, 0 if it is not UTF-8. */
static size_t abnet_character(const char *s, size_t left, uint_least32_t *c) {
    const unsigned char *u = (const unsigned char *)s;
    const size_t n = u[0] < 0x80 ? 1 : u[0] < 0xC2 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : u[0] < 0xF5 ? 4 : 0;
    size_t i;
    *c = n == 1 ? u[0] : n == 2 ? u[0] & 0x1Fu : n == 3 ? u[0] & 0x0Fu : u[0] & 0x07u;
    if (n > left) return 0;
    for (i = 1; i < n; i++) {
        if ((u[i] & 0xC0) != 0x80) return 0;
        *c = *c << 6 | (u[i] & 0x3Fu);
    }
    if (n == 3 && (*c < 0x800 || (*c >= 0xD800 && *c < 0xE000))) return 0;
    return n == 4 && (*c < 0x10000 || *c > 0x10FFFF) ? 0 : n;
}

/* A character in UTF-8; its bytes. */
static size_t abnet_bytes(uint_least32_t c, unsigned char *to) {
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    size_t i;
    for (i = n - 1; i > 0; i--, c >>= 6) to[i] = (unsigned char)(0x80u | (c & 0x3Fu));
    to[0] = (unsigned char)(n == 1 ? c : (n == 2 ? 0xC0u : n == 3 ? 0xE0u : 0xF0u) | c);
    return n;
}
"""

_WORDS = """
/* 1 for each word of the text; -1 for a text that is not UTF-8. */
static int abnet_words(const char *s, const char *const *list, int n, float *f, int features) {
    char word[%(longest)d + 4];
    uint_least32_t c, folded[3];
    size_t left, step, length = 0;
    int i, k, count, letters = 0;
    for (i = 0; i < features; i++) f[i] = 0.0f;
    left = s == NULL ? 0 : abnet_strip(&s);
    if (s == NULL || abnet_blank(s, left)) {
        if (features > n) f[n] = 1.0f;
        return 0;
    }
    for (;; s += step, left -= step) {
        step = left > 0 ? abnet_character(s, left, &c) : 0;
        if (left > 0 && step == 0) return -1;
        count = left > 0 ? abnet_fold(c, folded) : 1;
        for (k = 0; k < count; k++) {
            if (left > 0 && abnet_letter(folded[k])) {
                letters++;
                if (length <= %(longest)d) length += abnet_bytes(folded[k], (unsigned char *)word + length);
                continue;
            }
            for (i = 0; i < n && letters > 1 && length <= %(longest)d; i++)
                if (strlen(list[i]) == length && memcmp(list[i], word, length) == 0) f[i] = 1.0f;
            letters = 0;
            length = 0;
        }
        if (left == 0) return 0;
    }
}
"""
