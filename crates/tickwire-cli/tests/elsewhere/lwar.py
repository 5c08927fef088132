#!/usr/bin/env python3
"""A client and a server of lwar, written from its WIRE.md alone.

    lwar.py client HOST:PORT NAME [OTHER...]
        plays until its ship has flown and every OTHER has greeted it, then leaves
    lwar.py server
        prints where it listens, who joins from which address, and who leaves

Neither runs for longer than a minute. The server takes a well-behaved handful of players: it has no Full, no
Stats, removes nobody for silence, and gives no place twice.
"""
import os
import socket
import struct
import sys
import time

APP_ID, PACKET_MAX, LASTS = 0xF27087C5, 512, 60
CONNECT, DISCONNECT, JOIN, LEAVE, CHAT, ADD, REMOVE, SELECTION, NAME, SYNCED = range(1, 11)
INPUT, FULL, UPDATE = 103, 104, 110
# The fields behind the id, and the number of a reliable message: of messages with a length of their own,
# of those that end with a string, and of a list's records.
FIXED = {DISCONNECT: "", LEAVE: "4s", ADD: "4s4sB", REMOVE: "4s", SELECTION: "4s5s", SYNCED: "",
         INPUT: "4sI10shh", FULL: "", 105: "4s4shh"}
STRINGS = {CONNECT: "", JOIN: "4s", CHAT: "4s", NAME: "4s"}
LISTS = {101: "4sHHH", UPDATE: "4shhHB", 111: "4shh", 112: "4shhHH", 113: "4shhH"}
SHIP, PLANET, SERVER = 2, 3, bytes(4)


def decode(body):
    """The messages behind a header, up to the first that has no end: kind, number, fields."""
    messages, at = [], 0

    def take(form):
        nonlocal at
        fields = struct.unpack_from(">" + form, body, at)
        at += struct.calcsize(">" + form)
        return fields

    try:
        while at < len(body):
            kind = take("B")[0]
            number = take("I")[0] if 0 < kind < 100 else None
            if kind in LISTS:
                fields = [take(LISTS[kind]) for _ in range(take("B")[0])]
            elif kind in STRINGS:
                fields = take(STRINGS[kind]) + take(f"{take('B')[0]}s")
            else:
                fields = take(FIXED[kind])
            messages.append((kind, number, fields))
    except (struct.error, KeyError):
        pass
    return messages


def encode(kind, number, fields):
    head = struct.pack(">B", kind) if number is None else struct.pack(">BI", kind, number)
    if kind in LISTS:
        records = (struct.pack(">" + LISTS[kind], *record) for record in fields)
        return head + bytes([len(fields)]) + b"".join(records)
    if kind in STRINGS:
        *rest, text = fields
        return head + struct.pack(f">{STRINGS[kind]}B{len(text)}s", *rest, len(text), text)
    return head + struct.pack(">" + FIXED[kind], *fields)


class Channel:
    """One side of a conversation: numbers, acknowledgements and timestamps."""

    def __init__(self):
        self.began = time.monotonic()
        self.sent = self.acked = self.processed = self.newest = 0
        self.waiting = []

    def say(self, kind, *fields):
        self.sent += 1
        self.waiting.append((self.sent, encode(kind, self.sent, fields)))

    def packet(self, unreliable=b""):
        clock = int((time.monotonic() - self.began) * 1000) % 2**32
        packet = struct.pack(">III", APP_ID, self.processed, clock)
        for part in [message for _, message in self.waiting] + [unreliable]:
            if len(packet) + len(part) > PACKET_MAX:
                break
            packet += part
        return packet

    def receive(self, data):
        """What counts of a packet, and whether it held anything reliable."""
        if len(data) < 12 or struct.unpack_from(">I", data)[0] != APP_ID:
            return [], False
        _, ack, clock = struct.unpack_from(">III", data)
        if self.acked < ack <= self.sent:
            self.acked = ack
            self.waiting = [message for message in self.waiting if message[0] > ack]
        is_old = 0 < (self.newest - clock) % 2**32 < 2**31
        self.newest = self.newest if is_old else clock
        taken, messages = [], decode(data[12:])
        for kind, number, fields in messages:
            if number is None and (not is_old or kind == FULL):
                taken.append((kind, fields))
            elif number == self.processed + 1:
                self.processed = number
                taken.append((kind, fields))
        return taken, any(number for _, number, _ in messages)


