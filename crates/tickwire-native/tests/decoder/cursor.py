"""Reading bytes and bits: WIRE.md, the first lines, and "Packed" of the page about blocks."""


class Malformed(Exception):
    """The bytes are not what the pages describe."""


class Reader:
    """Reads numbers of whole bytes, little-endian, and lists what it read."""

    def __init__(self, data, at=0, fields=None):
        self.data = data
        self.at = at
        # (first byte, bits, name, value)
        self.fields = [] if fields is None else fields

    def left(self):
        return len(self.data) - self.at

    def take(self, name, count):
        if count > self.left():
            raise Malformed(f"{name} is cut off")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def note(self, start, name, value):
        self.fields.append((start, (self.at - start) * 8, name, value))
        return value

    def unsigned(self, name, count):
        start = self.at
        return self.note(start, name, int.from_bytes(self.take(name, count), "little"))

    def u8(self, name):
        return self.unsigned(name, 1)

    def u16(self, name):
        return self.unsigned(name, 2)

    def u32(self, name):
        return self.unsigned(name, 4)

    def u64(self, name):
        return self.unsigned(name, 8)

    def i8(self, name):
        start = self.at
        return self.note(start, name, int.from_bytes(self.take(name, 1), "little", signed=True))

    def varint(self, name):
        start, value = self.at, 0
        for place in range(5):
            byte = self.take(name, 1)[0]
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                if byte == 0 and place > 0:
                    raise Malformed(f"{name} has a superfluous byte")
                if value >= 1 << 32:
                    raise Malformed(f"{name} has more than 32 bits")
                return self.note(start, name, value)
        raise Malformed(f"{name} has more than five bytes")

    def raw(self, name, count):
        start = self.at
        return self.note(start, name, self.take(name, count))

    def text(self, name, count):
        start = self.at
        try:
            return self.note(start, name, self.take(name, count).decode("utf-8"))
        except UnicodeDecodeError:
            raise Malformed(f"{name} is no text") from None

    def end(self):
        if self.left():
            raise Malformed(f"{self.left()} bytes too many")


class BitReader:
    """Bits fill a byte from its lowest place upwards; a number's lowest bit comes first."""

    def __init__(self, data, at=0):
        self.data = data
        self.bit = at * 8

    def bits(self, count):
        value = 0
        for place in range(count):
            byte = self.bit // 8
            if byte >= len(self.data):
                raise Malformed("the bits are cut off")
            value |= (self.data[byte] >> self.bit % 8 & 1) << place
            self.bit += 1
        return value

    def flag(self):
        return self.bits(1) == 1

    def whole_byte(self):
        """Passes over the zeros up to the next byte, and says which that is."""
        while self.bit % 8:
            if self.bits(1):
                raise Malformed("what fills up a byte is not 0")
        return self.bit // 8
