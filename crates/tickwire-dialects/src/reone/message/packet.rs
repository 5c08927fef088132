//! A packet: a header, then lists of elements to the end.
//!
//! A list is a type, how many elements it has, and the elements. Lists may come in any order and a
//! type more than once; [`PacketWriter`] joins neighbours of one type into a list until its length is
//! full. The base of a module is such a packet too, only longer than a datagram.

use alloc::vec::Vec;
use core::marker::PhantomData;

use tickwire_wire::{DecodeError, Full, Messages as _};

use super::down::{self, Down, DownElement, DownHeader};
use super::{Direction, Up, VariableDiff};
use crate::reone::limits::{BASE_MAX, HEADER, LIST_MAX, PLAIN_MAX};
use crate::reone::scope::GLOBAL;
use crate::reone::{Reader, SnapshotSeq, Writer, huffman};

/// A packet in which nothing is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a, D: Direction> {
    /// What it begins with.
    pub header: D::Header,
    lists: &'a [u8],
}

impl<'a, D: Direction> Packet<'a, D> {
    /// Reads a packet of which every element decodes.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let header = D::decode_header(&mut r)?;
        let lists = r.peek(usize::MAX);
        decode_lists::<D>(&mut r, |number| D::allows(&header, number), drop)?;
        Ok(Self { header, lists })
    }

    /// Reads a packet and hands every element to `each`, which collects them: whether all decode is known
    /// only at the end. Returns the header.
    pub fn decode_each(
        bytes: &'a [u8],
        each: impl FnMut(D::Element<'a>),
    ) -> Result<D::Header, DecodeError> {
        let mut r = Reader::new(bytes);
        let header = D::decode_header(&mut r)?;
        decode_lists::<D>(&mut r, |number| D::allows(&header, number), each)?;
        Ok(header)
    }

    /// The elements, in order.
    pub const fn elements(&self) -> Elements<'a, D> {
        Elements::new(self.lists)
    }
}

impl<'a> Packet<'a, Down> {
    /// Reads a packet of a server that has Huffman coding switched on. What is coded unfolds to
    /// `scratch`.
    pub fn decode_coded(bytes: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let header = Down::decode_header(&mut r)?;
        if header.sequence == SnapshotSeq::NONE {
            return Self::decode(bytes);
        }
        let lists = match huffman::open(&mut r)? {
            huffman::Lists::Plain(lists) => lists,
            huffman::Lists::Coded(coded) => {
                scratch.clear();
                coded.unfold(scratch)?;
                scratch
            }
        };
        let allows = |number| Down::allows(&header, number);
        decode_lists::<Down>(&mut Reader::new(lists), allows, drop)?;
        Ok(Self { header, lists })
    }
}

/// The snapshot that a module begins with, as the resource that holds it: a packet without sequence, of
/// full states and of the game's variables.
#[derive(Clone, Copy, Debug)]
pub struct Base<'a> {
    /// The tick it is of.
    pub tick: u32,
    lists: &'a [u8],
}

impl<'a> Base<'a> {
    /// Reads a base of which every element decodes.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        decode_base(&mut Reader::new(bytes))
    }

    /// The elements, in order: CreatureFull, SpatialFull and the game's VariableDiff, and no others.
    pub const fn elements(&self) -> Elements<'a, Down> {
        Elements::new(self.lists)
    }

    /// Writes a base of these elements. Fails if it would be longer than a base may be.
    pub fn encode<'e>(
        tick: u32,
        elements: impl IntoIterator<Item = DownElement<'e>>,
        out: &mut Vec<u8>,
    ) -> Result<(), Full> {
        let mut writer = PacketWriter::<Down>::new(out, &DownHeader::unsequenced(tick), BASE_MAX);
        for element in elements {
            writer.push(&element)?;
        }
        writer.finish();
        Ok(())
    }
}

/// Reads a base.
pub(in crate::reone) fn decode_base<'a>(r: &mut Reader<'a>) -> Result<Base<'a>, DecodeError> {
    let header = r.group("header", Down::decode_header)?;
    if header.sequence != SnapshotSeq::NONE {
        return Err(DecodeError::Forbidden {
            field: "sequence",
            at_bit: 0,
            value: header.sequence.0.into(),
        });
    }
    let lists = r.peek(usize::MAX);
    let mut scopes = Ok(());
    decode_lists::<Down>(r, down::base_allows, |element| {
        // What is a creature's is its owner's alone, and everybody loads the base.
        if let DownElement::VariableDiff(VariableDiff { scope, .. }) = element
            && scope != GLOBAL
        {
            scopes = Err(DecodeError::Forbidden {
                field: "scope",
                at_bit: 0,
                value: scope.0.into(),
            });
        }
    })?;
    scopes?;
    Ok(Base {
        tick: header.tick,
        lists,
    })
}

/// Reads lists to the end of the input, of the types that `allows` lets through, and hands every element to
/// `each`.
pub(in crate::reone) fn decode_lists<'a, D: Direction>(
    r: &mut Reader<'a>,
    allows: impl Fn(u8) -> bool,
    mut each: impl FnMut(D::Element<'a>),
) -> Result<(), DecodeError> {
    let mut is_over = false;
    while !r.is_empty() {
        if is_over {
            return r.finish();
        }
        is_over = r.group("list", |r| {
            let number = r.u8("list type")?;
            let Some(list) = D::list(number).filter(|_| allows(number)) else {
                return Err(r.refuse("list type", number.into()));
            };
            r.means(list.name);
            let length = r.u8("list length")?;
            if list.is_single && length != 1 {
                return Err(r.refuse("list length", length.into()));
            }
            for _ in 0..length {
                each(r.group("element", |r| D::decode_element(number, r))?);
            }
            Ok(list.is_final)
        })?;
    }
    Ok(())
}

