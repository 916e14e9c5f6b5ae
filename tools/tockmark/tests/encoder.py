# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Records to the lines of the UART protocol: the tests' twin of the apps' own printing."""

from tockmark.wire.uart_line import LINE_LIMIT, UartLine


class Encoder:
    """Turns the records of one app into lines."""

    def __init__(self, app: str) -> None:
        self.app = app
        self.seq = 0

    def lines(self, text: str) -> list[str]:
        """One record as lines of at most LINE_LIMIT bytes, split at spaces."""
        out: list[str] = []
        words = text.split(" ")
        while words:
            taken = [*(["+"] if out else []), words.pop(0)]
            while words and self._fits([*taken, words[0]]):
                taken.append(words.pop(0))
            if not self._fits(taken):
                raise ValueError(f"a word of {len(taken[-1])} bytes does not fit in a line")
            out.append(UartLine(self.seq, self.app, " ".join(taken)).encode())
            self.seq += 1
        return out

    def _fits(self, words: list[str]) -> bool:
        line = UartLine(self.seq, self.app, " ".join(words)).encode()
        return len(line) + 1 <= LINE_LIMIT
