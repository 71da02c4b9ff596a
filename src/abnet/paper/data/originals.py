"""The original files of the paper's data sets: where they are searched, their checksums, and a cache of parsed arrays.

People without the original files can download the same data sets from OpenML.
"""

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from abnet.paper.data.readers import (
    ADS_FILES,
    ADULT_COLUMNS,
    ADULT_FILES,
    MNIST_FILES,
    Parsed,
    encode_adult,
    parse_ads,
    parse_adult,
    parse_mnist,
    pixel_names,
)
from abnet.utils.atomic import atomic_path

__all__ = [
    "SHA256",
    "SOURCES",
    "Source",
    "cache_folder",
    "download",
    "downloaded",
    "find",
    "places",
    "read_checked",
    "recall",
    "remember",
]


def downloaded(source: str) -> Parsed | None:
    """What an earlier `download` left in the user's cache, or None."""
    folder = cache_folder() / "openml"
    parsed = recall(folder, source)
    if parsed is None:
        return None
    return SOURCES[source].check(parsed, f"{folder / source}")


def download(source: str) -> Parsed:
    """Fetch a source from OpenML into the user's cache, in the form its original files give.

    OpenML serves the same rows in another format (missing marks, names of labels, the order of the two adult files);
    they are brought back to the original form, and refused when shape or label counts differ.

    Raises
    ------
    ConnectionError
        If OpenML cannot be reached or refuses; nothing is written then.
    ValueError
        If OpenML served something else.
    """
    from sklearn.datasets import fetch_openml

    number = SOURCES[source].openml_id
    home = os.fspath(cache_folder() / "scikit-learn")
    try:
        bunch = fetch_openml(data_id=number, as_frame=True, data_home=home)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"OpenML data set {number} ({source}) could not be fetched ({error}); try again later, or put the original "
            f"files {', '.join(SOURCES[source].files)} into a folder named by ABNET_DATA."
        ) from error
    parsed = SOURCES[source].check(_CONVERT[source](bunch.data, bunch.target), f"OpenML data set {number}")
    remember(parsed, cache_folder() / "openml", source)
    return parsed


def _ads(data: Any, target: Any) -> Parsed:
    """OpenML writes the labels without the dot, and ``nonad.`` as ``noad``."""
    X = data.iloc[:, 4:].to_numpy(object).astype(np.float64).astype(np.uint8)  # nominal: the texts "0" and "1"
    y = np.where(target.astype(str).str.strip().str.startswith("ad"), -1, 1).astype(np.int8)
    return Parsed(X, y, np.array([f"term_{i}" for i in range(4, 4 + X.shape[1])]))


def _adult(data: Any, target: Any) -> Parsed:
    """OpenML has missing values for ``?``, and puts the test file first."""
    frame = data.loc[:, list(ADULT_COLUMNS)].astype(object)
    columns = []
    for name in frame:
        texts = frame[name].where(frame[name].notna(), "?").astype(str)
        columns.append(texts.str.strip().tolist())
    columns.append(target.astype(str).str.strip().tolist())
    fnlwgt = columns[ADULT_COLUMNS.index("fnlwgt")]
    if float(fnlwgt[0]) == _FIRST_FNLWGT_OF_TEST_FILE:
        columns = [column[_ROWS_OF_TEST_FILE:] + column[:_ROWS_OF_TEST_FILE] for column in columns]
    return encode_adult(columns)


_ROWS_OF_TEST_FILE = 16281
_FIRST_FNLWGT_OF_TEST_FILE = 226802


def _mnist(data: Any, target: Any) -> Parsed:
    return Parsed(data.to_numpy(np.uint8), target.astype(str).astype(np.uint8).to_numpy(), pixel_names())


_CONVERT: dict[str, Callable[[Any, Any], Parsed]] = {"ads": _ads, "adult": _adult, "mnist": _mnist}


