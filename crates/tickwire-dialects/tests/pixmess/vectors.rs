//! Golden vectors: every packet in each direction that it travels, in each form that it has.
//!
//! The files are the authority: each is shown as it stands, and what is not refused is decoded and encoded
//! again, in the forms that its type bytes name.

use std::collections::BTreeSet;

use tickwire_dialects::pixmess::mask::{Form, Masks};
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{Layer, Reader, Tiles, Writer, decompress, inspect};
use tickwire_wire::DecodeError;

use crate::golden::{Golden, check_files, hex};

fn is_client(golden: &Golden) -> bool {
    golden.sender == "client"
}

/// The files in which nothing is wrong.
fn accepted() -> Vec<Golden> {
    check_files("pixmess", |golden, bytes, trace| {
        inspect(is_client(golden), bytes, trace)
    })
}

/// Decodes a stream of packets and writes each again as it was; their types.
fn check_rewritten<'a, P: Packet>(
    golden: &'a Golden,
    decode: impl Fn(&mut Reader<'a>, &mut Masks) -> Result<P, DecodeError>,
) -> BTreeSet<u8> {
    let mut r = Reader::new(&golden.bytes);
    let (mut read, mut wrote) = (Masks::default(), Masks::default());
    let (mut written, mut kinds) = (Vec::new(), BTreeSet::new());
    while !r.is_empty() {
        let form = match golden.bytes[r.position()..] {
            [kind, mask, ..] if kind >= 0xc0 => Form::Defined(mask),
            [kind, ..] if kind >= 0x80 => Form::Stored,
            _ => Form::Plain,
        };
        let packet = decode(&mut r, &mut read).expect("it decodes");
        let mut w = Writer::new(&mut written, usize::MAX);
        packet
            .encode_as(form, &mut wrote, &mut w)
            .expect("the form can say it");
        kinds.insert(packet.kind());
    }
    assert_eq!(hex(&written), hex(&golden.bytes), "{}", golden.name);
    kinds
}

#[test]
fn every_type_has_golden_files_that_are_read_and_written_to_the_byte() {
    let (mut client, mut server) = (BTreeSet::new(), BTreeSet::new());
    for golden in accepted() {
        if is_client(&golden) {
            client.extend(check_rewritten(&golden, FromClient::decode));
        } else {
            server.extend(check_rewritten(&golden, FromServer::decode));
        }
    }
    let both = [
        0x02, 0x03, 0x10, 0x44, 0x48, 0x50, 0x51, 0x58, 0x7c, 0x7d, 0x7e, 0x7f,
    ];
    let of = |own: &[u8]| both.iter().chain(own).copied().collect::<BTreeSet<u8>>();
    assert_eq!(client, of(&[0x40, 0x7b]));
    assert_eq!(server, of(&[0x11, 0x41, 0x42, 0x43, 0x45, 0x46, 0x47]));
}

#[test]
fn the_golden_layer_holds_an_empty_chunk() {
    let files = accepted();
    let golden = files.iter().find(|golden| golden.name == "layer-whole");
    let mut r = Reader::new(&golden.expect("it is one of them").bytes);
    let mut gzip = Vec::new();
    while let Ok(message) = FromServer::decode(&mut r, &mut Masks::default()) {
        if let FromServer::LayerData { data } = message {
            gzip.extend_from_slice(data);
        }
    }
    assert_eq!(decompress(&gzip), Ok(Tiles::default()));
    assert_eq!(Layer::new(&Tiles::default()).as_bytes(), gzip);
}
