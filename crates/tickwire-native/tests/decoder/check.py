"""Reads golden vectors with a decoder that was written from WIRE.md alone.

python3 check.py VECTORS/native VECTORS/replica

Fails with the file and the line where the decoder reads something else than the file says. Standard library
only. The pages: `tickwire-native/src/WIRE.md`, `tickwire-replica/WIRE.md`, `tickwire-replica/src/coder/WIRE.md`.
"""

import os
import re
import sys

import frames
from cursor import Malformed, Reader
from packets import Replica, read_head
from schema import Schema, whole_value

# What the vectors of replication packets are about: the blocks that their reader holds are stated in
# `tickwire-replica/tests/packets/vectors.rs`.
PACKETS_SCHEMA = """Rock
  size: 0 to 7, hold
Ship
  at: -2048 to 2047, 2 components, hold
  turn: quaternion of 6 bits, hold
  name: up to 8 bytes, hold
input
to server
to client
"""
PACKETS_SEND = 0x0A0B0C


def fail(path, what):
    sys.exit(f"{os.path.basename(path)}: {what}")


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def fields_of(lines):
    """The fields that a vector lists, its bytes, and whether they are refused."""
    fields, data, refused = [], b"", False
    for line in lines[2:]:
        refused |= line.startswith("refused: ")
        match = re.match(r" *(\d+) +(\d+)  (\S+) +(.*)$", line)
        if match is None:
            continue
        digits = "" if match[3] == "-" else match[3]
        data += bytes.fromhex(digits)
        if match[4] != "not read":
            name, _, value = (match[4] + " ").partition(" = ")
            fields.append((int(match[1]), int(match[2]), name, value.split("  ")[0].rstrip()))
    return fields, data, refused


def shown(value):
    """A value as vectors show it."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def check_message(path):
    """One frame, datagram or packet, field by field."""
    lines = read_lines(path)
    expected, data, refused = fields_of(lines)
    sender = re.match(r"sent by the (\w+)(?: by (\w+))?, ", lines[1])
    r, verdict = Reader(data), None
    try:
        if sender[2] == "stream":
            read_stream(r, sender[1] == "client")
        elif sender[2] == "datagram":
            read_datagram(r, sender[1] == "client")
        else:
            ships_replica().apply(data, r)
    except Malformed as error:
        verdict = error
    if refused != (verdict is not None):
        fail(path, f"refused: {verdict}")
    found = [(at, bits, name, shown(value)) for at, bits, name, value in r.fields]
    # A decoder may notice sooner or later than another that something is wrong.
    length = min(len(found), len(expected)) if refused else max(len(found), len(expected))
    for number in range(length):
        said = expected[number] if number < len(expected) else None
        read = found[number] if number < len(found) else None
        if said != read:
            fail(path, f"field {number} is {said}, and read as {read}")


def read_stream(r, from_client):
    kinds = frames.FROM_CLIENT if from_client else frames.FROM_SERVER
    while r.left():
        start, known = r.at, len(r.fields)
        name, frame = frames.read_frame(r, kinds)
        if name == "Datagram":
            # The same bytes in detail.
            del r.fields[-1]
            read_datagram(Reader(r.data[: r.at], r.at - len(frame["datagram"]), r.fields), from_client)
        assert r.at > start and len(r.fields) > known


def read_datagram(r, from_client):
    name, _ = frames.read_datagram(r, from_client)
    if name == "State":
        read_head(r)


def ships_replica():
    """What the reader of the packets' vectors holds: three ships, two and three sends ago."""
    schema = Schema(PACKETS_SCHEMA)
    replica = Replica(schema, [[0x8000] * 64] * 5)
    for age in (3, 2):
        ships = {}
        for slot, number in ((0, 1), (1, 2)):
            at = [100 * number - 5 * age + 2048, -age + 2048]
            ships[slot] = (100 + number, [at, [3, 10, 20 + age, 30], b"ship"])
        for place in (200, 197, 3, 1):
            replica.write((place, 2), PACKETS_SEND - age, 1, ships)
    replica.newest = {"number": 0x0102, "send": PACKETS_SEND}
    return replica


def read_prior(path):
    """The sets of the general prior, in order."""
    sets = []
    for line in read_lines(path)[1:]:
        if line.startswith("  "):
            sets[-1] += bytes.fromhex(line.strip())
        else:
            sets.append(b"")
    return [[int.from_bytes(it[n : n + 2], "little") for n in range(0, 128, 2)] for it in sets]


