//! The client against a server that may say anything, and a player who does anything.

use std::collections::BTreeSet;
use std::num::NonZeroU16;

use tickwire_dialects::reone::client_limits::EVENTS_WAITING;
use tickwire_dialects::reone::delta::Delta;
use tickwire_dialects::reone::limits::{DATAGRAM_MAX, RECEIVE_MAX};
use tickwire_dialects::reone::message::{
    Ballistics, Call, Compression, Down, DownElement, DownFrame, DownHeader, Invalid,
    InventoryDiff, Packet, Parameters, Refusal, Role, Status, Up, UpFrame, VariableDiff, Velocity,
    encode_frame,
};
use tickwire_dialects::reone::{
    AnyStatus, BASE, CallId, Client, ClientConfig, ClientEvent, ClientId, EventId, ModuleNumber,
    ObjectId, Phase, SnapshotSeq, Vec2, Vec3,
};
use tickwire_session::bulk::ContentHash;
use tickwire_session::tap::Input;
use tickwire_session::{Addr, Path, Session, StreamId, Token, Transmit};

use super::remote::{packet, read_frames, status, text};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of a server, strangers, time and a player.
///
/// # Panics
/// If the client breaks the contract of a session, sends what cannot be read, acknowledges a snapshot
/// that nobody sent, ends a call twice or never, or says anything after its end.
pub fn reone_client_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let config = ClientConfig::new(SERVER, "ann").expect("a good name");
    let mut run = Run {
        driven: Driven::new(Client::new(now, config), now, BOUNDS),
        stream: None,
        unread: Vec::new(),
        wanted: Vec::new(),
        sent: BTreeSet::new(),
        asked: BTreeSet::new(),
        has_ended: false,
    };
    run.drain();
    carry_out(script, run);
}

const SERVER: Addr = peer(1);

const BOUNDS: Bounds = Bounds {
    transmits: 1 << 16,
    // The last datagram taken may say more than one thing, and calls end however many wait.
    events: EVENTS_WAITING + 1_024,
    datagram: DATAGRAM_MAX,
};

struct Run {
    driven: Driven<Client>,
    stream: Option<StreamId>,
    unread: Vec<u8>,
    /// What the client wants to load.
    wanted: Vec<(String, u64)>,
    /// Snapshots of which anything was said.
    sent: BTreeSet<SnapshotSeq>,
    asked: BTreeSet<CallId>,
    has_ended: bool,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        match choice & 0x7f {
            0..=39 => self.say(SERVER, script),
            40 => self.say(peer(0), script),
            41..=45 => self.datagram(SERVER, script.blob()),
            46..=63 => self.driven.wait(script),
            64..=75 => self.path(script),
            76..=83 => self.serve(script),
            84..=99 => self.write(script),
            other => self.play(other, script),
        }
    }

    fn drain(&mut self) {
        let Self {
            driven,
            stream,
            unread,
            wanted,
            sent,
            asked,
            has_ended,
        } = self;
        let was_over = *has_ended;
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert_eq!((to, was_over), (SERVER, false));
                let packet = Packet::<Up>::decode(bytes).expect("it is readable");
                let held = packet.header.acknowledged;
                assert!(
                    held == SnapshotSeq::NONE || sent.contains(&held),
                    "{held} was not sent"
                );
            }
            Seen::Transmit(Transmit::Stream { .. }, bytes) => {
                unread.extend_from_slice(bytes);
                read_frames::<Up>(unread, |frame| {
                    if let UpFrame::Fetch { name, offset } = frame {
                        wanted.push((name.as_str().to_owned(), *offset));
                    }
                });
            }
            Seen::Transmit(Transmit::Finish { on } | Transmit::Abort { on }, _) => {
                if *stream == Some(on) {
                    *stream = None;
                }
            }
            Seen::Transmit(Transmit::Dial { to, .. }, _) => {
                assert_eq!(to, SERVER);
                unread.clear();
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(event) => {
                assert!(!*has_ended, "{event:?} after the end");
                match event {
                    ClientEvent::CallEnded { id, .. } => {
                        assert!(asked.remove(&id), "it ended twice")
                    }
                    ClientEvent::Ended(_) => {
                        assert!(asked.is_empty(), "a call never ended");
                        *has_ended = true;
                    }
                    _ => {}
                }
            }
        });
    }

    fn check(&mut self) {
        let is_over = matches!(self.driven.session.phase(), Phase::Ended(_));
        self.driven.check_sleep(is_over);
        assert!(self.driven.check_figures() <= 1);
    }
}

