"""Frames on the stream, and datagrams: WIRE.md of the native protocol."""

from cursor import BitReader, Malformed
from schema import read_value

FRAME_MAX = 64 * 1024
INPUTS_A_DATAGRAM = 4
LATEST_CHANNELS = 16


def short_text(r, name):
    # A length and a text are two fields of one name.
    return r.text(name, r.u8(name))


def ticket(r):
    return r.u64("ticket"), r.u64("ticket")


def hello(r):
    frame = {
        "version": r.u16("version"),
        "schema": r.u64("schema"),
        "role": choice(r, "role", 2),
        "name": short_text(r, "name"),
    }
    if r.left():
        frame["ticket"], frame["received"] = ticket(r), r.u32("received")
    return frame


def welcome(r):
    frame = {
        "player": r.u32("player"),
        "token": r.u64("token"),
        "ticket": ticket(r),
        "tick": r.u32("tick"),
        "ticks a second": r.u16("ticks a second"),
        "ticks a send": r.u8("ticks a send"),
    }
    if r.left():
        frame["received"] = r.u32("received")
    return frame


def choice(r, name, count):
    value = r.u8(name)
    if value >= count:
        raise Malformed(f"{name} may not be {value}")
    return value


def message(r):
    return {"message": r.raw("message", r.left())}


def datagram(r):
    return {"datagram": r.raw("datagram", r.left())}


FROM_CLIENT = {
    1: ("Hello", hello),
    2: ("Say", message),
    3: ("Ask", lambda r: {"number": r.varint("number"), **message(r)}),
    4: ("Fetch", lambda r: {"resource": short_text(r, "resource"), "offset": r.u64("offset")}),
    5: ("Leave", lambda r: {}),
    6: ("Datagram", datagram),
    10: ("Received", lambda r: {"received": r.u32("received")}),
}

FROM_SERVER = {
    1: ("Welcome", welcome),
    2: ("Say", message),
    3: ("Answer", lambda r: {"number": r.varint("number"), "status": choice(r, "status", 2), **message(r)}),
    4: (
        "Piece",
        lambda r: {
            "resource": short_text(r, "resource"),
            "size": r.u64("size"),
            "offset": r.u64("offset"),
            "piece": r.raw("piece", r.left()),
        },
    ),
    5: ("End", lambda r: {"reason": r.u16("reason"), "words": r.text("words", r.left())}),
    6: ("Datagram", datagram),
    7: ("Event", lambda r: {"tick": r.u32("tick"), **message(r)}),
    8: ("Owned", lambda r: {"entity": r.u32("entity")}),
    9: ("NoSuch", lambda r: {"resource": short_text(r, "resource")}),
    10: ("Received", lambda r: {"received": r.u32("received")}),
    11: ("Keyed", lambda r: {"tick": r.u32("tick"), "entity": r.u32("entity")}),
}


def read_frame(r, kinds):
    """One frame: its name and its fields."""
    kind, length = r.u8("kind"), r.varint("length")
    if length > FRAME_MAX:
        raise Malformed(f"length may not be {length}")
    if length > r.left():
        raise Malformed("body is cut off")
    if kind not in kinds:
        raise Malformed(f"kind may not be {kind}")
    name, read = kinds[kind]
    # What is behind the body belongs to the next frame.
    whole, end = r.data, r.at + length
    r.data = whole[:end]
    frame = read(r)
    r.end()
    r.data = whole
    return name, frame


def read_datagram(r, from_client):
    kind = r.u8("kind")
    if from_client and kind == 1:
        name, body = "Attach", {"token": r.u64("token")}
    elif from_client and kind == 2:
        name, body = "Play", play(r)
    elif kind == 2:
        name, body = "State", {"margin": r.i8("margin")}
    elif kind == 3:
        name, body = "Latest", latest(r)
    else:
        raise Malformed(f"kind may not be {kind}")
    if name != "State":
        r.end()
    return name, body


def play(r):
    flags = r.u8("flags")
    count = flags & 7
    if flags >> 5 or count > INPUTS_A_DATAGRAM:
        raise Malformed(f"flags may not be {flags}")
    body = {"count": count, "forget": flags & 8 != 0}
    if flags & 16:
        newest, earlier = r.u16("newest packet"), r.u32("earlier packets")
        body["applied"] = [newest] + [(newest - n - 1) % 65536 for n in range(32) if earlier >> n & 1]
    body["tick"], body["shown"] = r.u16("tick"), r.u16("shown")
    body["inputs"] = r.raw("inputs", r.left())
    return body


def latest(r):
    channel = r.u8("channel")
    if channel >= LATEST_CHANNELS:
        raise Malformed(f"channel may not be {channel}")
    return {"channel": channel, "number": r.u16("number"), **message(r)}


def read_inputs(body, fields):
    """The inputs of a Play, newest first."""
    r, inputs = BitReader(body["inputs"]), []
    for _ in range(body["count"]):
        inputs.append(read_value(r, fields, inputs[-1] if inputs else None))
    if r.whole_byte() != len(body["inputs"]):
        raise Malformed("bytes behind the inputs")
    return inputs
