"""A main program for an exported model: reads a CSV file, prints labels and probabilities."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from abnet.export.c_text import c_plain, c_string, with_prefix
from abnet.export.export_plan import ExportPlan
from abnet.tables.columns import BooleanColumn, DateColumn, NumericColumn, TextColumn

__all__ = ["example_program"]

_READERS: dict[type, str] = {NumericColumn: "number", BooleanColumn: "truth", DateColumn: "date", TextColumn: "text"}
"""The function of `_HELPERS` that reads the cells of a column; an array has numbers."""


def example_program(
    plan: ExportPlan, members: list[str], prefix: str, files: Sequence[Path], *, single: bool = False
) -> str:
    """C99 that reads a CSV file with a header from standard input, and prints one line for each row.

    Source, header and example are `files`, as `c_files` names them.
    """
    columns = plan.columns or (None,) * plan.n_columns
    readers = [_READERS.get(type(column), "number") for column in columns]
    # Truths and dates may be written as numbers, too.
    called = {"number", *readers}
    names = plan.names or tuple(f"column {place}" for place in range(1, plan.n_columns + 1))
    shares = plan.model.predictor.shares
    parts = {
        "helpers": "".join(code for name, code in _HELPERS.items() if name in called),
        "names": ",\n    ".join(map(c_string, names)),
        "row": _row_declaration(members, single),
        "read": _read_statements(members, readers, single),
        "declared": "",
        "call": f"abnet_predict({', '.join(_arguments(members, shares))})",
        "probabilities": "",
    }
    if shares:
        parts["declared"] = "float p[ABNET_CLASSES];\n    int k;"
        parts["probabilities"] = '        for (k = 0; k < ABNET_CLASSES; k++) printf(",%.6g", (double)p[k]);\n'
    head = _HEAD % {"command": _compile_command(files), "header": files[1].name}
    return head + with_prefix(_MAIN % parts, prefix)


def _row_declaration(members: list[str], single: bool) -> str:
    if members:
        return "abnet_row row;"
    if single:
        return "float row[ABNET_COLUMNS];"
    return "double row[ABNET_COLUMNS];"


def _read_statements(members: list[str], readers: list[str], single: bool) -> str:
    """One statement for each column, which reads its cell into the row."""
    lines = []
    for place, reader in enumerate(readers):
        target = f"row[{place}]"
        if members:
            target = f"row.{members[place]}"
        cast = ""
        if single and reader != "text":
            cast = "(float)"
        lines.append(f"        {target} = {cast}read_{reader}(cell(line, {place}));")
    return "\n".join(lines)


def _arguments(members: list[str], shares: bool) -> list[str]:
    arguments = ["row"]
    if members:
        arguments = ["&row"]
    if shares:
        arguments.append("p")
    return arguments


def _compile_command(files: Sequence[Path]) -> str:
    """How to compile and run the example, as text for a comment."""
    example = shlex.quote(files[2].name)
    source = shlex.quote(files[0].name)
    program = shlex.quote(f"./{files[0].stem}")
    return c_plain(f"cc -O3 -std=c99 {example} {source} -o {program} -lm && {program} < rows.csv")


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
