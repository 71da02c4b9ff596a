"""A main program for an exported model: reads a CSV file, prints labels and probabilities."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from abnet.export.c_text import c_plain, c_string, with_prefix
from abnet.export.plan import ExportPlan
from abnet.tables.columns import BooleanColumn, DateColumn, NumericColumn

__all__ = ["example_program"]

_READERS = {NumericColumn: "number", BooleanColumn: "truth", DateColumn: "date", type(None): "number"}


def example_program(
    plan: ExportPlan, members: list[str], prefix: str, files: Sequence[Path], *, single: bool = False
) -> str:
    """C99 that reads a CSV file with a header from standard input, and prints one line for each row.

    Source, header and example are `files`, as `c_files` names them.
    """
    columns = plan.columns or (None,) * plan.n_columns
    readers = [_READERS.get(type(column), "text") for column in columns]
    called = {"number", *readers}
    names = plan.names or tuple(f"column {place}" for place in range(1, plan.n_columns + 1))
    cells = [f"row.{member}" for member in members] or [f"row[{i}]" for i in range(plan.n_columns)]
    real, cast = ("float", "(float)") if single else ("double", "")
    read = [
        f"        {c} = {cast * (r != 'text')}read_{r}(cell(line, {i}));"
        for i, (c, r) in enumerate(zip(cells, readers, strict=True))
    ]
    shares = plan.model.predictor.shares
    parts = {
        "helpers": "".join(code for name, code in _HELPERS.items() if name in called),
        "names": ",\n    ".join(map(c_string, names)),
        "row": "abnet_row row;" if members else f"{real} row[ABNET_COLUMNS];",
        "read": "\n".join(read),
        "declared": "float p[ABNET_CLASSES];\n    int k;" if shares else "",
        "call": f"abnet_predict({'&row' if members else 'row'}{', p' if shares else ''})",
        "probabilities": '        for (k = 0; k < ABNET_CLASSES; k++) printf(",%.6g", (double)p[k]);\n'
        if shares
        else "",
    }
    source, header, own = (file.name for file in files)
    named = [shlex.quote(name) for name in (own, source, f"./{files[0].stem}")]
    command = c_plain(f"cc -O3 -std=c99 {named[0]} {named[1]} -o {named[2]} -lm && {named[2]} < rows.csv")
    return _HEAD % {"command": command, "header": header} + with_prefix(_MAIN % parts, prefix)


_HELPERS = {
    "number": """
/* A missing number is NaN. Thousands separators, units and decimal commas are not read: they stop the program. */
static double read_number(const char *s) {
    char *end;
    const double x = s == NULL ? (double)NAN : strtod(s, &end);
    if (s != NULL && (end == s || *end != 0)) fail("this cell cannot be read: ", s);
    return x;
}
""",
    "truth": """
static double read_truth(const char *s) {
    char word[6] = {0};
    int i;
    for (i = 0; i < 5 && s != NULL && s[i] != 0; i++) word[i] = (char)tolower((unsigned char)s[i]);
    if (s == NULL || s[i] != 0) return read_number(s);
    if (strcmp(word, "true") == 0 || strcmp(word, "yes") == 0) return 1.0;
    if (strcmp(word, "false") == 0 || strcmp(word, "no") == 0) return 0.0;
    return read_number(s);
}
""",
    "date": """
/* Days since 1970-01-01 of a date YYYY-MM-DD, or the number of days itself. */
static double read_date(const char *s) {
    long y, m, d, era, year;
    char rest;
    if (s == NULL || sscanf(s, "%4ld-%2ld-%2ld%c", &y, &m, &d, &rest) != 3) return read_number(s);
    if (m < 1 || m > 12 || d < 1 || d > 31) fail("no such date: ", s);
    if (m <= 2) y--;
    era = (y >= 0 ? y : y - 399) / 400;
    year = y - era * 400;
    d += (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 - 1;
    return (double)(era * 146097 + year * 365 + year / 4 - year / 100 + d - 719468);
}
""",
    "text": """
static const char *read_text(const char *s) { return s; }
""",
}

_HEAD = """/*
 * A classifier written by abnet: an example that reads a CSV file with a header from standard input, and prints the
 * label of every row, and its probabilities if it has any. Change it as you need.
 *
 *     %(command)s
 */
#include "%(header)s"
"""

_MAIN = """#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 65536
#define MOST_CELLS 4096

typedef struct {
    char bytes[MOST_BYTES];
    char *cells[MOST_CELLS];
    int n;
} csv_line;

static const char *const names[ABNET_COLUMNS] = {
    %(names)s
};
static int places[ABNET_COLUMNS];
static long number_of_line = 0;
static int column = -1; /* whose cell is being read */

static void fail(const char *what, const char *which) {
    fprintf(stderr, "line %%ld", number_of_line);
    if (column >= 0) fprintf(stderr, ", column %%s", names[column]);
    fprintf(stderr, ": %%s%%s\\n", what, which);
    exit(1);
}

/* The next line, taken apart at commas; cells in double quotes may hold commas, line ends and doubled quotes. */
static int next_line(csv_line *line) {
    int c = getchar(), quoted = 0, used = 0;
    number_of_line++;
    if (c == EOF) return 0;
    line->cells[0] = line->bytes;
    line->n = 1;
    for (; c != EOF && (quoted || c != '\\n'); c = getchar()) {
        if (used >= MOST_BYTES - 2) fail("too long", "");
        if (c == '\\n') number_of_line++;
        if (c == '"') {
            const int next = quoted ? getchar() : 0;
            if (next == '"') line->bytes[used++] = '"';
            else {
                quoted = !quoted;
                if (next != 0) ungetc(next, stdin);
            }
        } else if (c == ',' && !quoted) {
            line->bytes[used++] = 0;
            if (line->n >= MOST_CELLS) fail("too many cells", "");
            line->cells[line->n++] = line->bytes + used;
        } else if (c != '\\r' || quoted) {
            line->bytes[used++] = (char)c;
        }
    }
    line->bytes[used] = 0;
    return 1;
}

/* The cell of a column of the model, NULL if it is empty. */
static const char *cell(const csv_line *line, int of) {
    column = of;
    return line->cells[places[of]][0] == 0 ? NULL : line->cells[places[of]];
}
%(helpers)s
int main(void) {
    static csv_line first, one, *line = &one;
    %(row)s
    %(declared)s
    int i, j, code;
    if (!next_line(&first)) fail("there is no header", "");
    if (memcmp(first.bytes, "\\357\\273\\277", 3) == 0) first.cells[0] += 3; /* the mark that some programs put first */
    for (i = 0; i < ABNET_COLUMNS; i++) {
        for (j = 0; j < first.n && strcmp(first.cells[j], names[i]) != 0; j++) continue;
        if (j == first.n) fail("the header lacks column ", names[i]);
        places[i] = j;
    }
    while (next_line(line)) {
        if (line->n == 1 && first.n > 1 && line->bytes[0] == 0) continue;
        if (line->n != first.n) fail("not as many cells as the header has", "");
%(read)s
        column = -1;
        code = %(call)s;
        if (code < 0 && code != ABNET_NO_ANSWER) fail("refused for its cell in column ", abnet_refused(code));
        printf("%%s", code < 0 ? "" : abnet_label(code)); /* no label: the model abstains */
%(probabilities)s        putchar('\\n');
    }
    return 0;
}
"""
