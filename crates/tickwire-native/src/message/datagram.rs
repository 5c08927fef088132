//! What goes by datagram: what is soon replaced by something newer.

use alloc::vec::Vec;

use tickwire_replica::{PacketNumber, Quantised, Replicate};
use tickwire_session::Token;
use tickwire_wire::{BitReader, BitWriter, DecodeError, Serial as _};

use super::{Reader, Writer};
use crate::limits::{DATAGRAM_MAX, INPUTS_A_DATAGRAM, LATEST_CHANNELS};

/// A datagram of the client.
#[derive(Clone, Debug, PartialEq)]
pub enum DatagramUp<'a> {
    /// The token that came by stream: this address is the client's.
    Attach(Token),
    /// What arrived, and what the player does.
    Play {
        /// The state packets that were applied.
        acks: Option<Acks>,
        /// The client lacks what a packet refers to: it is to be sent everything anew.
        forget: bool,
        /// The newest inputs, and what the player saw.
        inputs: Inputs<'a>,
    },
    /// A message of which only the newest counts.
    Latest(Latest<'a>),
}

/// A datagram of the server.
#[derive(Clone, Debug, PartialEq)]
pub enum DatagramDown<'a> {
    /// A packet of the world's state.
    State {
        /// How early the client's inputs come.
        margin: Margin,
        /// As `tickwire-replica` wrote it.
        packet: &'a [u8],
    },
    /// A message of which only the newest counts.
    Latest(Latest<'a>),
}

/// Which state packets a client applied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Acks {
    /// The newest, its lowest 16 bits.
    newest: u16,
    /// Bit `n` set: `newest - n - 1` was applied.
    earlier: u32,
}

/// The newest inputs of a client, each for one tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inputs<'a> {
    /// The tick that the newest is for, its lowest 16 bits. Those before it are for the ticks before.
    pub tick: u16,
    /// How many there are.
    pub count: u8,
    /// By how many 256ths of a tick the world that the player saw was older than `tick`.
    pub shown: u16,
    /// The newest whole, then each as a difference to the one after it.
    pub bits: &'a [u8],
}

/// How early inputs come before the ticks that they are for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Margin(Option<i8>);

/// A message of which only the newest of its channel counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latest<'a> {
    /// Below [`LATEST_CHANNELS`].
    pub channel: u8,
    /// Counts on with every message of the channel.
    pub number: u16,
    /// The message.
    pub body: &'a [u8],
}

mod kind {
    pub(super) const ATTACH: u8 = 1;
    pub(super) const PLAY: u8 = 2;
    pub(super) const STATE: u8 = 2;
    pub(super) const LATEST: u8 = 3;
}

/// Bits of the byte after PLAY.
mod flag {
    pub(super) const COUNT: u8 = 0x07;
    pub(super) const FORGET: u8 = 0x08;
    pub(super) const ACKS: u8 = 0x10;
}

impl<'a> DatagramUp<'a> {
    /// Reads a datagram.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let datagram = Self::read(&mut r)?;
        r.finish()?;
        Ok(datagram)
    }

    /// Reads the fields of a datagram.
    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let kind = r.u8("kind")?;
        r.means(match kind {
            kind::ATTACH => "Attach",
            kind::PLAY => "Play",
            kind::LATEST => "Latest",
            _ => "unknown",
        });
        Ok(match kind {
            kind::ATTACH => Self::Attach(Token(r.u64("token")?)),
            kind::PLAY => decode_play(r)?,
            kind::LATEST => Self::Latest(Latest::decode(r)?),
            other => return Err(r.refuse("kind", other.into())),
        })
    }

    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out, DATAGRAM_MAX);
        match self {
            Self::Attach(token) => {
                w.u8(kind::ATTACH);
                w.u64(token.0);
            }
            Self::Play {
                acks,
                forget,
                inputs,
            } => {
                w.u8(kind::PLAY);
                let forget = if *forget { flag::FORGET } else { 0 };
                w.u8(inputs.count | forget | acks.map_or(0, |_| flag::ACKS));
                if let Some(acks) = acks {
                    w.u16(acks.newest);
                    w.u32(acks.earlier);
                }
                w.u16(inputs.tick);
                w.u16(inputs.shown);
                w.bytes(inputs.bits);
            }
            Self::Latest(latest) => latest.encode(&mut w),
        }
        debug_assert!(w.finish().is_ok(), "a datagram beyond its bound");
    }
}

fn decode_play<'a>(r: &mut Reader<'a>) -> Result<DatagramUp<'a>, DecodeError> {
    let flags = r.u8("flags")?;
    let count = flags & flag::COUNT;
    let known = flag::COUNT | flag::FORGET | flag::ACKS;
    if flags & !known != 0 || usize::from(count) > INPUTS_A_DATAGRAM {
        return Err(r.refuse("flags", flags.into()));
    }
    let acks = match flags & flag::ACKS {
        0 => None,
        _ => Some(Acks {
            newest: r.u16("newest packet")?,
            earlier: r.u32("earlier packets")?,
        }),
    };
    let (tick, shown) = (r.u16("tick")?, r.u16("shown")?);
    let length = r.remaining();
    Ok(DatagramUp::Play {
        acks,
        forget: flags & flag::FORGET != 0,
        inputs: Inputs {
            tick,
            count,
            shown,
            bits: r.bytes("inputs", length)?,
        },
    })
}

