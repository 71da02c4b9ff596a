"""Several devices draw the paths of a wide network as one does, within rounding."""

from training.test_devices import check_four_devices


def test_four_devices_train_the_same_paths_as_one() -> None:
    check_four_devices(((24, 16), "ancestral"))
