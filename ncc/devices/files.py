"""Files of device heads: of times, which is what ships, or of ratios by an ensemble of LSTMs."""

from ncc.devices.lstm_head import LSTMMapperHead
from ncc.devices.times_files import join_times, split_times
from ncc.devices.times_head import TimesHead
from ncc.encoder.files import HeadFiles

__all__ = ["FILES", "DeviceHead", "load_head", "save_head"]

DeviceHead = LSTMMapperHead | TimesHead

FILES: HeadFiles[DeviceHead] = HeadFiles(
    "device-mapping head",
    2,
    {"times": TimesHead, "lstm": LSTMMapperHead},
    split={TimesHead: split_times},
    join={TimesHead: join_times},
    first="gp",
)
load_head, save_head = FILES.load, FILES.save
