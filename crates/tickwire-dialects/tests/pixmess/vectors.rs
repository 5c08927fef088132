//! Golden vectors: every packet in each direction that it travels, in each form that it has.

mod golden;

use std::collections::BTreeSet;
use std::fs;

use tickwire_dialects::pixmess::mask::Masks;
use tickwire_dialects::pixmess::message::{FromClient, FromServer, Packet};
use tickwire_dialects::pixmess::{Layer, Reader, Tiles, decompress, inspect};
use tickwire_wire::{DecodeError, FieldLog, Trace};

use crate::golden::{Golden, Inspect, dir, hex, is_blessing};
use golden::{Stream, accepted, refused};

fn inspect_client(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    inspect(true, bytes, trace)
}

fn inspect_server(bytes: &[u8], trace: &mut dyn Trace) -> Result<(), DecodeError> {
    inspect(false, bytes, trace)
}

fn inspector(golden: &Golden) -> Inspect {
    match golden.sender {
        "client" => inspect_client,
        _ => inspect_server,
    }
}

#[test]
fn every_golden_stream_is_read_and_written_to_the_byte() {
    for (golden, stream) in accepted() {
        let bytes = golden.check("pixmess", inspector(&golden));
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let mut r = Reader::new(&bytes);
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
        let bytes = golden.check("pixmess", inspector(&golden));
        assert_eq!(hex(&bytes), hex(&golden.bytes), "{}", golden.name);
        let verdict = inspector(&golden)(&bytes, &mut FieldLog::default());
        assert!(verdict.is_err(), "{} is accepted", golden.name);
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
    if is_blessing() {
        // The files are being written at this moment.
        return;
    }
    let known: BTreeSet<_> = accepted()
        .into_iter()
        .map(|(golden, _)| golden)
        .chain(refused())
        .map(|golden| golden.name.to_owned())
        .collect();
    let files = fs::read_dir(dir("pixmess")).expect("the vectors are there");
    let there: BTreeSet<_> = files
        .map(|file| file.expect("a readable folder").path())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(
        there, known,
        "left: in vectors/pixmess; right: known to the tests"
    );
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
