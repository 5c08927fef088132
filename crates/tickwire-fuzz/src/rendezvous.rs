//! Rendezvous: STUN and messages however broken, and its sessions against peers who may say anything.

mod lobby;
mod member;
mod relay;

pub use lobby::rendezvous_lobby;
pub use member::rendezvous_member;
pub use relay::rendezvous_relay;

use std::net::{IpAddr, SocketAddr};

use tickwire_rendezvous::message::{Candidate, CandidateKind, Down, Up};
use tickwire_rendezvous::probe::{Key, Kind, Probe, Role};
use tickwire_rendezvous::{Code, read_carried, stun, write_carried};

use crate::driven::peer;
use crate::script::Script;

/// Reads a STUN message and answers it.
///
/// # Panics
/// If the answer is of another transaction, cannot be read, or says another address than the asker's.
pub fn rendezvous_stun(bytes: &[u8]) {
    let read = stun::Message::decode(bytes);
    if let Ok(message) = &read {
        assert!(stun::is_stun(bytes));
        for length in 0..bytes.len() {
            assert!(stun::Message::decode(&bytes[..length]).is_err());
        }
        assert!(message.unknown.len() <= 4);
    }
    for from in ["192.0.2.9:77", "[2001:db8::9]:77"] {
        let from: SocketAddr = from.parse().expect("it is one");
        let mut answer = Vec::new();
        let is_answered = stun::answer(bytes, from, &mut answer).is_some();
        let Ok(question) = &read else {
            assert!(!is_answered && answer.is_empty());
            continue;
        };
        assert_eq!(is_answered, question.class == stun::Class::Request);
        if is_answered {
            let answer = stun::Message::decode(&answer).expect("it sent what nobody can read");
            assert_eq!(answer.transaction, question.transaction);
            assert_eq!(answer.has_fingerprint, question.has_fingerprint);
            match question.unknown.is_empty() {
                true => assert_eq!(answer.mapped, Some(from)),
                false => assert_eq!(answer.error, Some(420)),
            }
        }
    }
}

/// Reads a control message of either side, a probe or a carried datagram, and writes it again.
///
/// # Panics
/// If what was read is not written as the same bytes.
pub fn rendezvous_messages(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    let mut written = Vec::new();
    match kind % 4 {
        0 => match Up::decode(bytes) {
            Ok(up) => up.encode(&mut written),
            Err(_) => return,
        },
        1 => match Down::decode(bytes) {
            Ok(down) => down.encode(&mut written),
            Err(_) => return,
        },
        2 => {
            let Ok(probe) = Probe::decode(bytes, &KEY) else {
                return;
            };
            probe.encode(&KEY, &mut written);
            assert_eq!(written, bytes);
            return;
        }
        _ => match read_carried(bytes) {
            Ok((port, datagram)) => {
                write_carried(port, datagram, &mut written).expect("it was read");
            }
            Err(_) => return,
        },
    }
    // Behind the length of the frame.
    assert_eq!(&written[2..], bytes);
}

/// What members of a script's pairings sign with.
const KEY: Key = [5; 16];

/// A probe with a right tag; the script may harm it.
fn probe(script: &mut Script<'_>, pairing: u32) -> Vec<u8> {
    let choice = script.u8();
    let kinds = [Kind::Probe, Kind::Answer, Kind::Bind, Kind::Bound];
    let probe = Probe {
        kind: kinds[usize::from(choice & 3)],
        role: match choice & 4 {
            0 => Role::Host,
            _ => Role::Joiner,
        },
        pairing,
        number: script.u8().into(),
    };
    let mut bytes = Vec::new();
    probe.encode(&KEY, &mut bytes);
    if choice >> 4 == 15 {
        let at = usize::from(script.u8()) % bytes.len();
        bytes[at] ^= 1;
    }
    bytes
}

fn candidates(script: &mut Script<'_>) -> Vec<Candidate> {
    let count = script.u8() % 5;
    let kinds = [
        CandidateKind::Local,
        CandidateKind::Public,
        CandidateKind::Mapped,
    ];
    (0..count)
        .map(|_| Candidate {
            kind: kinds[usize::from(script.u8()) % 3],
            addr: socket(script.u8()),
        })
        .collect()
}

/// The address of a peer, for what has no links.
fn socket(choice: u8) -> SocketAddr {
    let at = peer(choice);
    match at.host {
        tickwire_session::Host::Ip(ip) => (ip, at.port).into(),
        tickwire_session::Host::Link(_) => (IpAddr::from([192, 0, 2, 1]), at.port).into(),
    }
}

fn code(script: &mut Script<'_>, known: &[Code]) -> Code {
    let choice = script.u8();
    known
        .get(usize::from(choice))
        .copied()
        .unwrap_or_else(|| Code::numbered(choice.into()))
}
