//! One direction of a stream, however broken.

use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{Reader, Sublayer, Writer, inspect};
use tickwire_wire::{DecodeError, FieldLog};

use crate::trace::traced_end;

/// Reads `bytes`, whose first says who sent the others, with and without a trace, and writes what was
/// read again, plainly and in the cheapest forms.
///
/// # Panics
/// If a packet that fails changes the masks, if one that is cut is more than cut, if a trace changes
/// anything or leaves a hole, or if what was written is not the same or says something else.
pub fn pixmess_stream(bytes: &[u8]) {
    let Some((&side, stream)) = bytes.split_first() else {
        return;
    };
    if side & 1 == 0 {
        check(stream, true, of_client, again_of_client);
    } else {
        check(stream, false, of_server, again_of_server);
    }
}

/// What a packet means, as its plain form, and the bytes it took.
type Step = fn(&[u8], &mut Masks) -> Result<(Vec<u8>, usize), DecodeError>;

/// All packets of a stream in the forms that are cheapest.
type Again = fn(&[u8]) -> Vec<u8>;

fn check(stream: &[u8], from_client: bool, step: Step, again: Again) {
    let (meaning, verdict) = read(stream, step);
    let mut log = FieldLog::default();
    let inspected = inspect(from_client, stream, &mut log).map_err(DecodeError::at_bit);
    assert_eq!(inspected, verdict);
    if verdict.is_ok() {
        assert_eq!(traced_end(&log) as usize, stream.len() * 8);
    }
    let cheapest = again(stream);
    assert!(cheapest.len() <= meaning.len());
    assert_eq!(read(&cheapest, step), (meaning, Ok(())));
}

/// Reads packets up to the first that is none; what all of them mean, and at which bit it went wrong.
fn read(stream: &[u8], step: Step) -> (Vec<u8>, Result<(), u32>) {
    let (mut meaning, mut at, mut masks) = (Vec::new(), 0, Masks::default());
    while at < stream.len() {
        let before = masks;
        match step(&stream[at..], &mut masks) {
            Ok((plain, length)) => {
                // Without its last byte it is a packet that has not arrived.
                let cut = step(&stream[at..at + length - 1], &mut { before });
                assert!(matches!(cut, Err(DecodeError::Truncated { .. })), "{cut:?}");
                meaning.extend(plain);
                at += length;
            }
            Err(error) => {
                assert_eq!(masks, before, "a failure leaves the masks alone");
                let before = u32::try_from(at * 8).expect("inputs are short");
                return (meaning, Err(before + error.at_bit()));
            }
        }
    }
    (meaning, Ok(()))
}

fn of_client(bytes: &[u8], masks: &mut Masks) -> Result<(Vec<u8>, usize), DecodeError> {
    let (mut r, mut before) = (Reader::new(bytes), *masks);
    let mut message = FromClient::decode(&mut r, masks)?;
    // When a solid block is taken away, what it would look like is nobody's business.
    if let FromClient::BlockSet(set) = &mut message
        && set.sublayer == Sublayer::Solid
        && set.block.typ == 0
    {
        (set.block.col, set.block.ch) = (0, 0);
    } else {
        check_canonical(&message, &bytes[..r.position()], &mut before);
    }
    Ok((plain(&message), r.position()))
}

fn of_server(bytes: &[u8], masks: &mut Masks) -> Result<(Vec<u8>, usize), DecodeError> {
    let (mut r, mut before) = (Reader::new(bytes), *masks);
    let message = FromServer::decode(&mut r, masks)?;
    check_canonical(&message, &bytes[..r.position()], &mut before);
    Ok((plain(&message), r.position()))
}

/// A packet is written as the same bytes in the form in which it came. Types without masks have one form,
/// whatever the beginning of their type byte said.
fn check_canonical<P: Packet>(message: &P, bytes: &[u8], masks: &mut Masks) {
    let form = match *bytes {
        [kind, mask, ..] if kind >= 0xc0 => Form::Defined(mask),
        [kind, ..] if kind >= 0x80 => Form::Stored,
        _ => Form::Plain,
    };
    let mut written = Vec::new();
    let mut w = Writer::new(&mut written, usize::MAX);
    if message.encode_as(form, masks, &mut w).is_some() {
        assert_eq!(written, bytes);
    } else {
        assert!(message.masked().is_none(), "its form can say it");
    }
}

fn plain<P: Packet>(message: &P) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut w = Writer::new(&mut bytes, usize::MAX);
    let written = message.encode_as(Form::Plain, &mut Masks::default(), &mut w);
    assert_eq!(written, Some(()), "the plain form can say anything");
    assert_eq!(bytes.len(), message.plain_size());
    bytes
}

fn again_of_client(stream: &[u8]) -> Vec<u8> {
    let (mut r, mut masks) = (Reader::new(stream), Masks::default());
    let next = || FromClient::decode(&mut r, &mut masks).ok();
    encode(&core::iter::from_fn(next).collect::<Vec<_>>())
}

fn again_of_server(stream: &[u8]) -> Vec<u8> {
    let (mut r, mut masks) = (Reader::new(stream), Masks::default());
    let next = || FromServer::decode(&mut r, &mut masks).ok();
    encode(&core::iter::from_fn(next).collect::<Vec<_>>())
}

fn encode<P: Packet>(messages: &[P]) -> Vec<u8> {
    let (mut bytes, mut masks) = (Vec::new(), Masks::default());
    for (at, message) in messages.iter().enumerate() {
        let later = messages[at + 1..].iter();
        message.encode(&mut masks, later, &mut Writer::new(&mut bytes, usize::MAX));
    }
    bytes
}
