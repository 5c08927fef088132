//! The server against members who may say anything, in any order.

use std::collections::BTreeMap;

use tickwire_rendezvous::limits::{CLIENTS_A_HOST, EVENTS_MAX, SESSIONS_A_HOST};
use tickwire_rendezvous::message::{Down, FrameReader, RelayEnd, Up};
use tickwire_rendezvous::{Code, Lobby, LobbyEvent, Register, stun};
use tickwire_session::{StreamId, Transmit};
use tickwire_wire::DecodeError;

use super::{candidates, code};
use crate::driven::{Bounds, Driven, PEERS, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

const BOUNDS: Bounds = Bounds {
    // A storm of questions, and every stream.
    transmits: 1_024,
    events: EVENTS_MAX,
    datagram: 1_200,
};

/// Plays a script of hosts, joiners, strangers, relays and time.
///
/// # Panics
/// If the server breaks the contract of a session, says what cannot be read, or keeps more of one address than it
/// may.
pub fn rendezvous_lobby(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let run = Run {
        driven: Driven::new(Lobby::new(now, [1; 32], [2; 32]), now, BOUNDS),
        streams: BTreeMap::new(),
        codes: Vec::new(),
        pairings: Vec::new(),
    };
    carry_out(script, run);
}

struct Run {
    driven: Driven<Lobby>,
    /// What each was told, as far as it is no whole message yet.
    streams: BTreeMap<StreamId, FrameReader>,
    codes: Vec<Code>,
    /// Those that want a relay.
    pairings: Vec<u32>,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=63 => {
                let mut bytes = Vec::new();
                self.up(script).encode(&mut bytes);
                self.say(script, &bytes);
            }
            64..=66 => self.say(script, script.clone().blob()),
            67..=72 => {
                let mut question = Vec::new();
                stun::write_request(&[script.u8(); 12], &mut question);
                self.driven.datagram(peer(script.u8()), &question);
            }
            73..=75 => self.driven.datagram(peer(script.u8()), script.blob()),
            76..=87 => self.driven.wait(script),
            88..=107 => drop(self.driven.path_among(&mut self.streams, script)),
            108..=113 => {
                let now = self.driven.now();
                while let Some((on, _)) = self.driven.session.poll_unnamed() {
                    let known = script.u8() != 255;
                    let ip = known.then(|| super::socket(script.u8()).ip());
                    self.driven.session.name(now, on, ip);
                }
            }
            _ => self.relay(script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            streams,
            codes,
            pairings,
        } = self;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Stream { on }, bytes) => {
                let frames = streams.entry(on).or_default();
                let read = frames.receive(bytes, |frame| {
                    if let Down::Registered { code, .. } = Down::decode(frame)? {
                        codes.push(code);
                    }
                    Ok::<_, DecodeError>(())
                });
                read.expect("it said what nobody can read");
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                streams.remove(&on);
            }
            Seen::Transmit(..) => {}
            Seen::Event(LobbyEvent::OpenRelay { pairing, .. }) => pairings.push(pairing),
            Seen::Event(LobbyEvent::CloseRelay { pairing }) => {
                pairings.retain(|&open| open != pairing);
            }
        });
    }

    fn check(&mut self) {
        let hosts = usize::from(PEERS);
        assert!(self.driven.session.sessions() <= hosts * SESSIONS_A_HOST);
        assert!(self.driven.check_figures() <= hosts * CLIENTS_A_HOST);
    }
}

impl Run {
    fn say(&mut self, script: &mut Script<'_>, bytes: &[u8]) {
        let choice = script.u8();
        let nth = usize::from(choice >> 4) % self.streams.len().max(1);
        if let Some(&on) = self.streams.keys().nth(nth)
            && self.driven.is_open(on)
        {
            self.driven.stream(on, bytes, usize::from(choice & 15));
        }
    }

    /// The embedder's part.
    fn relay(&mut self, script: &mut Script<'_>) {
        let choice = script.u8();
        let known = self.pairings.get(usize::from(choice >> 3)).copied();
        let pairing = known.unwrap_or_else(|| u32::from(choice >> 3));
        let lobby = &mut self.driven.session;
        match choice & 3 {
            0 | 1 => lobby.open_relay(pairing, script.u16()),
            2 => lobby.refuse_relay(pairing),
            _ => lobby.end_relay(pairing, RelayEnd::Idle),
        }
    }

    fn up(&self, script: &mut Script<'_>) -> Up {
        let choice = script.u8();
        let pairing = u32::from(choice >> 4);
        match choice % 9 {
            0 | 1 => Up::Register(Register {
                protocol: script.text(96),
                name: script.text(48),
                is_public: choice & 16 != 0,
                players: script.u16(),
                fingerprint: [script.u8() & 3; 32],
                candidates: candidates(script),
                claim: (choice & 32 != 0).then(|| (code(script, &self.codes), [script.u8(); 16])),
            }),
            2 => Up::Update {
                players: script.u16(),
                candidates: candidates(script),
            },
            3 | 4 => Up::Join {
                code: code(script, &self.codes),
                candidates: candidates(script),
            },
            5 => Up::WantRelay { pairing },
            6 => Up::ReleaseRelay { pairing },
            7 => Up::List {
                protocol: script.text(96),
            },
            _ => Up::Alive,
        }
    }
}
