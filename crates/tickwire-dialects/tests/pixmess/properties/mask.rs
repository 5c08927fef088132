//! Encoding and decoding, under every legal form of masks, cut anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{Reader, Sublayer, Writer};
use tickwire_wire::DecodeError;

use super::super::words::{Heard, Said, encode, plain};
use super::message::{heard, said};

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        Just(Form::Plain),
        Just(Form::Stored),
        any::<u8>().prop_map(Form::Defined),
        (0..32_u8).prop_map(Form::Defined),
    ]
}

/// Writes each message in the form drawn for it, or plainly if that cannot say it.
fn encode_in<P: Packet>(messages: &[(Form, P)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut masks = Masks::default();
    for (form, message) in messages {
        let before = (bytes.len(), masks);
        let mut w = Writer::new(&mut bytes, usize::MAX);
        if message.encode_as(*form, &mut masks, &mut w).is_none() {
            assert_eq!((bytes.len(), masks), before, "what cannot be said is not");
            let mut w = Writer::new(&mut bytes, usize::MAX);
            message
                .encode_as(Form::Plain, &mut masks, &mut w)
                .expect("the plain form can say anything");
        }
    }
    bytes
}

/// Reads messages from a stream that arrives in these pieces. Each time it tries with what is there,
/// and must either succeed or change nothing.
fn decode_pieces<M>(
    bytes: &[u8],
    cuts: &[usize],
    decode: impl Fn(&mut Reader<'static>, &mut Masks) -> Result<M, DecodeError>,
) -> Vec<M> {
    let bytes: &'static [u8] = bytes.to_vec().leak();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    let (mut read, mut masks, mut messages) = (0, Masks::default(), Vec::new());
    for end in ends {
        loop {
            let mut r = Reader::new(&bytes[read..end]);
            let before = masks;
            match decode(&mut r, &mut masks) {
                Ok(message) => {
                    read += r.position();
                    messages.push(message);
                }
                Err(DecodeError::Truncated { .. }) => {
                    assert_eq!(masks, before, "a packet that is not whole changes nothing");
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert_eq!(read, bytes.len());
    messages
}

/// What is left of a message when colour and character of a cleared block are not looked at.
fn meant(message: &Said) -> Said {
    let mut message = *message;
    if let FromClient::BlockSet(set) = &mut message
        && set.sublayer == Sublayer::Solid
        && set.block.typ == 0
    {
        (set.block.col, set.block.ch) = (0, 0);
    }
    message
}

fn meant_all(messages: &[Said]) -> Vec<Said> {
    messages.iter().map(meant).collect()
}

fn plain_size<P: Packet>(messages: &[P]) -> usize {
    messages.iter().map(Packet::plain_size).sum()
}

proptest! {
    #[test]
    fn a_server_s_messages_survive_every_form(
        messages in vec((form(), heard()), 1..40),
        cuts in vec(any::<usize>(), 0..40),
    ) {
        let bytes = encode_in(&messages);
        let read = decode_pieces(&bytes, &cuts, FromServer::decode);
        let written: Vec<Heard> = messages.into_iter().map(|(_, message)| message).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn a_client_s_messages_survive_every_form(
        messages in vec((form(), said()), 1..40),
        cuts in vec(any::<usize>(), 0..40),
    ) {
        let bytes = encode_in(&messages);
        let read = decode_pieces(&bytes, &cuts, FromClient::decode);
        let written: Vec<Said> = messages.into_iter().map(|(_, message)| message).collect();
        prop_assert_eq!(meant_all(&read), meant_all(&written));
    }

    #[test]
    fn the_cheapest_form_says_the_same_and_is_never_longer_than_the_plain_one(
        to_client in vec(heard(), 1..60),
        to_server in vec(said(), 1..60),
        cuts in vec(any::<usize>(), 0..40),
    ) {
        let bytes = encode(&mut Masks::default(), &to_client);
        prop_assert!(bytes.len() <= plain_size(&to_client));
        let read = decode_pieces(&bytes, &cuts, FromServer::decode);
        prop_assert_eq!(read, to_client);

        let bytes = encode(&mut Masks::default(), &to_server);
        prop_assert!(bytes.len() <= plain_size(&to_server));
        let read = decode_pieces(&bytes, &cuts, FromClient::decode);
        prop_assert_eq!(meant_all(&read), meant_all(&to_server));
    }

    #[test]
    fn the_plain_size_is_the_size_of_the_plain_form(message in heard(), said in said()) {
        prop_assert_eq!(plain(&message).len(), message.plain_size());
        prop_assert_eq!(plain(&said).len(), said.plain_size());
    }

    #[test]
    fn looking_ahead_never_costs_more_than_not_looking_on_average(
        seeds in vec(vec(heard(), 20..60), 8),
    ) {
        let (mut ahead, mut blind) = (0, 0);
        for messages in &seeds {
            ahead += encode(&mut Masks::default(), messages).len();
            let mut masks = Masks::default();
            for message in messages {
                blind += encode(&mut masks, core::slice::from_ref(message)).len();
            }
        }
        // Beyond what is seen a look-ahead may be unlucky, by little.
        prop_assert!(ahead <= blind + blind / 100, "{ahead} against {blind}");
    }
}
