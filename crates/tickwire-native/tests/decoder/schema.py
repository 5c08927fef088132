"""The schema as text, lanes, and values on their own."""

import re

from cursor import BitReader, Malformed

WORD = 1 << 32


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def signed(value, bits=32):
    """A number modulo 2^bits, read as signed."""
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value


def unfold(number):
    return -(number + 1) // 2 if number % 2 else number // 2


class Lane:
    """What one lane can hold; values are raw, that is from 0 to span."""

    def __init__(self, least, most, wraps=False):
        self.least = least
        self.span = most - least
        self.bits = self.span.bit_length()
        self.wraps = wraps

    def difference(self, now, then):
        return signed(now - then, self.bits if self.wraps else 32)

    def displaced(self, then, difference):
        value = then + difference
        if self.wraps:
            value %= 1 << self.bits
        if not 0 <= value <= self.span:
            raise Malformed("a lane cannot hold this")
        return value

    def extrapolate(self, baseline, previous, reach):
        there = baseline + ((self.difference(baseline, previous) * reach + 2048) >> 12)
        if self.wraps:
            return there % (1 << self.bits)
        return min(max(there, 0), self.span)


LARGEST = Lane(0, 3)
OCCUPANT = Lane(1, WORD - 1)


class Field:
    """One field: kind is "lanes", "quaternion" or "bytes"."""

    def __init__(self, line):
        self.name, _, what = line.partition(": ")
        kind, *rest = what.split(", ")
        self.kind, self.count, self.lane, self.bits, self.max = "lanes", 1, None, 0, 0
        self.is_number = False
        if kind == "flag":
            self.lane = Lane(0, 1, wraps=True)
        elif match := re.fullmatch(r"(-?\d+) to (-?\d+)", kind):
            self.lane = Lane(int(match[1]), int(match[2]))
            self.is_number = True
        elif match := re.fullmatch(r"angle of (\d+) bits", kind):
            self.lane = Lane(0, (1 << int(match[1])) - 1, wraps=True)
        elif match := re.fullmatch(r"quaternion of (\d+) bits", kind):
            self.kind, self.bits, self.count = "quaternion", int(match[1]), 4
            self.lane = Lane(0, (1 << self.bits) - 1)
        elif kind == "entity":
            self.lane = Lane(0, WORD - 1)
        elif match := re.fullmatch(r"up to (\d+) bytes", kind):
            self.kind, self.max, self.count = "bytes", int(match[1]), 0
        else:
            raise Malformed(f"no such kind: {kind}")
        for word in rest:
            if match := re.fullmatch(r"(\d+) components", word):
                self.count = int(match[1])
        is_scaled = any(word.startswith("step ") for word in rest)
        is_shown_between = any(word.startswith("interpolate") for word in rest)
        if kind.startswith("angle"):
            self.moves = True
        else:
            self.moves = self.is_number and (is_scaled or is_shown_between or "position" in rest)


class Schema:
    """All archetypes; the last three are the input and the messages of both directions."""

    def __init__(self, text):
        self.hash = fnv1a(text)
        self.archetypes = []
        for line in text.splitlines():
            if line.startswith("  "):
                self.archetypes[-1][1].append(Field(line[2:]))
            else:
                self.archetypes.append((line, []))
        *self.things, (_, self.input), (_, self.to_server), (_, self.to_client) = self.archetypes


def read_bytes(r, field):
    length = r.bits(field.max.bit_length())
    if length > field.max:
        raise Malformed(f"{field.name} is too long")
    return bytes(r.bits(8) for _ in range(length))


def read_lane(r, lane):
    value = r.bits(lane.bits)
    if value > lane.span:
        raise Malformed("a lane cannot hold this")
    return value


def read_value(r, fields, before=None):
    """A value on its own: a list of raw lanes and one of bytes, for each field."""
    value = []
    for number, field in enumerate(fields):
        then = before[number] if before else None
        if then is not None and not r.flag():
            value.append(then)
        elif field.kind == "bytes":
            value.append(read_bytes(r, field))
        else:
            value.append(read_lanes(r, field, then))
    return value


def read_lanes(r, field, then):
    lanes = []
    if field.kind == "quaternion":
        lanes.append(read_lane(r, LARGEST))
        if then is not None:
            then = reexpress(then, lanes[0], field.bits)
    while len(lanes) < field.count:
        lane, near = field.lane, None
        if then is not None and lane.bits > 4 and r.flag():
            near = unfold(r.bits((lane.bits + 1) // 2))
        if near is None:
            lanes.append(read_lane(r, lane))
        else:
            lanes.append(lane.displaced(then[len(lanes)], near))
    return lanes


def whole_value(data, fields):
    r = BitReader(data)
    value = read_value(r, fields)
    if r.whole_byte() != len(data):
        raise Malformed("bytes behind a value")
    return value


def reexpress(lanes, largest, bits):
    """A quaternion with another component left out."""
    if lanes[0] == largest:
        return lanes
    top = (1 << bits) - 1
    parts = components(lanes, top)
    if parts[largest] < 0:
        parts = [-part for part in parts]
    others = [part for number, part in enumerate(parts) if number != largest]
    return [largest] + [to_lane(part, top) for part in others]


def components(lanes, top):
    """All four components."""
    parts = [2 * lane - top for lane in lanes[1:]]
    rest = max(2 * top * top - sum(part * part for part in parts), 0)
    root = 0
    for place in reversed(range(27)):
        if (root | 1 << place) ** 2 <= rest:
            root |= 1 << place
    parts.insert(lanes[0], root)
    return parts


def to_lane(part, top):
    return min(max((part + top + 1) >> 1, 0), top)
