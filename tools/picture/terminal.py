"""A small terminal: what a program has written, as lines of styled text.

It keeps every line, as if the screen had no lower end, and understands what acp writes: colours, erasing, moving the
cursor, and links (whose targets are dropped).
"""

import re
import unicodedata

# The 16 colours, for a dark background; then the cube and the greys of 256 colours.
BASIC = ("#1d2027", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
         "#5c6370", "#ef8791", "#b5dc9a", "#f0d399", "#82c3ff", "#d99aec", "#7fd3dd", "#ffffff")

SEQUENCE = re.compile(
    "\x1b(?:\\[(?P<params>[0-9;:?<>=]*)(?P<final>[@-~])"  # CSI
    "|\\](?P<osc>[^\x07\x1b]*)(?:\x07|\x1b\\\\)"  # OSC
    "|(?P<other>[78=>cM]|[()][A-Z0-9]))")


def colour(number):
    if number < 16:
        return BASIC[number]
    if number < 232:
        steps = (0, 95, 135, 175, 215, 255)
        number -= 16
        return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])
    return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)


class Style:
    """Zero or None everywhere is plain text."""

    def __init__(self, **values):
        self.values = {"bold": False, "dim": False, "italic": False, "underline": False, "reverse": False,
                       "colour": None, "back": None, **values}

    def __eq__(self, other):
        return self.values == other.values

    def changed(self, **values):
        return Style(**{**self.values, **values})


def extended(numbers):
    """The colour of 38;5;N or 38;2;R;G;B, whose first number has been taken."""
    kind = numbers.pop(0) if numbers else None
    if kind == 5 and numbers:
        return colour(numbers.pop(0) % 256)
    if kind == 2 and len(numbers) >= 3:
        return "#%02x%02x%02x" % tuple(numbers.pop(0) % 256 for _ in range(3))
    return None


def styled(style, params):
    """The style after an SGR sequence."""
    numbers = [int(word or 0) for word in re.split("[;:]", params)]
    names = {1: ("bold", True), 2: ("dim", True), 3: ("italic", True), 4: ("underline", True), 7: ("reverse", True),
             23: ("italic", False), 24: ("underline", False), 27: ("reverse", False), 39: ("colour", None), 49: ("back", None)}
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style = Style()
        elif number == 22:
            style = style.changed(bold=False, dim=False)
        elif number in names:
            style = style.changed(**dict([names[number]]))
        elif number in (38, 48):
            style = style.changed(**{"colour" if number == 38 else "back": extended(numbers)})
        else:
            for first, name, base in ((30, "colour", 0), (90, "colour", 8), (40, "back", 0), (100, "back", 8)):
                if first <= number < first + 8:
                    style = style.changed(**{name: colour(base + number - first)})
    return style


def width_of(character):
    if unicodedata.combining(character) or character in "\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Terminal:
    def __init__(self, columns):
        self.columns = columns
        self.lines = [[]]  # of cells: (text, style), or None for the second half of a wide one
        self.row = self.column = 0
        self.style = Style()

    def line(self):
        while self.row >= len(self.lines):
            self.lines.append([])
        return self.lines[self.row]

    def put(self, character):
        width = width_of(character)
        if width == 0:
            if self.column and self.line()[self.column - 1:self.column] not in ([], [None]):
                text, style = self.line()[self.column - 1]
                self.line()[self.column - 1] = (text + character, style)
            return
        if self.column + width > self.columns:
            self.row, self.column = self.row + 1, 0
        line = self.line()
        line.extend([(" ", Style())] * (self.column + width - len(line)))
        line[self.column] = (character, self.style)
        if width == 2:
            line[self.column + 1] = None
        self.column += width

    def erase_line(self, part):
        line = self.line()
        if part == 0:
            del line[self.column:]
        elif part == 1:
            line[:self.column + 1] = [(" ", Style())] * min(self.column + 1, len(line))
        else:
            line.clear()

    def control(self, params, final):
        numbers = [int(word) if word.isdigit() else 0 for word in params.split(";")]
        count = max(numbers[0], 1)
        if final == "m":
            self.style = styled(self.style, params)
        elif final == "K":
            self.erase_line(numbers[0])
        elif final == "J":
            self.erase_line(0)
            del self.lines[self.row + 1:]
        elif final == "A":
            self.row = max(self.row - count, 0)
        elif final in "BE":
            self.row += count
        elif final == "F":
            self.row = max(self.row - count, 0)
        elif final == "C":
            self.column = min(self.column + count, self.columns - 1)
        elif final == "D":
            self.column = max(self.column - count, 0)
        elif final == "G":
            self.column = min(count - 1, self.columns - 1)
        if final in "EF":
            self.column = 0

    def feed(self, text):
        at = 0
        while at < len(text):
            match = SEQUENCE.match(text, at)
            if match:
                if match["final"] and not match["params"].startswith(("?", "<", ">", "=")):
                    self.control(match["params"], match["final"])
                at = match.end()
                continue
            character = text[at]
            at += 1
            if character == "\n":
                self.row += 1
            elif character == "\r":
                self.column = 0
            elif character == "\b":
                self.column = max(self.column - 1, 0)
            elif character == "\t":
                self.column = min((self.column // 8 + 1) * 8, self.columns - 1)
            elif character >= " ":
                self.put(character)

    def runs(self):
        """Each line as a list of (column, width, text, style); blanks at the end are left out."""
        for line in self.lines:
            while line and line[-1] and line[-1][0] == " " and not line[-1][1].values["back"]:
                line = line[:-1]
            runs = []
            for column, cell in enumerate(line):
                if cell is None:
                    start, width, text, style = runs[-1]
                    runs[-1] = (start, width + 1, text, style)
                elif runs and runs[-1][3] == cell[1]:
                    start, width, text, style = runs[-1]
                    runs[-1] = (start, width + 1, text + cell[0], style)
                else:
                    runs.append((column, 1, cell[0], cell[1]))
            yield runs
