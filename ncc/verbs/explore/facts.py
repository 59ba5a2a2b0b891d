"""The facts of the explorer's page: a table of the functions of a code base, and all that is known of each.

Every fact is asked of the tasks when it is looked at. An index may be a stranger's: a file that it names is read only
if its content has the hash that is in the index, or if it is in the folder that the user named.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncc.arrays import Ints
from ncc.errors import COMMAND_LINE, InputError, NccError
from ncc.ir.frontend.options import CompileOptions
from ncc.ir.graph.draw import function_data
from ncc.ir.graph.layout import Layout
from ncc.system.files.reading import InputFile
from ncc.system.files.text import demangle, escape_control, short_path
from ncc.tasks.devices.prediction import DevicePrediction
from ncc.tasks.gpus.specs import GpuSpec
from ncc.tasks.search.index import Index, source_path
from ncc.tasks.search.pages import read_trusted, source_lines
from ncc.verbs.embed import build_graph
from ncc.verbs.predict import predict_device, predict_gpu

_MAX_COMPARED = 10_000
"""Functions that are all compared with each other before the page opens, in a second; twice as many take four."""
_MAX_KERNEL_FILES = 100
"""Files of kernels that are predicted before the page opens, a tenth of a second each."""
_MAX_LINES, _MAX_NEAREST = 20_000, 13
_MAP_SIDE = 4095
_COMPARED_BYTES = 256 * 2.0**20
"""Bytes moved at which the table compares kernels: past most crossovers, within what shipped heads were trained on."""
_BLOCK, _GRIDS = 256, (16, 256, 4096, 65536)
"""Launches of a roofline: few blocks leave most of a card idle, many fill it."""


class Explorer:
    """The facts of an index, or of inputs that were indexed just now, whose folders are the user's; root is trusted."""

    def __init__(
        self, index: Index, inputs: Sequence[str], options: CompileOptions, gpu: GpuSpec | None, root: str | None
    ) -> None:
        self.index, self.options, self.gpu, self.root = index, replace(options, debug_lines=True), gpu, root
        self.name, self.is_own = escape_control(" ".join(inputs), lines=False), index.report is not None
        self._search = ["ncc", "search", *inputs]
        if self.is_own:
            self._search = ["ncc", "index", *inputs, "-o", "code.index", "&&", "ncc", "search", "code.index"]
        self.first_row = np.cumsum([0, *(file.num_functions for file in index.store.files)]).tolist()
        self._layout = lru_cache(maxsize=4)(self._read_layout)
        self._predictions = lru_cache(maxsize=_MAX_KERNEL_FILES)(self._predict)

    def table(self) -> dict[str, Any]:
        """Return the columns of the table, a row for each function in the order of the index."""
        index, numbers = self.index, self.index.store.functions
        is_compared_later = len(index) > _MAX_COMPARED
        functions = [index.store.function(row) for row in range(len(index))]
        places = [function.source or index.store.file_of(row).path for row, function in enumerate(functions)]
        files = {place: number for number, place in enumerate(dict.fromkeys(places))}
        points = _project(index.vectors)
        columns: dict[str, Sequence[Any]] = {
            "name": [demangle(function.name) for function in functions],
            "file": [files[place] for place in places],
            "line": numbers["first_line"].tolist(),
            "statements": numbers["num_statements"].tolist(),
            "x": points[:, 0].tolist(),
            "y": points[:, 1].tolist(),
        }
        if not is_compared_later:
            columns |= self.compared()
        if speedups := dict(self._speedups()):
            columns["speedup"] = [speedups.get(row) for row in range(len(index))]
        return {
            "title": self.name,
            "about": f"{len(index):,} functions in {len(index.store.files):,} files, {index.pooling} vectors",
            "files": [escape_control(short_path(place), lines=False) for place in files],
            "columns": columns,
            "later": ["compared"] if is_compared_later else [],
            "commands": _commands({"copies": [*self._search, "--duplicates"]}),
        }

    def compared(self) -> dict[str, Sequence[Any]]:
        """Return the columns that compare each function with all others."""
        if len(self.index) < 2:
            return {}
        similarities = np.minimum(self.index.store.largest_similarities(), 1)
        columns: dict[str, Sequence[Any]] = {"nearest": similarities.astype(np.float64).round(3).tolist()}
        with suppress(InputError):  # too many pairs are similar
            copies = np.zeros(len(self.index), np.int64)
            for number, (rows, _) in enumerate(self.index.duplicates().rows, 1):
                copies[rows] = number
            if copies.any():
                columns["copies"] = copies.tolist()
        return columns

    def _speedups(self) -> Iterator[tuple[int, list[float]]]:
        """Row of each kernel, with how much faster a GPU is: low end, expected, high end."""
        files = [n for n, file in enumerate(self.index.store.files) if Path(file.path).suffix in (".cl", ".cu")]
        for number in files[:_MAX_KERNEL_FILES]:
            with suppress(NccError, ValueError):  # the function's view says why
                rows = range(*self.first_row[number : number + 2])
                names = {self.index.store.function(row).name: row for row in rows}
                for name, prediction in self._predictions(number).items():
                    curve = prediction.curve([_COMPARED_BYTES, 2 * _COMPARED_BYTES])
                    if name in names:
                        ends = np.array([curve.low[0], curve.speedup_gpu_over_cpu[0], curve.high[0]])
                        yield names[name], _digits(ends)

    def function(self, row: int) -> dict[str, Any]:
        """Return all that is shown of a function; where something fails, the reason is a note."""
        if not 0 <= row < len(self.index):
            raise InputError(f"there is no function {row}; expected 0 to {len(self.index) - 1}")
        number = int(self.index.store.functions["file"][row])
        function = self.index.function_at(row)
        excerpt = source_lines(function, self.root, _MAX_LINES)
        notes = [excerpt.note] if excerpt.note else []
        path, named = escape_control(short_path(function.file), lines=False), ["--function", function.function]
        commands = {
            "nearest": [*self._search, path, *named],
            "graph": ["ncc", "graph", path, "-o", "graph.svg", *named],
        }
        data: dict[str, Any] = {"code": [text for _, text in excerpt.lines], "nearest": self._nearest(row)}
        with _noting(notes):
            layout = self._layout(number)
            place = row - self.first_row[number]
            if layout.module.function_names[place : place + 1] != (function.function,):
                raise InputError(f"{function.file}: has other functions than when it was indexed; index again")
            data["graph"] = function_data(layout, place, self.first_row[number])
            if layout.module.function_is_kernel[place]:
                commands["kernel"] = ["ncc", "predict-device", path, "--explain"]
                data["kernel"] = self._kernel(number, function.function, data["graph"])
        if self.gpu and "kernel" in commands:
            sizes = ["--grid", str(_GRIDS[-1]), "--block", str(_BLOCK), "--gpu", self.gpu.name]
            commands["roofline"] = ["ncc", "predict-gpu", path, "--kernel", function.function, *sizes]
            with _noting(notes):
                data["roofline"] = self._roofline(self._file(number), function.function, self.gpu)
        return data | {"notes": list(map(escape_control, notes)), "commands": _commands(commands)}

    def _nearest(self, row: int) -> list[tuple[int, float, float | None]]:
        """Row, similarity and copy rate of the functions nearest to one."""
        query, calibration = self.index.vectors[row : row + 1].astype(np.float32), self.index.calibration
        similarities, rows = self.index.store.nearest(query, _MAX_NEAREST)
        return [
            (other, round(min(1.0, value), 3), calibration.copy_rate(value, len(self.index)) if calibration else None)
            for other, value in zip(rows[0].tolist(), similarities[0].tolist(), strict=True)
            if other != row
        ]

    def _file(self, number: int) -> InputFile:
        """A file that may be read again, with the right to include what the user's own folder has."""
        file = self.index.store.files[number]
        read_trusted(file.path, "", file.folder, file.hashes.get("", ""), self.root)
        if self.is_own:
            return InputFile(file.path, file.folder)
        is_below = self.root is not None and source_path(file.path, "").is_relative_to(self.root)
        return InputFile(file.path, self.root if is_below else None)

    def _read_layout(self, number: int) -> Layout:
        return Layout(build_graph(self._file(number), options=self.options))

    def _predict(self, number: int) -> dict[str, DevicePrediction]:
        return {each.kernel: each for each in predict_device(self._file(number), options=self.options)}

    def _kernel(self, number: int, name: str, graph: dict[str, Any]) -> dict[str, Any]:
        """The speedup of a kernel over sizes, and by how much each row of its graph moves the answer."""
        prediction = self._predictions(number)[name]
        effects: dict[int | str, float] = {}
        for line in prediction.explain().lines:
            for key in [line.line] if line.line else line.statements:
                effects[key] = line.log_ratio_change
        texts = [*graph["texts"], ""]
        return {
            "answer": str(prediction),
            "devices": prediction.devices,
            "curve": prediction.curve().to_svg(),
            "effect": [
                round(effects.get(line, effects.get(texts[text], 0.0)), 3) if text >= 0 else 0
                for line, text in zip(graph["line"], graph["text"], strict=True)
            ],
        }

    def _roofline(self, file: InputFile, name: str, gpu: GpuSpec) -> dict[str, Any]:
        """Intensity and rate of a kernel's launches, and the rates that the card's data sheet allows."""
        launches = []
        for grid in _GRIDS:
            (launch,) = predict_gpu(file, grid=grid, block=_BLOCK, kernel=name, gpu=gpu.name, options=self.options)
            intensity, rate = launch.flops / max(launch.traffic_bytes, 1), launch.flops / launch.time_ms * 1e3
            launches.append([grid, launch.bound, *_digits(np.array([launch.time_ms, intensity, rate]))])
        return {
            "gpu": gpu.name,
            "bandwidth": gpu.bandwidth,
            "peak": gpu.peak_fp32,
            "block": _BLOCK,
            "launches": launches,
            "answer": str(launch),
        }


