"""Downloads, with a stand-in for the network that serves frames as OpenML does."""

import urllib.error
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from abnet.paper import load
from abnet.paper.data.originals import cache_folder
from abnet.paper.data.readers import ADULT_COLUMNS


def read(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / f"{name}.gz", header=None, skipinitialspace=True, low_memory=False)


def served_adult(folder: Path) -> Any:
    """The test file first, missing values for ``?``, categories, no dot after the labels."""
    table = pd.concat([read(folder, "adult.test"), read(folder, "adult.data")], ignore_index=True)
    data = table.iloc[:, :14].set_axis(list(ADULT_COLUMNS), axis=1).replace("?", np.nan)
    text = [name for name in data if data[name].dtype.kind not in "if"]
    return SimpleNamespace(
        data=data.astype(dict.fromkeys(text, "category")), target=table[14].str.rstrip(".").astype("category")
    )


def served_ads(folder: Path) -> Any:
    """Features as nominal text (some as categories: all would take long), labels ``ad`` and ``noad``."""
    table = read(folder, "ad.data").astype(str)
    target = table.iloc[:, -1].map({"ad.": "ad", "nonad.": "noad"}).astype("category")
    return SimpleNamespace(data=table.iloc[:, :-1].astype(dict.fromkeys(range(40), "category")), target=target)


def test_adult_from_openml_is_the_original(originals: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = load("adult")
    monkeypatch.delenv("ABNET_DATA")
    calls: list[dict[str, Any]] = []

    def fetch(**options: Any) -> Any:
        calls.append(options)
        return served_adult(originals)

    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    data = load("adult", download=True)
    assert calls[0]["data_id"] == 1590
    assert calls[0]["data_home"].startswith(str(tmp_path))
    assert np.array_equal(data.X, expected.X)
    assert np.array_equal(data.y, expected.y)
    assert data.feature_names == expected.feature_names
    assert np.array_equal(load("adult").X, expected.X)  # from the cache, without asking again
    assert len(calls) == 1


def test_ads_from_openml_are_the_original(originals: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = load("ads")
    monkeypatch.delenv("ABNET_DATA")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: served_ads(originals))
    data = load("ads", download=True)
    assert np.array_equal(data.X, expected.X)
    assert np.array_equal(data.y, expected.y)


def mnist_frame(counts: list[int]) -> Any:
    digits = np.repeat(np.arange(10), counts)
    pixels = np.zeros((len(digits), 784), np.uint8)
    pixels[:, 5] = digits * 20
    data = pd.DataFrame(pixels, columns=[f"pixel{i}" for i in range(1, 785)])
    return SimpleNamespace(data=data, target=pd.Series(digits.astype(str)).astype("category"))


COUNTS = [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]


def test_mnist_from_openml(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: mnist_frame(COUNTS))
    data = load("mnist49", download=True)
    assert data.X.shape == (13782, 784)
    assert np.allclose(data.X[:, 5], np.where(data.y == 1, 180, 80) / 255)


def test_another_set_from_openml_is_refused_and_not_kept(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [COUNTS[1], COUNTS[0], *COUNTS[2:]]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: mnist_frame(wrong))
    with pytest.raises(ValueError, match=r"\b554\b"):
        load("mnist17", download=True)
    assert not (cache_folder() / "openml").exists()


@pytest.mark.parametrize("error", [urllib.error.URLError("no route"), ValueError("unknown data set")])
def test_without_a_network_the_error_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(**options: Any) -> None:
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(ConnectionError, match=r"40978 .*ad\.data.*ABNET_DATA"):
        load("ads", download=True)


def test_nothing_is_fetched_unless_asked(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: pytest.fail("fetched"))
    with pytest.raises(FileNotFoundError):
        load("ads")


def test_files_on_disk_come_before_a_download(originals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: pytest.fail("fetched"))
    assert load("ads", download=True).X.shape == (3279, 1554)
