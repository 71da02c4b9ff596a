"""`abnet cache`: compiled programs that are kept between fits."""

from typing import Annotated

from abnet.cli import console, options
from abnet.cli.guarded import guarded

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
    from abnet.utils.cache import clear_cache, program_folder, show_cache
    from abnet.utils.wording import number_of

    if clear:
        contents = clear_cache()
    else:
        contents = show_cache()
    if json:
        console.as_json(contents.to_dict())
        return
    if program_folder() is None:
        print("There is no cache: ABNET_CACHE is empty.")
        return
    files = f"{number_of(contents.n_files, 'file')}, {console.file_size(contents.size)}"
    if clear:
        print(f"{contents.folder}: deleted {files}")
    else:
        print(f"{contents.folder}: {files}")
