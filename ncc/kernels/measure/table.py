"""Tables of measured times: one row per kernel, device and size; rewritten after every kernel, read to resume."""

import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from ncc.errors import InputError
from ncc.system.files.models import write_output

_METADATA = b"ncc.kernels.measure"


@dataclass(frozen=True)
class MeasuredTime:
    """A measured time.

    Attributes:
        kernel_file: File of the kernel, from the table's folder on.
        kernel: Its name.
        device: Name of the device.
        global_size: Work-items.
        local_size: Of a work-group.
        transfer_bytes: Bytes to the device and back.
        time_ms: Median of the wall-clock time of transfers and kernel.
        kernel_ms: Of the kernel alone, by the driver's clock.
        transfer_ms: Of the transfers, likewise.
        time_low: Lower end of the 95 % interval of `time_ms`.
        time_high: Upper end.
        family: What kernels of one kind share, that are held out together.
        size: The size that was asked for.
        device_kind: "CPU", "GPU" or "other".
        source_id: Of the file's text.
        seconds: What it took to find out.
    """

    kernel_file: str
    kernel: str
    device: str
    global_size: int
    local_size: int
    transfer_bytes: int
    time_ms: float
    kernel_ms: float
    transfer_ms: float
    time_low: float
    time_high: float
    family: str
    size: int
    device_kind: str
    source_id: str
    seconds: float

    @property
    def launch(self) -> tuple[str, str, str, int, int, int]:
        """What a table has one row of."""
        return self.kernel_file, self.kernel, self.device, self.global_size, self.local_size, self.transfer_bytes

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What is not measured twice."""
        return self.source_id, self.kernel, self.device, self.size, self.local_size


@dataclass(eq=False)
class MeasuredTable:
    """Rows, and why others are missing.

    Attributes:
        path: The file.
        rows: What was measured.
        failed: Kernel and device → why it was not measured, or not at larger sizes.
    """

    path: Path
    rows: list[MeasuredTime] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "MeasuredTable":
        """What a file has; an empty table where there is none.

        Raises:
            InputError: The file is something else.
        """
        if not path.exists():
            return cls(path)
        import pyarrow
        import pyarrow.parquet

        try:
            found = pyarrow.parquet.read_table(path)
            failed = json.loads((found.schema.metadata or {})[_METADATA])
            rows = [MeasuredTime(**row) for row in found.to_pylist()]
        except (pyarrow.ArrowException, OSError, KeyError, ValueError, TypeError) as error:
            raise InputError(f"{path}: not a table of 'ncc measure' to go on with; name another file") from error
        return cls(path, rows, failed)

    def begin(self, source_ids: Mapping[tuple[str, str], str]) -> None:
        """Forgets the rows of kernels whose files have changed since.

        Args:
            source_ids: File, from the table's folder on, and kernel → what the file's text is now.
        """
        self.rows = [row for row in self.rows if source_ids.get(row.launch[:2], row.source_id) == row.source_id]

    def add(self, rows: Iterable[MeasuredTime]) -> None:
        """Adds rows, but for launches that are there: several sizes may come to the same launch."""
        known = {row.launch for row in self.rows}
        self.rows += [row for row in rows if row.launch not in known]

    def save(self) -> None:
        """Writes the file.

        Raises:
            OutputError: It can't be written.
        """
        import pyarrow
        import pyarrow.parquet

        types = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
        schema = pyarrow.schema(
            [(one.name, types[one.type]) for one in fields(MeasuredTime)],  # type: ignore[index]
            metadata={_METADATA: json.dumps(self.failed).encode()},
        )
        out = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([asdict(row) for row in self.rows], schema), out)
        write_output(self.path, out.getvalue())
