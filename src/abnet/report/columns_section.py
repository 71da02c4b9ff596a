"""The columns that a model reads, and remarks on columns that were left out or look doubtful."""

from collections.abc import Sequence

from markupsafe import Markup

from abnet.model.model import Model
from abnet.report.markup import html_table, rendered
from abnet.tables.columns import Column, NumericColumn, TextColumn
from abnet.tables.note_sentences import named_option, note_sentence
from abnet.utils.wording import number_of, shortened

__all__ = ["columns_section"]


def columns_section(model: Model) -> Markup:
    """The columns that the model reads, and remarks on columns that were left out or look doubtful."""
    preparation = model.preparation
    codes = ""
    if preparation.codes:
        n_codes = sum(map(len, preparation.codes))
        codes = f"{n_codes:,} thermometer codes (is the value above a threshold?) are added to the features."
    plain = ""
    used: Markup | str = ""
    remarks: Markup | str = ""
    if preparation.columns:
        used = _used_table([(column.name, _kind(column), _features(column)) for column in preparation.columns])
        notes = [[", ".join(note.columns), note_sentence(note, named_option)] for note in preparation.notes]
        if notes:
            remarks = html_table(["column", "remark"], _shortened(notes), caption="Remarks", left=2)
    elif model.feature_names is not None:
        used = _used_table([(name, "numeric", "1 feature") for name in model.feature_names])
    else:
        n_columns = preparation.n_features_in or model.n_inputs
        plain = f"Arrays of {n_columns:,} numbers without names."
    return rendered("columns.html", used=used, codes=codes, plain=plain, remarks=remarks)


def _used_table(columns: Sequence[tuple[str, str, str]]) -> Markup:
    lines = _shortened(_grouped(columns))
    return html_table(["column", "kind", "features"], lines, caption="Columns used", left=3)


def _grouped(columns: Sequence[tuple[str, str, str]]) -> list[list[str]]:
    """One line for all columns of the same kind with the same features.

    Examples
    --------
    >>> _grouped([("a", "numeric", "1 feature"), ("b", "text", "x, y"), ("c", "numeric", "1 feature")])
    [['a, c', 'numeric', '1 feature each'], ['b', 'text', 'x, y']]
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name, kind, features in columns:
        groups.setdefault((kind, features), []).append(name)
    lines = []
    for (kind, features), names in groups.items():
        if len(names) > 1:
            features += " each"
        lines.append([", ".join(names), kind, features])
    return lines


def _kind(column: Column) -> str:
    if isinstance(column, NumericColumn):
        unit = column.form.before or column.form.after
        if unit:
            return f"{column.kind}, in {unit}"
    return column.kind


def _features(column: Column) -> str:
    if not isinstance(column, TextColumn):
        return number_of(len(column.features), "feature")
    categories = ", ".join(shortened(name) for name in column.categories[:6])
    n_others = len(column.categories) - 6
    if n_others > 0:
        categories += f" and {n_others} more"
    return categories


def _shortened(lines: Sequence[list[str]], most: int = 100) -> list[list[str]]:
    """The first lines, with very long cells cut, and a line that says how many lines follow."""
    short_lines = [[shortened(cell, 2_000) for cell in line] for line in lines[:most]]
    if len(lines) > most:
        blank = [""] * (len(lines[0]) - 1)
        short_lines.append([f"and {len(lines) - most:,} more", *blank])
    return short_lines


# A typical row