impl Run {
    /// The server says pieces of snapshots, few of them so that they meet, or something else.
    fn say(&mut self, from: Addr, script: &mut Script<'_>) {
        let mode = script.u8();
        // Ticks grow with sequences, as a good server's do, except now and then; control is of any time.
        let (sequence, tick) = match mode & 3 {
            0 => (0, u32::from(mode >> 5)),
            _ => {
                let choice = script.u8();
                let sequence = u32::from(choice & 31) + 1;
                let tick = match choice >> 5 {
                    7 => u32::from(mode).wrapping_sub(0x40),
                    _ => sequence * 3,
                };
                (sequence, tick)
            }
        };
        let sequence = SnapshotSeq(sequence);
        let behind = u32::from(mode >> 2 & 7);
        let header = DownHeader {
            sequence,
            acknowledged: match behind {
                0 => SnapshotSeq::NONE,
                behind => SnapshotSeq(sequence.0.saturating_sub(behind)),
            },
            tick,
        };
        let mut elements: Vec<_> = (0..script.u8() & 7)
            .map(|_| element(sequence, script))
            .collect();
        if sequence != SnapshotSeq::NONE && mode & 0x20 != 0 {
            let datagrams = 1 + (mode >> 6);
            elements.push(DownElement::Last { datagrams });
        }
        let mut datagram = packet::<Down>(&header, &elements);
        script.harm_seldom(&mut datagram, RECEIVE_MAX);
        self.datagram(from, &datagram);
    }

    fn datagram(&mut self, from: Addr, bytes: &[u8]) {
        let mut scratch = Vec::new();
        if let Ok(packet) = Packet::<Down>::decode(bytes) {
            self.sent.insert(packet.header.sequence);
        }
        if let Ok(packet) = Packet::<Down>::decode_coded(bytes, &mut scratch) {
            self.sent.insert(packet.header.sequence);
        }
        self.driven.datagram(from, bytes);
    }

    /// The server does what is expected next: it welcomes, and sends what is wanted.
    fn serve(&mut self, script: &mut Script<'_>) {
        let base = DownElement::CreatureFull {
            id: ObjectId(1),
            status: tickwire_dialects::reone::CreatureStatus::default(),
        };
        let base = packet::<Down>(&DownHeader::unsequenced(0), &[base]);
        let listed = format!("{} {} {BASE}\n", ContentHash::of(&base), base.len());
        let Some((name, offset)) = self.wanted.pop() else {
            self.write_frame(&welcome(script), script);
            return;
        };
        let content = if name == BASE {
            &base
        } else {
            listed.as_bytes()
        };
        let total = content.len() as u64;
        let rest = content
            .get(usize::try_from(offset).unwrap_or(usize::MAX)..)
            .unwrap_or_default();
        let name = text(&name);
        for (offset, piece) in [(offset, rest), (total, &[][..])] {
            let frame = DownFrame::Resource {
                name,
                total,
                offset,
                piece,
            };
            self.write_frame(&frame, script);
        }
        if self.wanted.is_empty() && script.u8() & 1 == 0 {
            let parameters = parameters(script.u8());
            let bytes = packet::<Down>(
                &DownHeader::unsequenced(0),
                &[DownElement::Parameters(parameters)],
            );
            self.drain();
            self.datagram(SERVER, &bytes);
        }
    }

    /// The server writes any frame.
    fn write(&mut self, script: &mut Script<'_>) {
        let choice = script.u8();
        let name = script.text(20);
        let frame = match choice & 7 {
            0 => welcome(script),
            1 => DownFrame::Refused {
                reason: Refusal(choice >> 3),
                text: text(&name).into(),
            },
            2 | 3 => DownFrame::Resource {
                name: text(["manifest", "base", &name][usize::from(choice >> 3) % 3]),
                total: script.u8().into(),
                offset: script.u8().into(),
                piece: script.blob(),
            },
            4..=6 => DownFrame::Result {
                id: CallId(u32::from(choice >> 3)),
                status: [
                    Status::Ok,
                    Status::UnknownMethod,
                    Status::BadArgument,
                    Status::Refused,
                ][usize::from(choice & 3)],
                answer: script.blob(),
            },
            _ => DownFrame::ModuleChanged {
                module: ModuleNumber(u32::from(choice >> 6)),
                name: text(&name),
            },
        };
        self.write_frame(&frame, script);
    }

    fn write_frame(&mut self, frame: &DownFrame<'_>, script: &mut Script<'_>) {
        let Some(on) = self.stream else {
            return;
        };
        let mut bytes = Vec::new();
        encode_frame::<Down>(frame, &mut bytes).ok();
        script.harm_seldom(&mut bytes, RECEIVE_MAX);
        let now = self.driven.now();
        self.driven.session.handle_stream(now, on, &bytes);
    }

