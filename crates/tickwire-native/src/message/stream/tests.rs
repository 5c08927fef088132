use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::message::FrameReader;
use crate::ticket::Tickets;

fn ups() -> Vec<Up<'static>> {
    let ticket = Tickets::new(&[7; 32]).next();
    let hello = Hello {
        version: 1,
        schema: 0x0123_4567_89ab_cdef,
        role: Role::Spectator,
        name: "Ada",
        resume: None,
    };
    let resume = Some(Resume {
        ticket,
        received: 9,
    });
    vec![
        Up::Hello(hello.clone()),
        Up::Hello(Hello { resume, ..hello }),
        Up::Say(b"hello"),
        Up::Ask {
            number: 300,
            body: b"may I?",
        },
        Up::Fetch {
            name: "map",
            offset: 1 << 40,
        },
        Up::Leave,
        Up::Received(8),
        Up::Datagram(b"datagram"),
    ]
}

fn downs() -> Vec<Down<'static>> {
    let welcome = Welcome {
        player: 7,
        token: Token(8),
        ticket: Tickets::new(&[7; 32]).next(),
        tick: 900,
        hz: 60,
        ticks_a_send: 3,
        resumed: None,
    };
    vec![
        Down::Welcome(welcome),
        Down::Welcome(Welcome {
            resumed: Some(4),
            ..welcome
        }),
        Down::End {
            reason: EndReason::Kicked,
            words: "be nice",
        },
        Down::Say(b""),
        Down::Answer {
            number: 300,
            status: Status::Refused,
            body: b"",
        },
        Down::Event {
            tick: 901,
            body: b"bang",
        },
        Down::Owned(12),
        Down::Piece {
            name: "map",
            piece: Piece {
                of: 10,
                offset: 4,
                bytes: b"dragon",
            },
        },
        Down::NoSuch { name: "mapp" },
        Down::Received(2),
        Down::Datagram(b"datagram"),
    ]
}

/// Reads the one frame in `bytes`.
fn read(bytes: &[u8]) -> (u8, Vec<u8>) {
    let mut frame = None;
    FrameReader::default()
        .receive(bytes, |kind, body| {
            frame = Some((kind, body.to_vec()));
            Ok::<_, DecodeError>(())
        })
        .unwrap();
    frame.expect("a whole frame")
}

#[test]
fn every_frame_survives() {
    for up in ups() {
        let mut out = Vec::new();
        up.encode(&mut out);
        let (kind, body) = read(&out);
        assert_eq!(Up::decode(kind, &body), Ok(up));
    }
    for down in downs() {
        let mut out = Vec::new();
        down.encode(&mut out);
        let (kind, body) = read(&out);
        assert_eq!(Down::decode(kind, &body), Ok(down));
    }
}

#[test]
fn a_clock_that_stands_still_or_races_is_refused() {
    let mut out = Vec::new();
    for down in downs().iter().take(1) {
        down.encode(&mut out);
    }
    let (kind, mut body) = read(&out);
    let hz_at = body.len() - 3;
    for (hz, is_taken) in [(0, false), (1, true), (HZ_MAX, true), (HZ_MAX + 1, false)] {
        body.splice(hz_at..hz_at + 2, hz.to_le_bytes());
        assert_eq!(Down::decode(kind, &body).is_ok(), is_taken, "{hz}");
    }
}

proptest! {
    #[test]
    fn any_body_is_a_frame_or_an_error(kind in 0..12_u8, body in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(up) = Up::decode(kind, &body) {
            let mut out = Vec::new();
            up.encode(&mut out);
            prop_assert_eq!(read(&out), (kind, body.clone()), "a frame has one form");
        }
        Down::decode(kind, &body).ok();
    }
}
