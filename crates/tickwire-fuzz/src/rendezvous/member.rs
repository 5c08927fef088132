//! A member against a server and another member who may say anything.

use tickwire_rendezvous::limits::{EVENTS_MAX, PAIRINGS_A_MEMBER, TRIES_MAX};
use tickwire_rendezvous::message::{Down, Refusal, RelayEnd};
use tickwire_rendezvous::probe::PROBE_LENGTH;
use tickwire_rendezvous::{Code, Member, Purpose, Register, stun, write_carried};
use tickwire_session::{Addr, Host, StreamId, Transmit};

use super::{KEY, candidates, code, probe, socket};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

const SERVER: Addr = peer(4);
const GATE: Addr = peer(5);

const BOUNDS: Bounds = Bounds {
    // Every pairing may answer and probe each of its addresses, and bind to a relay.
    transmits: PAIRINGS_A_MEMBER * (32 + 2 * TRIES_MAX) + 8,
    events: EVENTS_MAX,
    datagram: 100,
};

/// Plays a script of a server, another member, strangers and time.
///
/// # Panics
/// If the member breaks the contract of a session, sends what cannot be read, or sends to who was never named.
pub fn rendezvous_member(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let purpose = match script.u8() % 3 {
        0 => Purpose::Host(Register {
            protocol: "lwar".into(),
            name: "x".into(),
            is_public: true,
            players: 0,
            fingerprint: [1; 32],
            candidates: Vec::new(),
            claim: None,
        }),
        1 => Purpose::Join(Code::numbered(1)),
        _ => Purpose::List(String::new()),
    };
    let mut member = Member::new(now, socket(4), purpose, [9; 32]);
    member.set_local(socket(7));
    if script.u8() == 255 {
        member.use_relay_only();
    }
    member.connect(now, SERVER);
    let run = Run {
        driven: Driven::new(member, now, BOUNDS),
        streams: Vec::new(),
        question: None,
    };
    carry_out(script, run);
}

struct Run {
    driven: Driven<Member>,
    /// Those that were dialled.
    streams: Vec<StreamId>,
    /// The last STUN question.
    question: Option<Vec<u8>>,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=39 => {
                let mut bytes = Vec::new();
                down(script).encode(&mut bytes);
                self.say(script, &bytes);
            }
            40..=47 => {
                let mut bytes = Vec::new();
                let carried = match script.u8() % 3 {
                    0 => script.blob().to_vec(),
                    _ => probe(script, u32::from(choice & 3)),
                };
                let port = 4_000 + u16::from(script.u8());
                write_carried(port, &carried, &mut bytes).expect("it is short");
                self.say(script, &bytes);
            }
            48..=50 => self.say(script, script.clone().blob()),
            51..=79 => {
                let bytes = probe(script, u32::from(choice & 3));
                self.driven.datagram(peer(script.u8()), &bytes);
            }
            80..=87 => self.answer_stun(script),
            88..=91 => self.driven.datagram(peer(script.u8()), script.blob()),
            92..=107 => self.driven.wait(script),
            108..=121 => drop(self.driven.path(script)),
            122 => self.driven.session.carry(GATE),
            123 => {
                let now = self.driven.now();
                self.driven.session.connect(now, SERVER);
            }
            124 => self.driven.session.set_players(script.u16()),
            125 => {
                let to = socket(script.u8());
                self.driven.session.carry_packet(to, script.blob());
            }
            _ => drop(self.driven.session.poll_packet()),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            streams,
            question,
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert!(!matches!(to.host, Host::Link(_)));
                if stun::is_stun(bytes) {
                    assert_eq!(to, SERVER);
                    *question = Some(bytes.to_vec());
                } else {
                    assert_eq!(bytes.len(), PROBE_LENGTH);
                }
            }
            Seen::Transmit(Transmit::Dial { on, .. }, _) => streams.push(on),
            Seen::Transmit(..) | Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        assert!(self.driven.check_figures() <= PAIRINGS_A_MEMBER + 1);
    }
}

impl Run {
    /// The server says something on one of the streams, if it is open.
    fn say(&mut self, script: &mut Script<'_>, bytes: &[u8]) {
        let choice = script.u8();
        let nth = usize::from(choice >> 4) % self.streams.len().max(1);
        if let Some(&on) = self.streams.iter().rev().nth(nth)
            && self.driven.is_open(on)
        {
            self.driven.stream(on, bytes, usize::from(choice & 15));
        }
    }

    fn answer_stun(&mut self, script: &mut Script<'_>) {
        if let Some(question) = &self.question {
            let mut answer = Vec::new();
            stun::answer(question, socket(script.u8()), &mut answer);
            self.driven.datagram(SERVER, &answer);
        }
    }
}

fn down(script: &mut Script<'_>) -> Down {
    let choice = script.u8();
    let pairing = u32::from(choice >> 6);
    match choice % 9 {
        0 => Down::Registered {
            code: code(script, &[]),
            secret: [script.u8(); 16],
        },
        1 => Down::Refused {
            why: [Refusal::NoSession, Refusal::NoRelay][usize::from(script.u8() & 1)],
            pairing,
        },
        2 => Down::Knock {
            // Sometimes more than a host takes part in.
            pairing: pairing + u32::from(script.u8() & 1) * u32::from(script.u16()),
            key: KEY,
            candidates: candidates(script),
        },
        3 => Down::Admitted {
            pairing,
            key: KEY,
            candidates: candidates(script),
            fingerprint: [2; 32],
            protocol: "lwar".into(),
            name: script.text(48),
        },
        4 => Down::Relayed {
            pairing,
            port: script.u16(),
        },
        5 => Down::RelayEnded {
            pairing,
            why: [RelayEnd::Released, RelayEnd::Idle, RelayEnd::Spent]
                [usize::from(script.u8()) % 3],
        },
        6 => Down::Listed(Vec::new()),
        7 => Down::Candidates {
            pairing,
            candidates: candidates(script),
        },
        _ => Down::Alive,
    }
}