@contextmanager
def _noting(notes: list[str]) -> Iterator[None]:
    try:
        yield
    except (NccError, ValueError) as error:  # a path may hold any character
        notes.append(str(error).partition(COMMAND_LINE)[0])


def _commands(commands: dict[str, list[str]]) -> dict[str, str]:
    return {
        name: escape_control(shlex.join(words).replace(" '&&' ", " && "), lines=False)
        for name, words in commands.items()
    }


def _digits(numbers: NDArray[np.floating]) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers.tolist()]


def _project(vectors: NDArray[np.float16]) -> Ints:
    """The two directions in which (n, dim) vectors vary most: (n, 2) places on a square."""
    tiles = [slice(start, start + 4096) for start in range(0, len(vectors), 4096)]
    mean = sum(vectors[tile].astype(np.float64).sum(axis=0) for tile in tiles) / len(vectors)
    centered = (vectors[tile] - mean for tile in tiles)
    directions = np.linalg.eigh(sum(tile.T @ tile for tile in centered))[1][:, :-3:-1]
    places = np.zeros((len(vectors), 2))
    places[:, : directions.shape[1]] = np.concatenate([(vectors[tile] - mean) @ directions for tile in tiles])
    places -= places.min(axis=0)
    return (places / np.maximum(places.max(axis=0), 1e-300) * _MAP_SIDE).astype(np.int64)
