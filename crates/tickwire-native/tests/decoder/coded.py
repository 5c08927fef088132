"""Blocks in the coded form: a range coder, models, and what they are asked."""

from cursor import Malformed
from packed import SLOTS
from schema import reexpress, to_lane

EVIDENCE = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 160, 255]
OWN_COLUMNS = 59
KINDS = ["entities", "still lanes", "moving lanes", "largest", "components"]


class Model:
    def __init__(self, start):
        self.one = start >> 4 << 4 | 8
        self.evidence = EVIDENCE[start & 15]

    def learn(self, bit):
        weight = 131072 // (2 * self.evidence + 3)
        self.one += ((65535 if bit else 0) - self.one) * weight >> 16
        self.evidence = min(self.evidence + 1, 255)


class Run:
    """One run of the range coder, with models that begin as the prior says."""

    def __init__(self, data, at, prior):
        self.data, self.at, self.steps = data, at, 0
        self.range = (1 << 32) - 1
        self.code = self.word(0)
        self.sets = [[Model(start) for start in starts] for starts in prior]
        self.archetype = None

    def byte(self, number):
        at = self.at + number
        return self.data[at] if at < len(self.data) else 0

    def word(self, first):
        return int.from_bytes(bytes(self.byte(first + n) for n in range(4)), "big")

    def fill(self):
        while self.range < 1 << 24:
            self.range <<= 8
            self.code = self.code << 8 | self.byte(self.steps + 4)
            self.steps += 1

    def bit(self, model):
        share = self.range * (model.one | 1) >> 16
        bit = self.code < share
        if bit:
            self.range = share
        else:
            self.code -= share
            self.range -= share
        model.learn(bit)
        self.fill()
        return bit

    def plain(self, count):
        if count == 0:
            return 0
        step = self.range >> count
        value = min(self.code // step, (1 << count) - 1)
        self.code -= step * value
        self.range = self.range - step * value if value == (1 << count) - 1 else step
        self.fill()
        return value

    def end(self):
        """Where the run ends."""
        low = (self.word(self.steps) - self.code) % (1 << 32)
        length, bound = self.steps + 1, 1 << 24
        pad = -low % bound
        if pad + bound > self.range:
            length, bound = self.steps + 2, 1 << 16
            pad = -low % bound
        if not 0 <= self.code - pad < bound or self.at + length > len(self.data):
            raise Malformed("the run does not end as it should")
        return self.at + length


class Prior:
    """Which set of models each column begins with: the general prior, in the order of KINDS."""

    def __init__(self, general, things):
        self.starts, self.sets = [], []
        shared = None
        for _, fields in things:
            columns = ["entities"]
            for field in fields:
                if field.kind == "quaternion":
                    columns += ["largest"] + ["components"] * 3
                else:
                    columns += ["moving lanes" if field.moves else "still lanes"] * field.count
            numbers = []
            for kind in columns:
                if shared is None and len(self.starts) < OWN_COLUMNS:
                    numbers.append(len(self.starts))
                    self.starts.append(general[KINDS.index(kind)])
                    continue
                if shared is None:
                    shared = len(self.starts)
                    self.starts += general
                numbers.append(shared + KINDS.index(kind))
            self.sets.append(numbers)


def read_block(run, prior, archetype, fields, baseline, previous, reach):
    """Reads one block; the run remembers what goes from entity to entity."""
    if run.archetype != archetype:
        run.archetype = archetype
        lanes = sum(field.count for field in fields)
        run.history, run.newest_id = 0, 0
        run.newcomer = [[0] * field.count for field in fields]
        run.sizes = [0] * lanes
    entities, *columns = [run.sets[number] for number in prior.sets[archetype]]
    block, new = {}, []
    if baseline is None or run.bit(entities[12]):
        kept, new = read_occupants(run, entities, baseline or {})
    else:
        kept = sorted(baseline)
    for slot in new:
        if run.bit(entities[17]):
            run.newest_id += 1
        else:
            run.newest_id = run.plain(16) << 16
            run.newest_id |= run.plain(16)
        if not 0 < run.newest_id < 1 << 32:
            raise Malformed("no such id")
        block[slot] = (run.newest_id, None)
    for slot in new:
        block[slot] = (block[slot][0], read_newcomer(run, columns, fields))
    for slot in kept:
        occupant, value = baseline[slot]
        past = (previous or {}).get(slot)
        past = past[1] if past is not None and past[0] == occupant else None
        motion = 0 if past is None else 1 if is_still(fields, value, past) else 2
        changed = run.bit(entities[4 * motion + run.history])
        run.history = (run.history << 1 | changed) & 3
        if changed:
            value = read_changed(run, entities, columns, fields, (value, past, reach))
        block[slot] = (occupant, value)
    return block


def read_occupants(run, entities, before):
    """Which slots keep their occupants, and which have new ones."""
    kept, new, came = [], [], False
    for slot in range(SLOTS):
        if slot in before:
            if not run.bit(entities[13]):
                kept.append(slot)
                continue
            came = run.bit(entities[14])
        else:
            came = run.bit(entities[16 if came else 15])
        if came:
            new.append(slot)
    return kept, new


def is_still(fields, value, past):
    return all(field.kind == "bytes" or now == then for field, now, then in zip(fields, value, past))


def read_bytes(run, field):
    length = run.plain(field.max.bit_length())
    if length > field.max:
        raise Malformed(f"{field.name} is too long")
    return bytes(run.plain(8) for _ in range(length))


def read_newcomer(run, columns, fields):
    value, column = [], 0
    for number, field in enumerate(fields):
        if field.kind == "bytes":
            value.append(read_bytes(run, field))
            continue
        lanes = []
        if field.kind == "quaternion":
            lanes.append(run.plain(2))
        for place in range(len(lanes), field.count):
            expected = run.newcomer[number][place]
            raw, size = read_residual(run, columns[column + place], field.lane, expected, None)
            run.sizes[column + place] = size
            lanes.append(raw)
        run.newcomer[number] = lanes
        value.append(lanes)
        column += field.count
    return value


def read_changed(run, entities, columns, fields, held):
    baseline, past, reach = held
    value, column, before = [], 0, 0
    for number, field in enumerate(fields):
        now, then = baseline[number], past and past[number]
        if field.kind == "bytes":
            value.append(read_bytes(run, field) if run.bit(entities[18]) else now)
            continue
        lanes, expected = [], now
        if field.kind == "quaternion":
            turned = now if past is None else turn_on(now, then, reach, field.bits)
            lanes.append(read_largest(run, columns[column], now, turned, field.bits))
            now, expected = [reexpress(it, lanes[0], field.bits) for it in (now, turned)]
            if past is not None:
                then = reexpress(reexpress(then, baseline[number][0], field.bits), lanes[0], field.bits)
        elif past is not None and field.moves:
            expected = [field.lane.extrapolate(a, b, reach) for a, b in zip(now, then)]
        first = len(lanes)
        velocities = [0] * field.count
        if past is not None:
            velocities = [field.lane.difference(a, b) for a, b in zip(now, then)]
        speed = 16 if past is None else cut(sum(abs(it) for it in velocities[first:]))
        near, total = 0, 0
        for place in range(first, field.count):
            velocity = velocities[place]
            last = run.sizes[column + place]
            sum_of_all = 2 * cut(abs(velocity)) + speed + 5 * cut(near) + 2 * cut(last) + cut(before)
            context = (class_of(sum_of_all >> 1), velocity)
            raw, size = read_residual(run, columns[column + place], field.lane, expected[place], context)
            run.sizes[column + place] = size
            near = size if place == first else near + size >> 1
            total += size
            lanes.append(raw)
        before = total
        value.append(lanes)
        column += field.count
    return value


def cut(number):
    return min(number, 4096)


def class_of(expected):
    if expected < 4:
        return expected
    highest = expected.bit_length() - 1
    return min(2 * highest + (expected >> highest - 1 & 1), 13)


def read_residual(run, models, lane, expected, context):
    """The raw value of a lane, and how far it is from where it was expected."""
    if lane.span == 0:
        return expected, 0
    if context is None:
        other, negative, longer = 21, 25, 26 + 4 * 7
    else:
        kind, velocity = context
        other = kind if velocity else 14 + kind // 2
        negative = 22 if velocity < 0 else 24 if velocity > 0 else 23
        longer = 26 + 4 * (kind // 2)
    if not run.bit(models[other]):
        return expected, 0
    if lane.span == 1:
        return expected ^ 1, 1
    is_negative = run.bit(models[negative])
    bits = 1
    while bits < 32 and run.bit(models[longer + bits - 1 if bits <= 4 else min(53 + bits, 60)]):
        bits += 1
    size = 1
    if bits >= 2:
        size = 2 | run.bit(models[61 if bits == 2 else 62 if bits == 3 else 63])
        below = bits - 2
        while below > 0:
            piece = min(below, 16)
            size = size << piece | run.plain(piece)
            below -= piece
    return lane.displaced(expected, -size if is_negative else size), size


def read_largest(run, models, baseline, turned, bits):
    was, likely = baseline[0], largest_of(turned, bits)
    if not run.bit(models[1 if likely != was else 0]):
        return was
    if likely != was and run.bit(models[2]):
        return likely
    upper = run.bit(models[3])
    return upper << 1 | run.bit(models[5 if upper else 4])


def largest_of(lanes, bits):
    top = (1 << bits) - 1
    squares = [(2 * lane - top) ** 2 for lane in lanes[1:]]
    squares.insert(lanes[0], max(2 * top * top - sum(squares), 0))
    best = lanes[0]
    for number, square in enumerate(squares):
        if square > squares[best]:
            best = number
    return best


def turn_on(baseline, previous, reach, bits):
    was, top = baseline[0], (1 << bits) - 1
    previous = reexpress(previous, was, bits)
    b, p = ([2 * lane - top for lane in it[1:]] for it in (baseline, previous))
    distance = sum((x - y) ** 2 for x, y in zip(b, p))
    curve = (distance << 14) >> 2 * bits
    third = lambda n: ((n * curve >> 16) * 21845) >> 16
    square = reach * reach >> 12
    bend = third(square + 2 * reach)
    if bend > 2048:
        return baseline
    ahead = (4096 + reach) * (4096 - bend) >> 12
    behind = reach * (4096 - third(square - 4096)) >> 12
    return [was] + [to_lane((ahead * x - behind * y) >> 12, top) for x, y in zip(b, p)]
