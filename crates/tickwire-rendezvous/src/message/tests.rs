use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::code::Code;

fn candidates() -> Vec<Candidate> {
    [
        (CandidateKind::Local, "192.168.1.7:4000"),
        (CandidateKind::Mapped, "203.0.113.9:61000"),
        (CandidateKind::Public, "[2001:db8::7]:4000"),
    ]
    .map(|(kind, addr)| Candidate {
        kind,
        addr: addr.parse().unwrap(),
    })
    .to_vec()
}

fn ups() -> Vec<Up> {
    let register = Register {
        protocol: "lwar,reone".into(),
        name: "Ada’s arena".into(),
        is_public: true,
        players: 3,
        fingerprint: [7; 32],
        candidates: candidates(),
        claim: None,
    };
    let claim = Some((Code::numbered(5), [6; 16]));
    vec![
        Up::Register(register.clone()),
        Up::Register(Register { claim, ..register }),
        Up::Update {
            players: 9,
            candidates: candidates(),
        },
        Up::Join {
            code: Code::numbered(99),
            candidates: Vec::new(),
        },
        Up::WantRelay { pairing: 8 },
        Up::ReleaseRelay { pairing: 9 },
        Up::List {
            protocol: "lwar".into(),
        },
        Up::Alive,
    ]
}

fn downs() -> Vec<Down> {
    let listing = Listing {
        code: Code::numbered(1),
        protocol: "lwar".into(),
        name: "open to all".into(),
        players: 2,
    };
    let admitted = Down::Admitted {
        pairing: 4,
        key: [3; 16],
        candidates: candidates(),
        fingerprint: [2; 32],
        protocol: "lwar".into(),
        name: "Ada’s arena".into(),
    };
    let mut downs = vec![
        Down::Registered {
            code: Code::numbered(77),
            secret: [1; 16],
        },
        Down::Knock {
            pairing: 4,
            key: [3; 16],
            candidates: candidates(),
        },
        admitted,
        Down::Relayed {
            pairing: 4,
            port: 40_001,
        },
        Down::Listed(vec![listing; 2]),
        Down::Alive,
        Down::Candidates {
            pairing: 4,
            candidates: candidates(),
        },
    ];
    for why in [
        Refusal::NoSession,
        Refusal::TooManyTries,
        Refusal::Full,
        Refusal::TooFast,
    ] {
        downs.push(Down::Refused { why, pairing: 0 });
    }
    for why in [Refusal::NoRelay, Refusal::Ending] {
        downs.push(Down::Refused { why, pairing: 7 });
    }
    for why in [RelayEnd::Released, RelayEnd::Idle, RelayEnd::Spent] {
        downs.push(Down::RelayEnded { pairing: 7, why });
    }
    downs
}

#[track_caller]
fn check<T: PartialEq + core::fmt::Debug>(
    message: &T,
    encode: impl Fn(&T, &mut Vec<u8>),
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
) {
    let mut bytes = Vec::new();
    encode(message, &mut bytes);
    let mut read = Vec::new();
    FrameReader::default()
        .receive(&bytes, |frame| {
            read.push(decode(frame)?);
            Ok::<_, DecodeError>(())
        })
        .unwrap();
    assert_eq!(
        read,
        [message].map(|message| decode_again(message, &encode, &decode))
    );
    assert_eq!(&read[0], message);
    for length in 0..bytes.len() - 2 {
        assert!(
            decode(&bytes[2..2 + length]).is_err(),
            "{message:?} cut to {length}"
        );
    }
    let mut longer = bytes[2..].to_vec();
    longer.push(0);
    assert!(decode(&longer).is_err(), "{message:?} with a byte more");
}

fn decode_again<T>(
    message: &T,
    encode: &impl Fn(&T, &mut Vec<u8>),
    decode: &impl Fn(&[u8]) -> Result<T, DecodeError>,
) -> T {
    let mut bytes = Vec::new();
    encode(message, &mut bytes);
    decode(&bytes[2..]).unwrap()
}

#[test]
fn every_message_is_read_as_it_was_written() {
    ups()
        .iter()
        .for_each(|up| check(up, Up::encode, Up::decode));
    downs()
        .iter()
        .for_each(|down| check(down, Down::encode, Down::decode));
}

#[test]
fn nobody_is_asked_to_send_to_everybody() {
    for addr in [
        "255.255.255.255:9",
        "224.0.0.1:9",
        "0.0.0.0:9",
        "[ff02::1]:9",
        "10.0.0.1:0",
    ] {
        let kind = CandidateKind::Local;
        let addr = addr.parse().unwrap();
        let up = Up::Update {
            players: 0,
            candidates: vec![Candidate { kind, addr }],
        };
        let mut bytes = Vec::new();
        up.encode(&mut bytes);
        assert!(Up::decode(&bytes[2..]).is_err(), "{addr}");
    }
}

#[test]
fn frames_are_whole_wherever_the_bytes_are_cut() {
    let mut bytes = Vec::new();
    ups().iter().for_each(|up| up.encode(&mut bytes));
    for cut in 0..bytes.len() {
        let mut reader = FrameReader::default();
        let mut read = Vec::new();
        for part in [&bytes[..cut], &bytes[cut..]] {
            let handled = reader.receive(part, |frame| {
                read.push(Up::decode(frame)?);
                Ok::<_, DecodeError>(())
            });
            handled.unwrap();
        }
        assert_eq!(read, ups(), "cut at {cut}");
    }
}

#[test]
fn a_frame_beyond_the_bound_is_refused_before_it_arrives() {
    let length = u16::try_from(FRAME_MAX + 1).unwrap();
    let read = FrameReader::default().receive(&length.to_le_bytes(), |_| Ok(()));
    assert!(matches!(
        read,
        Err(DecodeError::TooLong {
            field: "length",
            ..
        })
    ));
}

proptest! {
    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        Up::decode(&bytes).ok();
        Down::decode(&bytes).ok();
    }
}
