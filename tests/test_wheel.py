import os
from pathlib import Path

import pytest

import abnet


@pytest.mark.skipif("ABNET_EXPECTED_HOME" not in os.environ, reason="only meaningful when run against the built wheel")
def test_the_package_under_test_is_the_built_one() -> None:
    assert Path(abnet.__file__).is_relative_to(os.environ["ABNET_EXPECTED_HOME"])


def test_data_files_are_part_of_the_package() -> None:
    home = Path(abnet.__file__).parent
    assert (home / "py.typed").exists()
    assert (home / "paper" / "paper_table1.csv").exists()
    for name in ("export/predictor.js", "export/explain.js", "report/form.js", "report/page.css"):
        assert (home / name).exists()
