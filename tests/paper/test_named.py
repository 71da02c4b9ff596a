import gzip
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abnet.paper import Dataset, load, names
from abnet.paper.data.originals import SHA256

SHAPES = {
    "ads": (3279, 1554),
    "adult": (48842, 108),
    "mnist17": (15170, 784),
    "mnist49": (13782, 784),
    "mnist56": (13189, 784),
    "mnistLH": (70000, 784),
}


def tiny(**changes: object) -> dict[str, object]:
    values = {"name": "t", "X": np.zeros((2, 1), np.float32), "y": np.array([-1, 1]), "feature_names": ("a",)}
    return {**values, "classes": ("no", "yes"), "description": "", **changes}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((2, 1))}, "float32"),
        ({"X": np.zeros((2, 2), np.float32, order="F")}, "C-contiguous"),
        ({"y": np.array([0, 1])}, "-1"),
        ({"y": np.array([1])}, "2 labels"),
        ({"feature_names": ()}, r"\b0\b.*\b1\b"),
    ],
)
def test_a_dataset_refuses_arrays_that_break_its_promise(change: dict[str, object], message: str) -> None:
    Dataset(**tiny())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        Dataset(**tiny(**change))  # type: ignore[arg-type]


def test_names_say_which_files_are_needed() -> None:
    listed = names()
    assert {name for name, files in listed.items() if files} == set(SHAPES)
    assert {file for files in listed.values() for file in files} == set(SHA256)
    assert {"digits", "digits17", "digits49", "digits56", "breast_cancer", "circles"} <= set(listed)


@pytest.mark.parametrize("name", ["mnist71", "digits77", "mnist", "adults", "../ads", "mnistLL"])
def test_unknown_names_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match="digits, "):
        load(name)


def test_a_misspelt_name_gets_a_suggestion() -> None:
    with pytest.raises(ValueError, match="'adult'"):
        load("adults")


@pytest.mark.parametrize("name", list(SHAPES))
def test_shapes_and_types_of_the_papers_sets(originals: Path, name: str) -> None:
    data = load(name)
    assert data.X.shape == SHAPES[name]
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    assert data.y.dtype == np.int64
    assert set(data.y.tolist()) == {-1, 1}
    assert len(set(data.feature_names)) == data.X.shape[1]


def test_ads_agree_with_a_plain_csv_reader(originals: Path) -> None:
    table = pd.read_csv(originals / "ad.data.gz", header=None, skipinitialspace=True, low_memory=False)
    data = load("ads")
    assert np.array_equal(data.X, table.iloc[:, 4:-1].to_numpy(np.float32))
    assert np.array_equal(data.y == -1, table.iloc[:, -1] == "ad.")


def adult_table(folder: Path) -> pd.DataFrame:
    parts = [
        pd.read_csv(folder / f"adult.{end}.gz", header=None, skipinitialspace=True, na_filter=False)
        for end in ("data", "test")
    ]
    return pd.concat(parts, ignore_index=True)


def test_adult_agrees_with_dummies_of_a_plain_csv_reader(originals: Path) -> None:
    table = adult_table(originals)
    data = load("adult")
    dummies = pd.get_dummies(table.iloc[:, :14], columns=[1, 3, 5, 6, 7, 8, 9, 13], dtype=np.float32)
    ours = pd.DataFrame(data.X, columns=list(data.feature_names))
    assert np.array_equal(ours["fnlwgt"], table[2])
    assert sum(name.endswith("=?") for name in data.feature_names) == 3
    # pandas puts the numeric columns first
    order = sorted(range(108), key=lambda i: "=" in data.feature_names[i])
    assert np.array_equal(data.X[:, order], dummies.to_numpy(np.float32))
    assert np.array_equal(data.y == 1, table[14].str.startswith(">50K"))


