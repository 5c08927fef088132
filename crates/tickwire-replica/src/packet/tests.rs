use alloc::vec;
use alloc::vec::Vec;

use tickwire_wire::{DecodeError, Full, LittleEndian, Reader};

use super::*;

const HEADER: Header = Header {
    number: PacketNumber(0x1_0002),
    send: SendIndex(0x4000_0005),
};

fn record(place: u32, target: Target) -> RecordHead {
    RecordHead {
        place: PlaceNumber(place),
        target,
        form: Form::Packed,
        ages: Ages {
            baseline: 2,
            previous: 3,
        },
    }
}

/// What a reader makes of a packet whose bodies are one byte each.
#[derive(Debug, Default, PartialEq)]
struct Read {
    last: Option<Last>,
    notices: Vec<Notice>,
    records: Vec<(RecordHead, u8)>,
}

fn read(bytes: &[u8]) -> Result<Read, DecodeError> {
    let mut packet = PacketReader::new(Reader::<LittleEndian>::new(bytes))?;
    let mut read = Read {
        last: packet.last(),
        ..Read::default()
    };
    packet.notices(|notice| read.notices.push(notice))?;
    while let Some(head) = packet.record()? {
        let body = packet.rest().first().copied().unwrap_or_default();
        packet.skip_body(1)?;
        read.records.push((head, body));
    }
    Ok(read)
}

/// A packet with everything in it.
fn full_packet() -> (Vec<u8>, Read) {
    let notices = Notices {
        clear: true,
        leaves: &[PlaceNumber(3), PlaceNumber(300)],
        gones: &[
            (PlaceNumber(7), BlockNumber(0)),
            (PlaceNumber(7), BlockNumber(900)),
        ],
    };
    let last = Last {
        complete: 200,
        settled: 1,
    };
    let records = [
        (record(9, Target::Place), 1),
        (record(9, Target::Block(BlockNumber(u16::MAX))), 2),
        (record(u32::MAX, Target::Place), 3),
        (record(4, Target::Block(BlockNumber(0))), 4),
    ];
    let mut out = Vec::new();
    let mut packet = PacketWriter::new(HEADER, &notices, 100, &mut out).unwrap();
    for (head, body) in &records {
        packet.record(head, &[*body]).unwrap();
    }
    assert_eq!(packet.finish(Some(last)), out.len());
    let read = Read {
        last: Some(last),
        notices: vec![
            Notice::Clear,
            Notice::Leave(PlaceNumber(3)),
            Notice::Leave(PlaceNumber(300)),
            Notice::Gone(PlaceNumber(7), BlockNumber(0)),
            Notice::Gone(PlaceNumber(7), BlockNumber(900)),
        ],
        records: records.to_vec(),
    };
    (out, read)
}

#[test]
fn what_goes_in_comes_out() {
    let (bytes, expected) = full_packet();
    assert_eq!(read(&bytes), Ok(expected));
    let packet = PacketReader::new(Reader::new(&bytes)).unwrap();
    let near = Header {
        number: PacketNumber(0xfff0),
        send: SendIndex(0x4000_0000),
    };
    assert_eq!(packet.header(near), HEADER);
}

#[test]
fn a_packet_without_news_takes_six_bytes_and_its_sends_last_eight() {
    for (last, length) in [(None, 6), (Some(Last::default()), 8)] {
        let mut out = vec![0xaa];
        let packet = PacketWriter::new(HEADER, &Notices::default(), 8, &mut out).unwrap();
        assert_eq!(packet.finish(last), length);
        let expected = Read {
            last,
            ..Read::default()
        };
        assert_eq!(read(&out[1..]), Ok(expected));
    }
}

#[test]
fn a_records_head_takes_three_bytes_near_the_last_place() {
    let mut out = Vec::new();
    let mut packet = PacketWriter::new(HEADER, &Notices::default(), 100, &mut out).unwrap();
    let before = packet.room();
    packet.record(&record(63, Target::Place), &[]).unwrap();
    packet.record(&record(0, Target::Place), &[]).unwrap();
    assert_eq!(before - packet.room(), 6);
}

#[test]
fn what_does_not_fit_leaves_nothing_behind() {
    let notices = Notices {
        leaves: &[PlaceNumber(1)],
        ..Notices::default()
    };
    let mut out = vec![0xaa];
    for limit in 0..11 {
        let refused = PacketWriter::new(HEADER, &notices, limit, &mut out).map(|_| ());
        assert_eq!(refused, Err(Full), "{limit}");
        assert_eq!(out, [0xaa]);
    }
    let mut packet = PacketWriter::new(HEADER, &notices, 20, &mut out).unwrap();
    let head = record(1, Target::Place);
    assert_eq!(packet.record(&head, &[0; 7]), Err(Full));
    assert_eq!(packet.record(&head, &[5; 6]), Ok(()));
    assert_eq!(packet.finish(Some(Last::default())), 20);
    assert_eq!(out.len(), 21);
}

#[test]
fn no_prefix_is_taken_for_another_packet() {
    let (bytes, expected) = full_packet();
    for length in 0..bytes.len() {
        match read(&bytes[..length]) {
            // Records have no count: a packet may end after any of them.
            Ok(read) => assert!(expected.records.starts_with(&read.records), "{length}"),
            Err(error) => assert!(
                !matches!(error, DecodeError::Trailing { .. }),
                "{length}: {error}"
            ),
        }
    }
}

#[test]
fn flipped_bits_give_a_packet_or_an_error() {
    let (bytes, _) = full_packet();
    for at in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        // Whatever it is, what it announces is not more than its bytes hold.
        if let Ok(read) = read(&bytes) {
            assert!(read.notices.len() + read.records.len() < bytes.len());
        }
    }
}

#[test]
fn a_previous_version_without_an_older_age_is_refused() {
    for (baseline, previous) in [(0, 1), (2, 1), (2, 2)] {
        let mut head = record(1, Target::Place);
        head.ages = Ages { baseline, previous };
        let mut out = Vec::new();
        let mut packet = PacketWriter::new(HEADER, &Notices::default(), 100, &mut out).unwrap();
        packet.record(&head, &[0]).unwrap();
        packet.finish(None);
        let got = read(&out);
        assert!(
            matches!(got, Err(DecodeError::Forbidden { field: "head", .. })),
            "{got:?}"
        );
    }
}