    fn path(&mut self, script: &mut Script<'_>) {
        match self.driven.path(script) {
            Some(Input::Opened { on, .. }) => {
                self.stream = matches!(on, StreamId::Dialled(_)).then_some(on);
                self.unread.clear();
                self.wanted.clear();
            }
            Some(Input::Closed {
                path: Path::Stream(on),
                ..
            }) if self.stream == Some(on) => {
                self.stream = None;
            }
            _ => {}
        }
    }

    fn play(&mut self, choice: u8, script: &mut Script<'_>) {
        let now = self.driven.now();
        let client = &mut self.driven.session;
        match choice {
            100..=105 => drop(client.send_event(choice, script.blob())),
            106 | 107 => drop(client.send_unreliable(choice, script.blob())),
            108..=113 => {
                let name = script.text(20);
                let call = match choice & 1 {
                    0 => Call::Global(text(&name)),
                    _ => Call::Inventory(ObjectId(1)),
                };
                if let Ok(id) = client.ask(now, call) {
                    assert!(self.asked.insert(id), "the number is in use");
                }
            }
            114 => {
                if let Ok(id) = client.call(now, text("own"), script.blob()) {
                    assert!(self.asked.insert(id), "the number is in use");
                }
            }
            115 if script.u8() > 0xf0 => client.disconnect(),
            _ => {
                if let Some(newest) = client.newest() {
                    let scopes = newest.scopes().filter(|(_, state)| state.is_empty());
                    assert_eq!(scopes.count(), 0, "what is empty is gone");
                }
                if let Some(view) = client.sample(now) {
                    assert!(view.objects().all(|(id, _)| view.object(id).is_some()));
                }
                client.shots(now).for_each(drop);
                client.end_shots(|_| choice & 1 == 0);
            }
        }
    }
}

fn welcome(script: &mut Script<'_>) -> DownFrame<'static> {
    let choice = script.u8();
    DownFrame::Welcome {
        client: ClientId(choice.into()),
        token: Token(choice.into()),
        module: ModuleNumber(u32::from(choice & 3)),
        name: text("a"),
    }
}

fn parameters(choice: u8) -> Parameters {
    Parameters {
        tick_rate: NonZeroU16::new(u16::from(choice >> 4)).unwrap_or(NonZeroU16::MIN),
        lerp_ms: 100,
        role: if choice & 4 == 0 {
            Role::Player
        } else {
            Role::Spectator
        },
        own: ObjectId(u32::from(choice >> 4)),
        module: ModuleNumber(u32::from(choice & 3)),
        compression: if choice & 8 == 0 {
            Compression::None
        } else {
            Compression::Huffman
        },
    }
}

fn element(sequence: SnapshotSeq, script: &mut Script<'_>) -> DownElement<'static> {
    let choice = script.u8();
    let id = ObjectId(u32::from(choice >> 5));
    if sequence == SnapshotSeq::NONE && choice & 4 == 0 {
        return match choice & 3 {
            0 | 1 => DownElement::Parameters(parameters(script.u8())),
            2 => DownElement::EventAck(EventId(script.u8().into())),
            _ => DownElement::Invalid(
                [Invalid::SameModule, Invalid::NewModule, Invalid::Unknown]
                    [usize::from(choice >> 3) % 3],
            ),
        };
    }
    match (choice & 7, status(choice >> 3, script)) {
        (0, _) => DownElement::EventAck(EventId(script.u8().into())),
        (1, _) => DownElement::Ballistics(Ballistics {
            kind: choice,
            origin: Vec3::ZERO,
            at: SnapshotSeq(script.u8().into()),
            owner: id,
            heading: 0.0,
        }),
        (2, _) if sequence != SnapshotSeq::NONE => match script.u8() & 7 {
            0 => DownElement::Velocity(Velocity {
                id,
                velocity: Vec2::default(),
            }),
            1 => DownElement::InventoryDiff(InventoryDiff {
                owner: id,
                slot: script.u8() & 3,
                item: NonZeroU16::new((script.u8() & 3).into()).map(|count| (count, text("a"))),
            }),
            2 => DownElement::VariableDiff(VariableDiff {
                scope: id,
                name: text(["a", "b"][usize::from(script.u8() & 1)]),
                value: (script.u8() & 1).into(),
            }),
            _ => DownElement::KeepAlive { id },
        },
        (_, AnyStatus::Creature(status)) => match choice & 1 {
            0 => DownElement::CreatureFull { id, status },
            _ => DownElement::CreatureDiff {
                id,
                delta: Delta::of(1 << (choice >> 5), &status),
            },
        },
        (_, AnyStatus::Spatial(status)) => DownElement::SpatialFull { id, status },
    }
}