def test_mnist_variants_are_parts_of_one_another(originals: Path) -> None:
    everything = load("mnistLH")
    labels = gzip.decompress((originals / "train-labels-idx1-ubyte.gz").read_bytes())[8:]
    labels += gzip.decompress((originals / "t10k-labels-idx1-ubyte.gz").read_bytes())[8:]
    digits = np.array(list(labels))
    assert np.array_equal(everything.y == 1, digits > 4)
    pixels = gzip.decompress((originals / "t10k-images-idx3-ubyte.gz").read_bytes())[16 : 16 + 784]
    assert np.allclose(everything.X[60000], np.array(list(pixels)) / 255, atol=1e-7)
    for name, low, high in [("mnist17", 1, 7), ("mnist49", 4, 9), ("mnist56", 5, 6)]:
        data = load(name)
        rows = np.isin(digits, (low, high))
        assert np.array_equal(data.X, everything.X[rows])
        assert np.array_equal(data.y == 1, digits[rows] == high)


@pytest.mark.parametrize("name", ["ads", "adult"])
def test_the_papers_preparation_is_apart_from_the_raw_features(originals: Path, name: str) -> None:
    raw = load(name).X.astype(float)
    ready = load(name, standardise=True).X
    columns = [0, 5, raw.shape[1] - 1]
    expected = (raw[:, columns] - raw[:, columns].mean(0)) / raw[:, columns].std(0)
    assert np.allclose(ready[:, columns], expected, atol=1e-5)
    assert not np.array_equal(raw, ready)


def test_a_second_load_does_not_parse_again(originals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load("mnistLH")
    monkeypatch.setattr("abnet.paper.data.originals.read_checked", lambda *_: pytest.fail("parsed again"))
    second = load("mnistLH")
    assert np.array_equal(first.X, second.X)


def test_plain_files_do_as_well_as_gzipped_ones(originals: Path, cache: Path, tmp_path: Path) -> None:
    gzipped = load("ads", data_dir=originals)
    (tmp_path / "ad.data").write_bytes(gzip.decompress((originals / "ad.data.gz").read_bytes()))
    assert np.array_equal(load("ads", data_dir=tmp_path).X, gzipped.X)


def test_the_folder_given_comes_before_the_environment_and_the_cache(
    originals: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.mkdir(parents=True)
    shutil.copy(originals / "ad.data.gz", cache)
    assert load("ads").X.shape == SHAPES["ads"]
    monkeypatch.setenv("ABNET_DATA", str(tmp_path / "env"))
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "ad.data").write_bytes(b"not the file")
    with pytest.raises(ValueError, match=r"ad\.data\b.*checksum"):
        load("ads")
    assert load("ads", data_dir=originals).X.shape == SHAPES["ads"]


def test_absent_files_are_listed_with_places_and_ways_to_get_them(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ABNET_DATA", str(tmp_path / "env"))
    with pytest.raises(FileNotFoundError) as caught:
        load("adult", data_dir=tmp_path / "given")
    message = str(caught.value)
    for part in [
        "adult.data, adult.test",
        str(tmp_path / "given"),
        str(tmp_path / "env"),
        str(cache),
        "download=True",
        "1590",
    ]:
        assert part in message
    assert "\n" not in message


def damaged(path: Path, how: str) -> bytes:
    content = path.read_bytes()
    flipped = bytearray(gzip.decompress(content))
    flipped[1000] ^= 1
    variants = {
        "truncated": content[: len(content) // 2],
        "changed": gzip.compress(bytes(flipped), 1),
        "empty": b"",
        "plain text": b"hello",
        "bit rot": content[:5000] + bytes([content[5000] ^ 255]) + content[5001:],
    }
    return variants[how]


@pytest.mark.parametrize("how", ["truncated", "changed", "empty", "plain text", "bit rot"])
def test_a_damaged_file_is_an_error_that_names_it_even_when_the_cache_is_warm(
    originals: Path, tmp_path: Path, how: str
) -> None:
    load("ads")
    (tmp_path / "ad.data.gz").write_bytes(damaged(originals / "ad.data.gz", how))
    with pytest.raises(ValueError, match=r"ad\.data\.gz"):
        load("ads", data_dir=tmp_path)


def test_a_damaged_cache_is_parsed_again(originals: Path, cache: Path) -> None:
    first = load("ads", data_dir=originals)
    for path in (cache / "parsed").glob("*.X.npy"):
        path.write_bytes(path.read_bytes()[:1000])
    assert np.array_equal(load("ads", data_dir=originals).X, first.X)


def test_a_cache_that_cannot_be_written_is_no_error(originals: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("a file where the folder should be")
    assert load("ads", data_dir=originals).X.shape == SHAPES["ads"]
