# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Encode records as lines of the UART protocol, independently of the apps' encoder."""

from tockmark.wire.uart_line import LINE_LIMIT, UartLine


class Encoder:
    """The encoder of an app."""

    def __init__(self, app: str) -> None:
        self.app = app
        self.seq = 0

    def lines(self, text: str) -> list[str]:
        """Encode a record as lines of at most LINE_LIMIT bytes, split at spaces."""
        out: list[str] = []
        words = text.split(" ")
        while words:
            line_words = [*(["+"] if out else []), words.pop(0)]
            while words and self._fits([*line_words, words[0]]):
                line_words.append(words.pop(0))
            if not self._fits(line_words):
                raise ValueError(f"a word of {len(line_words[-1])} bytes does not fit in a line")
            out.append(UartLine(self.seq, self.app, " ".join(line_words)).encode())
            self.seq += 1
        return out

    def _fits(self, words: list[str]) -> bool:
        line = UartLine(self.seq, self.app, " ".join(words)).encode()
        return len(line) + 1 <= LINE_LIMIT
