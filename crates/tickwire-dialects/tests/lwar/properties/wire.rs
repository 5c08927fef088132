//! Messages to bytes and back.

use proptest::prelude::*;
use tickwire_dialects::lwar::message::{BadText, Framed, Unframed};
use tickwire_dialects::lwar::{Header, Reader, inspect, limits};
use tickwire_wire::{DecodeError, FieldLog};

use super::super::words::{chat, datagram, player, reliable, rename};
use super::message::{framed, packet};

/// Every message of a datagram as far as it can be read, and why not further.
fn read(bytes: &[u8]) -> Result<(Vec<Framed<'_>>, Option<Unframed>), DecodeError> {
    let mut r = Reader::new(bytes);
    Header::decode(&mut r)?;
    let mut messages = Vec::new();
    while !r.is_empty() {
        match Framed::decode(&mut r) {
            Ok(message) => messages.push(message),
            Err(unframed) => return Ok((messages, Some(unframed))),
        }
    }
    Ok((messages, None))
}

const HEADER: Header = Header {
    ack: 3,
    timestamp: 77,
};

proptest! {
    #[test]
    fn what_is_written_is_read((header, messages) in packet()) {
        let bytes = datagram(header, &messages);
        let mut r = Reader::new(&bytes);
        prop_assert_eq!(Header::decode(&mut r), Ok(header));
        prop_assert_eq!(read(&bytes), Ok((messages, None)));
    }

    #[test]
    fn every_prefix_of_a_message_is_refused(message in framed()) {
        let bytes = datagram(HEADER, &[message]);
        for length in limits::HEADER + 1..bytes.len() {
            let (messages, fault) = read(&bytes[..length]).unwrap();
            prop_assert_eq!(messages, []);
            let truncated = matches!(fault, Some(Unframed { error: DecodeError::Truncated { .. }, .. }));
            prop_assert!(truncated, "{length} of {} bytes: {fault:?}", bytes.len());
        }
    }

    #[test]
    fn a_prefix_of_a_packet_holds_its_first_messages((header, messages) in packet(), cut: usize) {
        let bytes = datagram(header, &messages);
        let prefix = &bytes[..cut % bytes.len()];
        match read(prefix) {
            Ok((whole, fault)) => {
                prop_assert_eq!(&whole[..], &messages[..whole.len()]);
                let rest = prefix.len() - datagram(header, &whole).len();
                prop_assert_eq!(fault.is_some(), rest > 0);
            }
            Err(_) => prop_assert!(prefix.len() < limits::HEADER),
        }
    }

    #[test]
    fn there_is_one_way_to_write_a_message(bytes: Vec<u8>) {
        let mut r = Reader::new(&bytes);
        if let Ok(message) = Framed::decode(&mut r)
            && !matches!(message, Framed::Reliable { content: Err(_), .. })
        {
            let mut out = Vec::new();
            message.encode(&mut tickwire_dialects::lwar::Writer::new(&mut out, usize::MAX));
            prop_assert_eq!(&out[..], &bytes[..r.position()]);
        }
    }

    #[test]
    fn watching_does_not_change_the_verdict((header, messages) in packet(), flips: Vec<(usize, u8)>, cut: usize) {
        let mut bytes = datagram(header, &messages);
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << (bit % 8);
        }
        bytes.truncate(bytes.len() - cut % bytes.len());
        check_watched(&bytes)?;
    }

    #[test]
    fn watching_arbitrary_bytes_does_not_change_the_verdict(tail: Vec<u8>) {
        let mut bytes = datagram(HEADER, &[]);
        bytes.extend(tail);
        check_watched(&bytes)?;
    }

    #[test]
    fn forbidden_text_keeps_the_framing_of_what_follows(length in 0_u8..=255, fill: u8, next in framed()) {
        // Too long, not UTF-8, both or neither: the message behind it is read in any case.
        for message in [rename(player(1), ""), chat(player(1), "")] {
            let mut bytes = datagram(HEADER, &[reliable(2, message)]);
            *bytes.last_mut().unwrap() = length;
            bytes.extend(vec![fill; length.into()]);
            bytes.extend(&datagram(HEADER, &[next])[limits::HEADER..]);
            let (messages, fault) = read(&bytes).unwrap();
            prop_assert_eq!(fault, None);
            prop_assert_eq!(messages.len(), 2);
            prop_assert_eq!(messages[1], next);
            let Framed::Reliable { seq: 2, content } = messages[0] else {
                panic!("{:?}", messages[0]);
            };
            let longest = if message.id() == 9 { limits::NAME_MAX } else { limits::CHAT_MAX };
            let allowed = length <= longest && (fill < 0x80 || length == 0);
            prop_assert_eq!(content.is_ok(), allowed);
        }
    }
}

/// A traced reading and a plain one agree, and the trace covers what was read without holes.
fn check_watched(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut log = FieldLog::default();
    let watched = inspect(bytes, &mut log);
    let content = |message: &Framed<'_>| match *message {
        Framed::Reliable { content, .. } => content.err().map(BadText::error),
        Framed::Unreliable(_) => None,
    };
    let plain = match read(bytes) {
        Err(error) => Err(error),
        Ok((_, Some(unframed))) => Err(unframed.error),
        Ok((messages, None)) => messages.iter().find_map(content).map_or(Ok(()), Err),
    };
    prop_assert_eq!(watched.is_ok(), plain.is_ok());
    let mut at = 0;
    for (place, _) in log
        .entries()
        .iter()
        .filter_map(|entry| entry.field.as_ref())
    {
        prop_assert_eq!(place.at_bit, at);
        at += place.bits;
    }
    if watched.is_ok() {
        prop_assert_eq!(usize::try_from(at / 8), Ok(bytes.len()));
    }
    Ok(())
}