impl<'a> DatagramDown<'a> {
    /// Reads a datagram.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let datagram = Self::read(&mut r)?;
        r.finish()?;
        Ok(datagram)
    }

    /// Reads the fields of a datagram.
    pub(crate) fn read(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let kind = r.u8("kind")?;
        r.means(match kind {
            kind::STATE => "State",
            kind::LATEST => "Latest",
            _ => "unknown",
        });
        Ok(match kind {
            kind::STATE => Self::State {
                margin: Margin::from_byte(r.i8("margin")?),
                packet: {
                    let length = r.remaining();
                    r.bytes("packet", length)?
                },
            },
            kind::LATEST => Self::Latest(Latest::decode(r)?),
            other => return Err(r.refuse("kind", other.into())),
        })
    }

    /// Appends the datagram.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut w = Writer::new(out, DATAGRAM_MAX);
        match self {
            Self::State { margin, packet } => {
                Self::write_state_head(*margin, &mut w);
                w.bytes(packet);
            }
            Self::Latest(latest) => latest.encode(&mut w),
        }
        debug_assert!(w.finish().is_ok(), "a datagram beyond its bound");
    }

    /// What stands before a packet of state.
    pub(crate) fn write_state_head(margin: Margin, w: &mut Writer<'_>) {
        w.u8(kind::STATE);
        w.i8(margin.byte());
    }
}

impl<'a> Latest<'a> {
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let channel = r.u8("channel")?;
        if channel >= LATEST_CHANNELS {
            return Err(r.refuse("channel", channel.into()));
        }
        let number = r.u16("number")?;
        let length = r.remaining();
        Ok(Self {
            channel,
            number,
            body: r.bytes("message", length)?,
        })
    }

    fn encode(&self, w: &mut Writer<'_>) {
        w.u8(kind::LATEST);
        w.u8(self.channel);
        w.u16(self.number);
        w.bytes(self.body);
    }
}

impl Acks {
    /// How many packets before the newest are told of.
    pub const EARLIER: u32 = u32::BITS;

    /// One packet was applied; `before` are those applied so far.
    #[must_use]
    pub fn with(before: Option<Self>, packet: PacketNumber) -> Self {
        let number = low_half(packet);
        let Some(Self { newest, earlier }) = before else {
            return Self {
                newest: number,
                earlier: 0,
            };
        };
        let ahead = number.steps_since(newest);
        let (newest, earlier) = match u32::try_from(ahead) {
            Ok(0) => (newest, earlier),
            // The newest so far becomes one of those before.
            Ok(ahead) => {
                let all = u64::from(earlier) << 1 | 1;
                let shifted = all.checked_shl(ahead - 1).unwrap_or(0);
                (
                    number,
                    u32::try_from(shifted & u64::from(u32::MAX)).unwrap_or(0),
                )
            }
            Err(_) => {
                let behind = u32::try_from(-ahead - 1).unwrap_or(u32::MAX);
                (newest, earlier | 1_u32.checked_shl(behind).unwrap_or(0))
            }
        };
        Self { newest, earlier }
    }

    /// The packets, newest first; `sent` is the newest that was sent. What was never sent is left out.
    pub fn packets(self, sent: PacketNumber) -> impl Iterator<Item = PacketNumber> {
        let behind = low_half(sent).steps_since(self.newest);
        let newest = u64::try_from(behind)
            .ok()
            .and_then(|behind| sent.0.checked_sub(behind));
        let earlier = (0..Self::EARLIER).filter(move |bit| self.earlier >> bit & 1 == 1);
        let ages = core::iter::once(0).chain(earlier.map(|bit| u64::from(bit) + 1));
        ages.filter_map(move |age| newest?.checked_sub(age))
            .filter(|number| *number > 0)
            .map(PacketNumber)
    }
}

fn low_half(packet: PacketNumber) -> u16 {
    let [low, high, ..] = packet.0.to_le_bytes();
    u16::from_le_bytes([low, high])
}

impl<'a> Inputs<'a> {
    /// No input: somebody who looks on.
    pub const NONE: Inputs<'static> = Inputs {
        tick: 0,
        count: 0,
        shown: 0,
        bits: &[],
    };

    /// Encodes inputs, the newest first, each for the tick before the one before it.
    pub fn encode<'q, T: Replicate + 'q>(
        newest_first: impl Iterator<Item = &'q Quantised<T>>,
    ) -> (u8, Vec<u8>) {
        let mut w = BitWriter::new();
        let mut after = None;
        let mut count = 0;
        for input in newest_first.take(INPUTS_A_DATAGRAM) {
            input.encode(after, &mut w);
            after = Some(input);
            count += 1;
        }
        (count, w.into_bytes())
    }

    /// Reads the inputs, the newest first.
    pub fn decode<T: Replicate>(&self) -> Result<Vec<Quantised<T>>, DecodeError> {
        let mut r = BitReader::new(self.bits);
        let mut inputs: Vec<Quantised<T>> = Vec::new();
        for _ in 0..self.count {
            let input = Quantised::decode(inputs.last(), &mut r)?;
            inputs.push(input);
        }
        r.finish()?;
        Ok(inputs)
    }
}

impl Margin {
    /// Nothing is known of the client's inputs.
    pub const UNKNOWN: Self = Self(None);

    /// Inputs come so many quarters of a tick before they are used; below 0, too late.
    pub fn quarters(quarters: i64) -> Self {
        let byte = quarters.clamp(-i64::from(i8::MAX), i8::MAX.into());
        Self(i8::try_from(byte).ok())
    }

    /// The same as a number of ticks.
    pub fn ticks(self) -> Option<f32> {
        self.0.map(|quarters| f32::from(quarters) / 4.0)
    }

    const fn from_byte(byte: i8) -> Self {
        match byte {
            i8::MIN => Self::UNKNOWN,
            quarters => Self(Some(quarters)),
        }
    }

    fn byte(self) -> i8 {
        self.0.unwrap_or(i8::MIN)
    }
}

#[cfg(test)]
mod tests;
