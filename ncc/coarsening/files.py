"""Files of coarsening heads, whichever model they are of: lines, which is what ships, or an ensemble of LSTMs."""

from ncc.coarsening.head import CoarseningHead
from ncc.coarsening.lstm_head import LSTMCoarseningHead
from ncc.encoder.files import HeadFiles

AnyCoarseningHead = CoarseningHead | LSTMCoarseningHead
FILES: HeadFiles[AnyCoarseningHead] = HeadFiles(
    "thread-coarsening head", 1, {"line": CoarseningHead, "lstm": LSTMCoarseningHead}
)
load_head, save_head = FILES.load, FILES.save
