"""`abnet cache`: compiled programs that are kept between fits."""

from typing import Annotated

from abnet.cli import console, options
from abnet.cli.console import guarded

__all__ = ["cache"]


@guarded
def cache(
    clear: Annotated[bool, options.flag("--clear", "Delete the contents of the cache.")] = False,
    json: options.AsJSON = False,
) -> None:
    """Show or clear the folder with compiled programs, which make later fits start faster.

    ABNET_CACHE names another folder; set it to an empty string for no cache.

    abnet cache
    abnet cache --clear
    """
    from abnet.utils.cache import cache_folder, clear_cache, show_cache
    from abnet.utils.wording import number_of

    found = clear_cache() if clear else show_cache()
    if json:
        console.as_json(found.to_dict())
    elif cache_folder() is None:
        print("There is no cache: ABNET_CACHE is empty.")
    else:
        what = f"{number_of(found.n_files, 'file')}, {console.file_size(found.size)}"
        print(f"{found.folder}: {f'deleted {what}' if clear else what}")
