//! Golden vectors: every packet in each direction that it travels, in each form that it has.

mod golden;

use std::collections::BTreeSet;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{Layer, Reader, Tiles, decompress, inspect};

use crate::golden::{Golden, Inspect, check_folder};
use golden::{Stream, accepted, refused};

fn inspector(golden: &Golden) -> impl Inspect {
    let from_client = golden.sender == "client";
    move |bytes, trace| inspect(from_client, bytes, trace)
}

#[test]
fn every_golden_stream_is_read_and_written_to_the_byte() {
    for (golden, stream) in accepted() {
        golden.check("pixmess", inspector(&golden));
        let mut r = Reader::new(&golden.bytes);
        let mut masks = Masks::default();
        match stream {
            Stream::Client(packets) => {
                for (_, message) in packets {
                    let read = FromClient::decode(&mut r, &mut masks);
                    assert_eq!(read, Ok(message), "{}", golden.name);
                }
            }
            Stream::Server(packets) => {
                for (_, message) in packets {
                    let read = FromServer::decode(&mut r, &mut masks);
                    assert_eq!(read, Ok(message), "{}", golden.name);
                }
            }
        }
        assert_eq!(r.finish(), Ok(()), "{}", golden.name);
    }
}

#[test]
fn every_refused_stream_is_refused_where_its_file_says() {
    for golden in refused() {
        golden.check_refused("pixmess", inspector(&golden));
    }
}

#[test]
fn every_type_has_a_golden_file_in_each_direction() {
    let mut client = BTreeSet::new();
    let mut server = BTreeSet::new();
    for (_, stream) in accepted() {
        match stream {
            Stream::Client(packets) => client.extend(packets.iter().map(|(_, m)| m.kind())),
            Stream::Server(packets) => server.extend(packets.iter().map(|(_, m)| m.kind())),
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
fn every_vectors_file_is_used() {
    let golden = accepted().into_iter().map(|(golden, _)| golden);
    let known = golden.chain(refused()).map(|golden| golden.name);
    check_folder("pixmess", known);
}

#[test]
fn the_golden_layer_vectors_hold_an_empty_chunk() {
    let (golden, stream) = accepted()
        .into_iter()
        .find(|(golden, _)| golden.name == "layer-whole")
        .expect("it is one of them");
    let Stream::Server(packets) = stream else {
        panic!("{} is a server's", golden.name);
    };
    let gzip: Vec<u8> = packets
        .iter()
        .filter_map(|(_, message)| match message {
            FromServer::LayerData { data } => Some(*data),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    assert_eq!(decompress(&gzip), Ok(Tiles::default()));
    assert_eq!(Layer::new(&Tiles::default()).as_bytes(), gzip);
}