class Conversation:
    """Reads what both sides send, and says what it means, as the file does."""

    def __init__(self, path, general):
        self.path, self.general = path, general
        self.buffers = {True: b"", False: b""}
        self.meaning = []

    def check(self):
        lines = read_lines(self.path)
        end = next(n for n, line in enumerate(lines[2:], 2) if not line.startswith("  "))
        self.schema = Schema("".join(line[2:] + "\n" for line in lines[2:end]))
        self.replica = Replica(self.schema, self.general)
        number = end
        while number < len(lines):
            line, self.meaning = lines[number], []
            sender, path, digits = re.fullmatch(r"(\w+) by (\w+) (\w+)", line).groups()
            try:
                self.read(sender == "client", path == "stream", bytes.fromhex(digits))
            except Malformed as error:
                fail(self.path, f"line {number + 1}: {error}")
            for said in self.meaning:
                number += 1
                if number >= len(lines) or lines[number] != said:
                    fail(self.path, f"line {number + 1} is read as:\n{said}\nand says:\n{lines[number]}")
            number += 1

    def read(self, from_client, on_stream, data):
        if not on_stream:
            return self.datagram(from_client, data)
        kinds = frames.FROM_CLIENT if from_client else frames.FROM_SERVER
        self.buffers[from_client] += data
        while buffer := self.buffers[from_client]:
            r = Reader(buffer)
            try:
                name, frame = frames.read_frame(r, kinds)
            except Malformed as error:
                if "cut off" in str(error):
                    return
                raise
            self.buffers[from_client] = buffer[r.at :]
            self.frame(from_client, name, frame)

    def frame(self, from_client, name, frame):
        if name == "Hello" and frame["schema"] != self.schema.hash:
            raise Malformed("the hash is not that of the schema")
        if name == "Datagram":
            self.datagram(from_client, frame["datagram"])
        elif name in ("Say", "Ask", "Answer", "Event"):
            self.message(from_client, frame["message"])

    def message(self, from_client, data):
        fields = self.schema.to_server if from_client else self.schema.to_client
        self.meaning.append("  message " + words(fields, whole_value(data, fields)))

    def datagram(self, from_client, data):
        r = Reader(data)
        name, body = frames.read_datagram(r, from_client)
        if name == "Play":
            for age, value in enumerate(frames.read_inputs(body, self.schema.input)):
                tick = (body["tick"] - age) % 65536
                self.meaning.append(f"  input {tick} " + words(self.schema.input, value))
        elif name == "Latest":
            self.message(from_client, body["message"])
        elif name == "State":
            self.state(data[r.at :])

    def state(self, packet):
        known = {name: len(versions) for name, versions in self.replica.history.items()}
        send, _ = self.replica.apply(packet)
        self.meaning.append(f"  packet {self.replica.newest['number']} of send {send}")
        for name, versions in sorted(self.replica.history.items()):
            if len(versions) == known.get(name, 0):
                continue
            place, block = name
            _, archetype, contents = next(it for it in reversed(versions) if it[0] == send)
            if contents is None:
                self.meaning.append(f"  block {block} of place {place} is gone")
                continue
            self.meaning.append(f"  block {block} of place {place}: archetype {archetype}")
            for slot, (occupant, value) in sorted(contents.items()):
                fields = self.schema.things[archetype][1]
                self.meaning.append(f"    {slot}: {occupant} is " + words(fields, value))


def words(fields, value):
    """A value as the conversations show it: lanes, not raw; bytes as digits."""
    said = []
    for field, it in zip(fields, value):
        if field.kind == "bytes":
            said.append("x" + it.hex())
        else:
            said.append(",".join(str(lane + field.lane.least) for lane in it))
    return " ".join(said)


def main():
    files = []
    for folder in sys.argv[1:]:
        files += sorted(os.path.join(folder, name) for name in os.listdir(folder))
    general = [read_prior(path) for path in files if "prior-general" in path][0]
    for path in files:
        name = os.path.basename(path)
        if name.startswith("conversation-"):
            Conversation(path, general).check()
        elif not name.startswith("prior-"):
            check_message(path)
    print(f"{len(files)} files read")


main()
