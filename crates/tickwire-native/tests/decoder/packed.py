"""A block in the packed form.

A block is a dictionary from slots to (occupant, value); a value has raw lanes, or bytes, for each field.
"""

from cursor import BitReader, Malformed
from schema import LARGEST, OCCUPANT, read_bytes, reexpress, unfold

SLOTS = 64


def reach_of(baseline_age, previous_age):
    span = max(previous_age - baseline_age, 1)
    return (4096 * baseline_age + span // 2) // span


def read_set(r, may_hold):
    form = r.bits(2)
    if form == 0:
        return []
    if form == 1:
        return sorted(may_hold)
    if form == 2:
        slots = [r.bits(6) for _ in range(r.bits(4))]
    else:
        mask = r.bits(SLOTS)
        slots = [slot for slot in range(SLOTS) if mask >> slot & 1]
    if not set(slots) <= set(may_hold) or sorted(set(slots)) != slots:
        raise Malformed("a set holds what it may not")
    return slots


def read_values(r, lane, count):
    if count == 0:
        return []
    width = r.bits(6)
    least = r.bits(lane.bits)
    values = [least + r.bits(width) for _ in range(count)]
    if any(value > lane.span for value in values):
        raise Malformed("a lane cannot hold this")
    return values


def read_residuals(r, lane, pasts, reach):
    """The raw values of changed slots; `pasts` has a raw baseline and a raw previous, or None, for each."""
    if not pasts:
        return []
    mode = r.bits(2)
    if mode == 2:
        return read_values(r, lane, len(pasts))
    if mode == 3 or (mode == 1 and reach is None):
        raise Malformed("no such mode")
    width = r.bits(6)
    values = []
    for baseline, previous in pasts:
        difference = unfold(r.bits(width))
        moves = mode == 1 and previous is not None
        expected = lane.extrapolate(baseline, previous, reach) if moves else baseline
        values.append(lane.displaced(expected, difference))
    return values


def read_block(data, at, fields, baseline, previous, reach):
    """Returns the block, and where its bytes end."""
    r = BitReader(data, at)
    before = {} if baseline is None else baseline
    past = previous or {}
    differ = baseline is None or r.flag()
    gone = read_set(r, before) if differ and baseline is not None else []
    new = read_set(r, set(range(SLOTS)) - set(gone)) if differ else []
    ids = [OCCUPANT.least + raw for raw in read_values(r, OCCUPANT, len(new))]
    kept = set(before) - set(gone) - set(new)
    changed = read_set(r, kept) if baseline is not None else []
    block = {slot: (before[slot][0], list(before[slot][1])) for slot in kept}
    block.update({slot: (occupant, [None] * len(fields)) for slot, occupant in zip(new, ids)})

    def held(slot, number):
        """A field of a changed slot at the baseline and at previous."""
        occupant, value = before[slot]
        was = past.get(slot)
        is_same = was is not None and was[0] == occupant
        return value[number], was[1][number] if is_same else None

    for number, field in enumerate(fields):
        if field.kind == "bytes":
            for slot in new:
                block[slot][1][number] = read_bytes(r, field)
            for slot in changed:
                if r.flag():
                    block[slot][1][number] = read_bytes(r, field)
            continue
        pasts = {slot: held(slot, number) for slot in changed}
        rows = {slot: [] for slot in new + changed}
        for place in range(field.count):
            lane = field.lane
            if field.kind == "quaternion":
                if place == 0:
                    lane = LARGEST
                elif place == 1:
                    turned = lambda lanes, slot: lanes and reexpress(lanes, rows[slot][0], field.bits)
                    pasts = {
                        slot: (turned(now, slot), turned(then, slot))
                        for slot, (now, then) in pasts.items()
                    }
            for slot, raw in zip(new, read_values(r, lane, len(new))):
                rows[slot].append(raw)
            of_lane = [(now[place], None if then is None else then[place]) for now, then in pasts.values()]
            for slot, raw in zip(changed, read_residuals(r, lane, of_lane, reach)):
                rows[slot].append(raw)
        for slot, lanes in rows.items():
            block[slot][1][number] = lanes
    return block, r.whole_byte()
