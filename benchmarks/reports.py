"""A report of a model with 50,000 labelled rows, in seconds, from the file and the table on disk.

``python benchmarks/run.py reports``. The table has numbers, categories and missing cells; the model is a mixture of
the default size (8 exact networks of 8 neurons, thermometer codes), whose weights are drawn, since time does not depend
on what they say.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from abnet.explanation.background_rows import background_rows
from abnet.model import Card, Model, save
from abnet.model.predictors.compact import Compact
from abnet.networks.bam import BAM
from abnet.report.report_table import report_table
from abnet.tables.labels import Labels
from abnet.tables.preparation import TablePreparation
from abnet.tables.preparation.coded import CodedMap
from measure import Row, at_most, stated

N_ROWS = 50_000
LIMIT = 20.0


def table() -> pl.DataFrame:
    """Ten columns of numbers, four of categories, and a label."""
    rng = np.random.default_rng(0)
    numbers = {f"number {k}": rng.normal(size=N_ROWS).round(3) for k in range(10)}
    texts = {f"text {k}": rng.choice([f"value {v}" for v in range(8)], N_ROWS) for k in range(4)}
    frame = pl.DataFrame({**numbers, **texts, "label": rng.choice(["no", "yes"], N_ROWS)})
    holes = rng.random(N_ROWS) < 0.1
    return frame.with_columns(frame["number 0"].set(pl.Series(holes), None))


def write_model(path: Path, frame: pl.DataFrame) -> None:
    """A model of the default shape, with its preparation and the rows that explanations compare with."""
    rng = np.random.default_rng(1)
    first = frame.drop("label")[:5_000]
    base = TablePreparation().fit(first).map_
    features = base.transform(first)
    coded = CodedMap.of(base, features)
    networks = [BAM.init(rng, (coded.n_features_out, 8, 1)) for _ in range(8)]
    card = Card(target="label", background=background_rows(features))
    labels = Labels(np.array(["no", "yes"]))
    save(Model(Compact.from_networks(networks), labels, coded, tuple(first.columns), card=card), path)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        frame = table()
        frame.write_csv(folder / "rows.csv")
        write_model(folder / "model.abnet", frame)
        for what, rows_of in (("with 50,000 rows", folder / "rows.csv"), ("from the file alone", None)):
            begin = time.perf_counter()
            outcome = report_table(folder / "model.abnet", folder / "report.html", rows_of)
            seconds = time.perf_counter() - begin
            detail = f"seconds; {outcome.size / 1000:,.0f} kB"
            yield (
                at_most(f"report {what}", seconds, LIMIT, detail)
                if rows_of
                else stated(f"report {what}", seconds, detail)
            )
