use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::Host;
use crate::echo::{DatagramEcho, StreamEcho};

const PEER: Addr = Addr {
    host: Host::Ip(IpAddr::V4(Ipv4Addr::LOCALHOST)),
    port: 4_000,
};

fn drain(session: &mut dyn Session, now: Instant) {
    let mut out = Vec::new();
    while session.poll_transmit(now, &mut out).is_some() {}
}

/// Everything a session can be told, once.
fn exercise(session: &mut dyn Session) {
    let ms = Instant::from_millis;
    let link = Addr {
        host: Host::Link(9),
        port: 0,
    };
    let on = StreamId::Accepted(3);
    session.handle_opened(ms(1), on, link);
    session.handle_room(
        ms(1),
        Path::Stream(on),
        Room {
            bytes: 3,
            largest: 0,
        },
    );
    session.handle_stream(ms(2), on, b"hello");
    drain(session, ms(2));
    session.handle_room(
        ms(3),
        Path::Stream(on),
        Room {
            bytes: 100,
            largest: 0,
        },
    );
    drain(session, ms(3));
    session.handle_datagram(ms(4), PEER, b"?ping");
    drain(session, ms(4));
    session.handle_room(ms(4), Path::Datagrams(PEER), Room::DATAGRAMS);
    session.handle_timeout(ms(5));
    session.handle_closed(ms(6), Path::Stream(on), Ended::Reset);
    session.handle_closed(ms(6), Path::Datagrams(PEER), Ended::Refused);
    session.handle_closed(ms(6), Path::Link(9), Ended::Finished);
}

#[test]
fn a_recording_reads_back_as_the_calls_that_were_made() {
    let mut file = Vec::new();
    let mut tap = Tap::new(
        StreamEcho::default(),
        Recorder::new(|b| file.extend_from_slice(b)),
    );
    exercise(&mut tap);
    let dialled = tap.session.dial(PEER);
    tap.session.finish(dialled);
    drain(&mut tap, Instant::from_millis(7));
    drop(tap);

    let records: Vec<_> = Recording::new(&file)
        .unwrap()
        .collect::<Result<_, _>>()
        .expect("every record reads");
    let inputs = records
        .iter()
        .filter(|(_, r)| matches!(r, Record::Input(_)))
        .count();
    assert_eq!(inputs, 10);
    let on = StreamId::Accepted(3);
    let outputs: Vec<_> = records
        .iter()
        .filter_map(|&(now, record)| match record {
            Record::Output(transmit, bytes) => Some((now.as_millis(), transmit, bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(
        outputs,
        [
            (2, Transmit::Stream { on }, &b"hel"[..]),
            (3, Transmit::Stream { on }, b"lo"),
            (
                7,
                Transmit::Dial {
                    on: dialled,
                    to: PEER
                },
                b""
            ),
            (7, Transmit::Finish { on: dialled }, b""),
        ]
    );
}

#[test]
fn orders_that_the_echoes_never_give_are_recorded_as_well() {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|b: &[u8]| file.extend_from_slice(b));
    let on = StreamId::Dialled(1);
    let orders = [
        (Transmit::Segments { to: PEER, size: 2 }, &b"abcde"[..]),
        (Transmit::Unlink { link: 7 }, b""),
        (Transmit::Abort { on }, b""),
    ];
    for (transmit, bytes) in orders {
        recorder.output(Instant::ZERO, transmit, bytes);
    }
    let records = Recording::new(&file)
        .unwrap()
        .map(|record| record.unwrap().1);
    let expected = orders.map(|(transmit, bytes)| Record::Output(transmit, bytes));
    assert!(records.eq(expected));
}

#[test]
fn replaying_a_recording_gives_the_recorded_output() {
    let mut file = Vec::new();
    let recorder = Recorder::new(|b| file.extend_from_slice(b));
    exercise(&mut Tap::new(DatagramEcho::default(), recorder));

    let mut again = DatagramEcho::default();
    let mut compared = 0;
    for record in Recording::new(&file).unwrap() {
        match record.unwrap() {
            (now, Record::Input(input)) => input.apply_to(&mut again, now),
            (now, Record::Output(transmit, bytes)) => {
                let mut out = Vec::new();
                assert_eq!(again.poll_transmit(now, &mut out), Some(transmit));
                assert_eq!(out, bytes);
                compared += 1;
            }
            other => panic!("nobody said {other:?}"),
        }
    }
    assert_eq!(compared, 1);
}

#[test]
fn a_recording_cut_anywhere_reads_up_to_the_last_whole_record() {
    let mut file = Vec::new();
    let recorder = Recorder::new(|b| file.extend_from_slice(b));
    exercise(&mut Tap::new(StreamEcho::default(), recorder));
    let whole: Vec<_> = Recording::new(&file).unwrap().map(Result::unwrap).collect();
    for cut in Recording::MAGIC.len()..file.len() {
        let read: Vec<_> = Recording::new(&file[..cut])
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(read, whole[..read.len()]);
        assert!(read.len() < whole.len());
    }
    assert_eq!(Recording::new(&file[..7]).err(), Some(BadRecording));
}

#[test]
fn what_is_said_around_the_calls_reads_back() {
    let mut file = Vec::new();
    let mut recorder = Recorder::new(|b: &[u8]| file.extend_from_slice(b));
    let ms = Instant::from_millis;
    let about = About {
        side: Recorded::Server,
        peer: PEER,
        protocol: "native",
        words: b"Ada",
    };
    recorder.about(ms(1), &about);
    recorder.game(ms(2), b"act");
    recorder.mark(ms(3));
    recorder.finish(ms(4));
    drop(recorder);

    let records = Recording::new(&file).unwrap();
    let records: Vec<_> = records.map(|record| record.unwrap().1).collect();
    let [
        Record::About(read),
        Record::Game(b"act"),
        Record::Mark,
        Record::Index(index),
        Record::End { index: at },
    ] = records[..]
    else {
        panic!("{records:?}");
    };
    assert_eq!(read, about);
    let (time, mark) = Index::decode(index).unwrap().before(ms(9)).unwrap();
    assert_eq!(time, ms(3));
    // Both name the byte at which a record begins.
    let record_at = |at: u64| {
        let rest = [Recording::MAGIC, &file[usize::try_from(at).unwrap()..]].concat();
        let kind = Recording::new(&rest)
            .unwrap()
            .next()
            .unwrap()
            .map(|it| it.0);
        kind.unwrap()
    };
    assert_eq!((record_at(mark), record_at(at)), (ms(3), ms(4)));
    let end = file.len() - Recording::END;
    assert_eq!(record_at(end as u64), ms(4));
}
