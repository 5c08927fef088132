"""Packets of the world's state: WIRE.md of the replication packets."""

import coded
import packed
from cursor import Malformed, Reader
from schema import unfold


class Replica:
    """Every version of every block, as packets tell of them."""

    def __init__(self, schema, general):
        self.things = schema.things
        self.prior = coded.Prior(general, schema.things)
        # By (place, block): [(send, archetype, block or None)], oldest first.
        self.history = {}
        self.newest = {"number": 0, "send": 0}

    def at(self, name, send):
        """The newest version not newer than a send: an archetype and a block."""
        for version, archetype, block in reversed(self.history.get(name, [])):
            if version <= send:
                return None if block is None else (archetype, block)
        return None

    def nearest(self, what, low, bits):
        """The number nearest to the newest one that has these lowest bits."""
        span, newest = 1 << bits, self.newest[what]
        steps = (low - newest + span // 2) % span - span // 2
        return newest + steps if newest + steps >= 0 else low

    def write(self, name, send, archetype, block):
        versions = self.history.setdefault(name, [])
        versions.append((send, archetype, block))
        versions.sort(key=lambda version: version[0])

    def drop(self, name, send):
        if self.at(name, send) is not None:
            self.write(name, send, None, None)

    def apply(self, data, r=None):
        """Applies a packet. Returns its send, and the blocks that it wrote."""
        head = read_head(r or Reader(data))
        send = self.nearest("send", head["send"], 30)
        written = {}
        for place, body in head["records"](lambda place, record, at: self.body(place, record, data, at, send)):
            for block, (archetype, contents) in body.items():
                written[place, block] = archetype, contents
        # Notices are repeated until they are acknowledged: most say what is known.
        for place in head["leaves"]:
            for name in [name for name in self.history if place in (None, name[0])]:
                self.drop(name, send)
        for name in head["gones"]:
            self.drop(name, send)
        for name, (archetype, contents) in written.items():
            self.write(name, send, archetype, contents)
        self.newest["send"] = max(self.newest["send"], send)
        number = self.nearest("number", head["number"], 16)
        self.newest["number"] = max(self.newest["number"], number)
        return send, written

    def body(self, place, record, data, at, send):
        """The blocks of a record's body, and where that ends."""
        ages = record["baseline"], record["previous"]
        reach = packed.reach_of(*ages) if ages[1] else None
        read = self.coded_body if record["coded"] else self.packed_body

        def past(block):
            """What a block is relative to."""
            baseline = self.at((place, block), send - ages[0]) if ages[0] else None
            previous = self.at((place, block), send - ages[1]) if ages[1] else None
            return baseline, previous and previous[1]

        return read(record, data, at, past, reach, ages[0] != 0)

    def packed_body(self, record, data, at, past, reach, has_baseline):
        blocks = {}
        number, is_last = record["block"], record["block"] is not None
        while True:
            is_new = not has_baseline
            if record["block"] is None:
                lead, at = byte(data, at), at + 1
                is_new, is_last = is_new or lead & 1 == 1, lead & 2 == 2
                if lead >> 2 == 63:
                    number, at = byte(data, at) | byte(data, at + 1) << 8, at + 2
                else:
                    number = (-1 if number is None else number) + 1 + (lead >> 2)
            archetype, baseline, previous = None, None, None
            if is_new:
                archetype, at = byte(data, at), at + 1
            else:
                (archetype, baseline), previous = held(past(number))
            fields = self.fields(archetype)
            block, at = packed.read_block(data, at, fields, baseline, previous, reach)
            blocks[number] = archetype, block
            if is_last:
                return blocks, at

    def coded_body(self, record, data, at, past, reach, has_baseline):
        run = coded.Run(data, at, self.prior.starts)
        blocks, number, more = {}, -1, True
        while more:
            is_new = not has_baseline
            if record["block"] is None:
                is_new = run.plain(1) == 1 or is_new
                far = run.plain(1)
                number = run.plain(16) if far else number + 1
                if number in blocks:
                    raise Malformed("blocks are not in order")
            else:
                number = record["block"]
            baseline, previous = None, None
            if is_new:
                archetype = run.plain(8)
            else:
                (archetype, baseline), previous = held(past(number))
            fields = self.fields(archetype)
            block = coded.read_block(run, self.prior, archetype, fields, baseline, previous, reach)
            blocks[number] = archetype, block
            more = record["block"] is None and run.plain(1) == 1
        return blocks, run.end()

    def fields(self, archetype):
        if archetype >= len(self.things):
            raise Malformed("no such archetype")
        return self.things[archetype][1]


def held(past):
    baseline, previous = past
    if baseline is None:
        raise Malformed("the baseline is not held")
    return baseline, previous


def byte(data, at):
    if at >= len(data):
        raise Malformed("a record is cut off")
    return data[at]


def read_head(r):
    """Header and notices. `records` of it reads the records, given what reads a body."""
    head = {"number": r.u16("number"), "leaves": [], "gones": []}
    send = r.u32("send")
    head["send"] = send >> 2
    if send & 1:
        head["complete"], head["settled"] = r.u8("complete"), r.u8("settled")
    if send & 2:
        leaves, place = r.varint("leaves"), 0
        if leaves & 1:
            head["leaves"].append(None)
        for _ in range(leaves >> 1):
            place += r.varint("place")
            head["leaves"].append(place)
        place = 0
        for _ in range(r.varint("gones")):
            place += r.varint("place")
            head["gones"].append((place, r.varint("block")))
    head["records"] = lambda body: read_records(r, body)
    return head


def read_records(r, body):
    place = 0
    while r.left():
        place = (place + unfold(r.varint("place"))) % (1 << 32)
        bits = r.u16("head")
        baseline, previous = bits >> 2 & 63, bits >> 8 & 63
        if bits >> 14 or (previous and not 0 < baseline < previous):
            raise Malformed("no such head")
        record = {"coded": bits & 2, "baseline": baseline, "previous": previous, "block": None}
        if bits & 1:
            record["block"] = r.varint("block")
        blocks, end = body(place, record, r.at)
        r.raw("body", end - r.at)
        yield place, blocks
