"""The check of the page about other libraries finds what is not in their sources."""

from pathlib import Path

import alternatives

PAGE = """
| | abnet 0.3.0 | Peer 1.2 |
| --- | --- | --- |
| sets | `ours` | `Wrapper` with `level`, {} |
| more | – | `run` command |
"""
SOURCE = '''
class Wrapper:
    def fit(self, level):
        """See `missing`."""

@app.command("run")
def main(): ...
'''


def library(folder: Path) -> None:
    sources = folder / "peer" / "peer"
    sources.mkdir(parents=True)
    (folder / "peer" / "peer-1.2.dist-info").mkdir()
    (sources / "wrap.py").write_text(SOURCE)


def test_names_that_a_library_lacks_are_found(tmp_path: Path) -> None:
    library(tmp_path)
    assert alternatives.undefined(PAGE.format("`fit`"), tmp_path) == []
    assert alternatives.undefined(PAGE.format("`missing`"), tmp_path) == ["Peer: missing"]


def test_another_version_is_found(tmp_path: Path) -> None:
    library(tmp_path)
    (wrong,) = alternatives.undefined(PAGE.replace("1.2", "1.3").format("`fit`"), tmp_path)
    assert "1.3" in wrong


def test_the_page_names_five_libraries_and_something_of_each() -> None:
    found = alternatives.named(alternatives.PAGE.read_text(encoding="utf-8"))
    assert len({name for name, _ in found}) == 6
    assert all(found.values())