def play(host, port, name, others):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((host, int(port)))
    channel, names, places, flown = Channel(), {}, {}, set()
    me, ship, synced, frame, forward, leaving, due = None, None, False, 0, 0, False, 0
    greeted, heard, echoes, greetings = set(), set(), 0, 0
    channel.say(CONNECT, name)
    while (now := time.monotonic()) < channel.began + LASTS:
        if now >= due:
            steering = b""
            if ship in places and not leaving:
                frame, forward = frame + 1, (forward << 1 | 1) & 255
                steering = encode(INPUT, None, (me, frame, bytes([forward]) + bytes(9), 300, -200))
            udp.send(channel.packet(steering))
            due = now + (0.2 if me is None else 1 / 30 if steering else 1 / 15)
        udp.settimeout(max(due - time.monotonic(), 0.001))
        try:
            data = udp.recv(2048)
        except (socket.timeout, ConnectionRefusedError):
            continue
        # Whoever leaves takes its Leave whatever the number.
        if leaving and (LEAVE, (me,)) in [(kind, fields) for kind, _, fields in decode(data[12:])]:
            print(f"{name.decode()} flew, heard {len(heard)} and left", flush=True)
            return 0
        taken, is_reliable = channel.receive(data)
        for kind, fields in taken:
            if kind == FULL:
                sys.exit("the server is full")
            if kind == JOIN:
                names[fields[0]] = fields[1]
                if me is None:
                    me = fields[0]
                    channel.say(SELECTION, me, bytes([SHIP, 5, 6, 0, 0]))
            elif kind == SYNCED:
                synced = True
            elif kind == ADD and fields[1:] == (me, SHIP):
                ship = fields[0]
            elif kind == CHAT:
                heard |= {names.get(fields[0])} & others
                echoes += fields[0] == me
            elif kind == UPDATE:
                for entity, x, y, _, _ in fields:
                    if places.setdefault(entity, (x, y)) != (x, y):
                        flown.add(entity)
        # Whoever came later has not heard what was said before: each is greeted when it is there.
        for other in set(names.values()) & (others | {name}) - greeted if synced else ():
            greeted.add(other)
            greetings += 1
            channel.say(CHAT, me, b"hello " + other)
        is_done = ship in flown and heard == others and others < greeted and echoes == greetings
        if is_done and not leaving:
            leaving = True
            channel.say(DISCONNECT)
        if is_reliable:
            udp.send(channel.packet())
    sys.exit(f"{name}: in time only me={me} ship={ship} flown={flown} heard={heard} echoes={echoes}")


class Seat:
    def __init__(self, index, name):
        self.channel, self.name, self.ship, self.frame, self.forward = Channel(), name, None, 0, False
        self.id = os.urandom(2) + struct.pack(">H", index)
        self.synced = self.proved = self.left = False
        self.channel.say(JOIN, self.id, name)


class Server:
    def __init__(self):
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.seats, self.entities = {}, {SERVER: [SERVER, PLANET, 500, 500]}
        print("ready %s:%d" % self.udp.getsockname(), flush=True)

    def tell(self, kind, *fields, but=None):
        for seat in self.seats.values():
            if seat.synced and not seat.left and seat is not but:
                seat.channel.say(kind, *fields)

    def synchronise(self, seat):
        seat.synced = True
        seat.channel.say(JOIN, SERVER, b"server")
        for other in self.seats.values():
            if other.proved and not other.left:
                seat.channel.say(JOIN, other.id, other.name)
        for entity, (owner, kind, _, _) in self.entities.items():
            seat.channel.say(ADD, entity, owner, kind)
        seat.channel.say(SYNCED)

    def handle(self, seat, addr, kind, fields):
        if kind == DISCONNECT:
            seat.left = True
            if self.entities.pop(seat.ship, None):
                self.tell(REMOVE, seat.ship)
            self.tell(LEAVE, seat.id)
            seat.channel.waiting = []
            seat.channel.say(LEAVE, seat.id)
            print("left", seat.name.decode(), flush=True)
        if kind not in (CHAT, SELECTION, NAME, INPUT) or fields[0] != seat.id or seat.left:
            return
        if not seat.proved:
            seat.proved = True
            self.tell(JOIN, seat.id, seat.name, but=seat)
            print("joined", seat.name.decode(), "from %s:%d" % addr, flush=True)
        if kind == INPUT:
            fresh = max(fields[1] - seat.frame, 0)
            seat.frame += fresh
            seat.forward = bool(fields[2][0] & (1 << min(fresh, 8)) - 1)
            return
        self.tell(kind, *fields)
        if kind == SELECTION and seat.ship is None:
            seat.ship = b"\0\0" + seat.id[2:]
            self.entities[seat.ship] = [seat.id, SHIP, 0, 0]
            self.tell(ADD, seat.ship, seat.id, SHIP)

    def receive(self, data, addr):
        if addr not in self.seats:
            kind, number, fields = (decode(data[12:]) + [(0, 0, ())])[0]
            if (kind, number) != (CONNECT, 1):
                return
            self.seats[addr] = Seat(len(self.seats) + 1, fields[0])
        seat = self.seats[addr]
        taken, _ = seat.channel.receive(data)
        if seat.channel.acked and not seat.synced:
            self.synchronise(seat)
        for kind, fields in taken:
            self.handle(seat, addr, kind, fields)
        if not seat.proved or seat.left and seat.channel.waiting:
            self.udp.sendto(seat.channel.packet(), addr)

    def send(self):
        for seat in self.seats.values():
            if seat.forward and seat.ship in self.entities:
                self.entities[seat.ship][2] += 3
        updates = [(entity, x, y, 0, 100) for entity, (_, _, x, y) in self.entities.items()]
        for addr, seat in self.seats.items():
            if seat.proved and not seat.left:
                self.udp.sendto(seat.channel.packet(encode(UPDATE, None, updates)), addr)

    def run(self):
        ends, due = time.monotonic() + LASTS, 0
        while (now := time.monotonic()) < ends:
            if now >= due:
                self.send()
                due = now + 1 / 15
            self.udp.settimeout(max(due - time.monotonic(), 0.001))
            try:
                self.receive(*self.udp.recvfrom(2048))
            except (socket.timeout, ConnectionRefusedError):
                pass


if __name__ == "__main__":
    if sys.argv[1] == "server":
        Server().run()
    else:
        address, me, *rest = sys.argv[2:]
        sys.exit(play(*address.split(":"), me.encode(), {other.encode() for other in rest}))