/// The elements of lists that were found to be good.
#[derive(Debug)]
pub struct Elements<'a, D> {
    r: Reader<'a>,
    number: u8,
    left: u8,
    direction: PhantomData<D>,
}

impl<'a, D> Elements<'a, D> {
    const fn new(lists: &'a [u8]) -> Self {
        Self {
            r: Reader::new(lists),
            number: 0,
            left: 0,
            direction: PhantomData,
        }
    }
}

impl<'a, D: Direction> Iterator for Elements<'a, D> {
    type Item = D::Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // Only the end does not decode: everything before it did already.
        while self.left == 0 {
            self.number = self.r.u8("list type").ok()?;
            self.left = self.r.u8("list length").ok()?;
        }
        self.left -= 1;
        D::decode_element(self.number, &mut self.r).ok()
    }
}

/// Writes one packet at the end of a buffer.
#[derive(Debug)]
pub struct PacketWriter<'a, D> {
    out: &'a mut Vec<u8>,
    /// Where the packet begins in `out`, and where it may reach.
    start: usize,
    end: usize,
    /// Where the lists begin in `out`.
    lists: usize,
    list: Option<OpenList>,
    is_coded: bool,
    direction: PhantomData<D>,
}

/// The list that the next element may still go to.
#[derive(Clone, Copy, Debug)]
struct OpenList {
    number: u8,
    /// Where its length stands in the buffer.
    length_at: usize,
    length: u8,
}

impl<'a, D: Direction> PacketWriter<'a, D> {
    /// Begins a packet of at most `limit` bytes.
    ///
    /// # Panics
    /// If `limit` has no room for the header.
    pub fn new(out: &'a mut Vec<u8>, header: &D::Header, limit: usize) -> Self {
        assert!(limit >= HEADER, "a packet has room for its header");
        let start = out.len();
        D::encode_header(header, &mut Writer::new(out, HEADER));
        let lists = out.len();
        Self {
            out,
            start,
            end: start + limit,
            lists,
            list: None,
            is_coded: false,
            direction: PhantomData,
        }
    }

    /// Adds an element, or nothing if the whole of it does not fit: the packet is full.
    #[inline]
    pub fn push(&mut self, element: &D::Element<'_>) -> Result<(), Full> {
        self.push_with(element.number(), |w| element.write_fields(w))
    }

    /// Adds an element that is encoded already, to a list of this type.
    #[inline]
    pub fn push_encoded(&mut self, number: u8, element: &[u8]) -> Result<(), Full> {
        self.push_with(number, |w| w.bytes(element))
    }

    /// Replaces the header, by one that depends on what there was room for.
    pub fn set_header(&mut self, header: &D::Header) {
        let mut bytes = Vec::with_capacity(HEADER);
        D::encode_header(header, &mut Writer::new(&mut bytes, HEADER));
        let place = self.out.get_mut(self.start..);
        for (place, byte) in place.into_iter().flatten().zip(bytes) {
            *place = byte;
        }
    }

    /// Whether it has no element yet.
    pub const fn is_empty(&self) -> bool {
        self.out.len() == self.lists
    }

    /// Bytes so far, header included.
    pub const fn length(&self) -> usize {
        self.out.len() - self.start
    }

    /// Bytes that still fit.
    pub const fn room(&self) -> usize {
        self.end - self.out.len()
    }

    /// Ends the packet, and returns its length.
    pub fn finish(self) -> usize {
        if self.is_coded {
            huffman::fold(self.out, self.lists);
        }
        self.out.len() - self.start
    }

    #[inline]
    fn push_with(&mut self, number: u8, write: impl FnOnce(&mut Writer<'_>)) -> Result<(), Full> {
        let room = self.room();
        let at = self.out.len();
        let mut w = Writer::new(self.out, room);
        match &mut self.list {
            Some(list) if list.number == number && list.length < LIST_MAX => {
                w.whole(write)?;
                list.length += 1;
                let length = list.length;
                if let Some(byte) = self.out.get_mut(list.length_at) {
                    *byte = length;
                }
            }
            _ => {
                w.whole(|w| {
                    w.u8(number);
                    w.u8(1);
                    write(w);
                })?;
                let is_single = D::list(number).is_none_or(|list| list.is_single);
                self.list = (!is_single).then_some(OpenList {
                    number,
                    length_at: at + 1,
                    length: 1,
                });
            }
        }
        Ok(())
    }
}

impl<'a> PacketWriter<'a, Down> {
    /// Begins a packet for a client that was told of Huffman coding. It is coded when it is finished,
    /// if that makes it shorter.
    ///
    /// # Panics
    /// If `limit` has no room for the header and what tells plain from coded.
    pub fn coded(out: &'a mut Vec<u8>, header: &DownHeader, limit: usize) -> Self {
        let mut writer = Self::new(out, header, limit);
        if header.sequence != SnapshotSeq::NONE {
            assert!(limit > HEADER, "a coded packet has a byte more");
            writer.out.push(huffman::PLAIN);
            writer.lists += 1;
            writer.end = writer.end.min(writer.lists + PLAIN_MAX);
            writer.is_coded = true;
        }
        writer
    }
}

impl PacketWriter<'_, Up> {
    /// A header alone, which is how a client acknowledges when it has nothing to say.
    pub fn acknowledgement(out: &mut Vec<u8>, header: &super::UpHeader) -> usize {
        PacketWriter::<Up>::new(out, header, HEADER).finish()
    }
}
