"""Export models to other programs: C99 and ONNX, with preparation, labels and certificate."""

from typing import TYPE_CHECKING

from abnet.utils.lazy import lazy_names

if TYPE_CHECKING:
    from abnet.export.c_source import CSource, c_files, c_program, to_c
    from abnet.export.onnx_model import onnx_program, to_onnx

__all__ = ["CSource", "c_files", "c_program", "onnx_program", "to_c", "to_onnx"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abnet.export.c_source": ["CSource", "c_files", "c_program", "to_c"],
        "abnet.export.onnx_model": ["onnx_program", "to_onnx"],
    },
)