class Source(NamedTuple):
    """Original files with their parser, the same set on OpenML, and the sizes both must have."""

    files: tuple[str, ...]
    parse: Callable[[Sequence[bytes]], Parsed]
    openml_id: int
    shape: tuple[int, int]
    counts: Mapping[int, int]

    def check(self, parsed: Parsed, origin: str) -> Parsed:
        """Refuse arrays without the shape and the label counts of the original files."""
        values, n_rows = np.unique(parsed.y, return_counts=True)
        counts = dict(zip(values.tolist(), n_rows.tolist(), strict=True))
        if parsed.X.shape != self.shape or counts != dict(self.counts):
            raise ValueError(
                f"{origin} is not the expected data set: shape {parsed.X.shape} with label counts {counts}, "
                f"expected {self.shape} with {dict(self.counts)}."
            )
        return parsed


_DIGITS = (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958)
SOURCES = {
    "ads": Source(ADS_FILES, parse_ads, 40978, (3279, 1554), {-1: 459, 1: 2820}),
    "adult": Source(ADULT_FILES, parse_adult, 1590, (48842, 108), {-1: 37155, 1: 11687}),
    "mnist": Source(MNIST_FILES, parse_mnist, 554, (70000, 784), dict(enumerate(_DIGITS))),
}
SHA256 = {
    "ad.data": "4841bab145e0b2df2bc17893ecd9d62f8fbeac2c389b41ca59d77da682c0c4eb",
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "72567b94f5c1a6f8501377dd80f93892c3848ff071cf91ba47e00b0785a28074",
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
"""SHA-256 of the content of every original file, after decompression."""
_DAMAGED = "; remove it, or put the original file in its place"


def cache_folder() -> Path:
    """The user's cache folder for data: downloads, and what was parsed before."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("abnet")) / "data"


def places(data_dir: str | os.PathLike[str] | None) -> list[Path]:
    """Folders searched, in order: the one given, ``ABNET_DATA``, the user's cache."""
    folders = []
    if data_dir is not None:
        folders.append(Path(data_dir).expanduser())
    if os.environ.get("ABNET_DATA"):
        folders.append(Path(os.environ["ABNET_DATA"]).expanduser())
    folders.append(cache_folder())
    return folders


def find(names: Sequence[str], folders: Sequence[Path]) -> list[Path] | None:
    """The first existing path for every file, plain or with the ending .gz; None if a file is in no folder."""
    paths = []
    for name in names:
        path = _first_existing(name, folders)
        if path is None:
            return None
        paths.append(path)
    return paths


def _first_existing(name: str, folders: Sequence[Path]) -> Path | None:
    for folder in folders:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    return None


def read_checked(path: Path, raw: bytes | None = None) -> bytes:
    """The content of an original file, decompressed, once its checksum agrees.

    Parameters
    ----------
    path : Path
        Named as in `SHA256`, with or without .gz.
    raw : bytes, optional
        The bytes of the file, where they have been read already.

    Raises
    ------
    ValueError
        If the file is truncated, damaged or another one; the message names it.
    """
    if raw is None:
        raw = path.read_bytes()
    content = raw
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is truncated or not a gzip file ({error}){_DAMAGED}.") from error
    expected = SHA256[path.name.removesuffix(".gz")]
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise ValueError(
            f"{path} has the wrong checksum (SHA-256 {actual[:12]}…, expected {expected[:12]}…){_DAMAGED}."
        )
    return content


def remember(parsed: Parsed, folder: Path, key: str) -> None:
    """Write the arrays as ``.npy`` files under a key; a folder that cannot be written to is no error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for field, array in parsed._asdict().items():
            with atomic_path(folder / f"{key}.{field}.npy") as temporary, temporary.open("wb") as file:
                np.save(file, array, allow_pickle=False)
    except OSError:
        pass  # a cache is a convenience: the arrays are in memory all the same


def recall(folder: Path, key: str) -> Parsed | None:
    """The arrays under a key; None if they are absent, damaged or do not fit together."""
    try:
        arrays = [np.load(folder / f"{key}.{field}.npy", allow_pickle=False) for field in Parsed._fields]
    except (OSError, ValueError, EOFError):
        return None
    parsed = Parsed(*arrays)
    if parsed.X.ndim != 2:
        return None
    n, d = parsed.X.shape
    if parsed.y.shape != (n,) or parsed.feature_names.shape != (d,):
        return None
    return parsed
