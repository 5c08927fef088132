//! The other side of a session, as far as a script needs it: who it is, what it has heard, what it
//! says next.
//!
//! It hears everything it is sent, so it always knows the right number, acknowledgement and player;
//! the script decides when to use another.

use tickwire_dialects::lwar::limits::{APP_ID, RECEIVE_MAX};
use tickwire_dialects::lwar::message::{
    Body, Circle, Collision, Framed, Input, Kind, Place, PlayerScore, Ray, Record, Records,
    Reliable, Selection, Unreliable,
};
use tickwire_dialects::lwar::{
    self, EntityId, Header, History, Id, PlayerId, Point, Reader, Writer,
};
use tickwire_wire::FieldLog;

use crate::script::Script;

/// A peer of the session under test.
#[derive(Clone, Debug, Default)]
pub(super) struct Remote {
    /// The client's player.
    pub(super) player: PlayerId,
    /// Number of the last reliable message heard.
    pub(super) heard: u32,
    /// Number of the last own reliable message that was acknowledged.
    acknowledged: u32,
    clock: u32,
}

impl Remote {
    /// Takes a packet of the session, which must be in order.
    ///
    /// # Panics
    /// If the packet does not decode, or leaves out a message.
    pub(super) fn handle_packet(&mut self, bytes: &[u8]) {
        if let Err(error) = lwar::inspect(bytes, &mut FieldLog::default()) {
            panic!("it sent what nobody can read: {error}");
        }
        let mut r = Reader::new(bytes);
        let header = Header::decode(&mut r).expect("inspected above");
        self.acknowledged = header.ack;
        while !r.is_empty() {
            let framed = Framed::decode(&mut r).expect("inspected above");
            if let Framed::Reliable {
                seq,
                content: Ok(message),
            } = framed
            {
                self.handle_reliable(seq, &message);
            }
        }
    }

    fn handle_reliable(&mut self, seq: u32, message: &Reliable<'_>) {
        match *message {
            // The first Join tells a client who it is: another place, another count.
            Reliable::Join { player, .. } if seq == 1 && player != self.player => {
                (self.player, self.heard) = (player, 1);
            }
            // Said alone to somebody who wants to go, whatever came before.
            Reliable::Leave { player } if player == self.player => {}
            _ => assert!(
                seq <= self.heard.wrapping_add(1),
                "number {seq} after {}",
                self.heard
            ),
        }
        self.heard = self.heard.max(seq);
    }

    /// Writes a packet as the script wants it.
    pub(super) fn say(&mut self, script: &mut Script<'_>) -> Vec<u8> {
        let mode = script.u8();
        let ack = match mode & 3 {
            3 => script.u32(),
            _ => self.heard,
        };
        self.clock = match mode >> 2 & 3 {
            0 => self.clock,
            3 => script.u32(),
            _ => self.clock.wrapping_add(script.u8().into()),
        };
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out, RECEIVE_MAX);
        w.u32(APP_ID);
        w.u32(ack);
        w.u32(self.clock);
        let mut next = self.acknowledged.wrapping_add(1);
        for _ in 0..mode >> 4 & 7 {
            let choice = script.u8();
            let seq = match choice / 18 {
                0..=10 => {
                    next = next.wrapping_add(1);
                    next.wrapping_sub(1)
                }
                11 => next.wrapping_sub(1),
                12 => next.wrapping_add(1),
                _ => 1,
            };
            // What does not fit is not said.
            w.whole(|w| self.write_message(choice % 18, seq, script, w))
                .ok();
        }
        if mode & 0x80 != 0 {
            script.harm(&mut out, RECEIVE_MAX);
        }
        out
    }

    /// Writes packets full of new entities, far more of them than a script could spell out.
    pub(super) fn say_adds(&self, script: &mut Script<'_>) -> Vec<u8> {
        let (generation, first) = (script.u8().into(), script.u16());
        let mut out = Vec::new();
        let mut w = Writer::new(&mut out, RECEIVE_MAX);
        w.u32(APP_ID);
        w.u32(self.heard);
        w.u32(self.clock);
        let mut seq = self.acknowledged;
        loop {
            seq = seq.wrapping_add(1);
            let index = first.wrapping_add(u16::try_from(seq & 0xffff).unwrap_or_default());
            let add = Reliable::Add {
                entity: EntityId(Id { generation, index }),
                owner: PlayerId::SERVER,
                kind: Kind::PLANET,
            };
            if w.whole(|w| add.encode(seq, w)).is_err() {
                return out;
            }
        }
    }

    fn write_message(&self, kind: u8, seq: u32, script: &mut Script<'_>, w: &mut Writer<'_>) {
        match kind {
            0..=9 => self.write_reliable(kind, seq, script, w),
            _ => self.write_unreliable(kind, script, w),
        }
    }

    fn write_reliable(&self, kind: u8, seq: u32, script: &mut Script<'_>, w: &mut Writer<'_>) {
        let text;
        let message = match kind {
            0 => {
                text = script.text(40);
                Reliable::Connect { name: &text }
            }
            1 => Reliable::Disconnect,
            2 => {
                let player = self.player_id(script);
                text = script.text(40);
                Reliable::Join {
                    player,
                    name: &text,
                }
            }
            3 => Reliable::Leave {
                player: self.player_id(script),
            },
            4 => {
                let player = self.player_id(script);
                text = script.text(usize::MAX);
                Reliable::Chat {
                    player,
                    text: &text,
                }
            }
            5 => Reliable::Add {
                entity: entity_id(script),
                owner: self.player_id(script),
                kind: Kind(script.u8()),
            },
            6 => Reliable::Remove {
                entity: entity_id(script),
            },
            7 => Reliable::Selection {
                player: self.player_id(script),
                selection: selection(script),
            },
            8 => {
                let player = self.player_id(script);
                text = script.text(40);
                Reliable::Name {
                    player,
                    name: &text,
                }
            }
            _ => Reliable::Synced,
        };
        message.encode(seq, w);
    }

    fn write_unreliable(&self, kind: u8, script: &mut Script<'_>, w: &mut Writer<'_>) {
        let message = match kind {
            10 => Unreliable::Stats(records::<PlayerScore>(script)),
            11 => Unreliable::Full,
            12 => Unreliable::Collision(collision(script)),
            13 => Unreliable::Update(records::<Body>(script)),
            14 => Unreliable::UpdatePos(records::<Place>(script)),
            15 => Unreliable::UpdateRay(records::<Ray>(script)),
            16 => Unreliable::UpdateCircle(records::<Circle>(script)),
            _ => {
                let mut history = History::default();
                let player = self.player_id(script);
                let frame = script.u16().into();
                history.0[0] = script.u8();
                let aim = Point {
                    x: script.i16(),
                    y: script.i16(),
                };
                Unreliable::Input(Input {
                    player,
                    frame,
                    history,
                    aim,
                })
            }
        };
        message.encode(w);
    }

    /// Mostly the client's own player.
    fn player_id(&self, script: &mut Script<'_>) -> PlayerId {
        match script.u8() {
            0..=127 => self.player,
            choice => PlayerId(id(choice)),
        }
    }
}

pub(super) fn entity_id(script: &mut Script<'_>) -> EntityId {
    EntityId(id(script.u8()))
}

/// Few places and generations, so that they meet.
fn id(choice: u8) -> Id {
    Id {
        generation: u16::from(choice >> 4 & 1),
        index: u16::from(choice & 15),
    }
}

pub(super) fn selection(script: &mut Script<'_>) -> Selection {
    let mut kind = || Kind(script.u8());
    Selection {
        ship: kind(),
        weapons: [kind(), kind(), kind(), kind()],
    }
}

pub(super) fn collision(script: &mut Script<'_>) -> Collision {
    Collision {
        entities: [entity_id(script), entity_id(script)],
        x: script.i16(),
        y: script.i16(),
    }
}

fn records<'a, T: Record>(script: &mut Script<'a>) -> Records<'a, T> {
    let bytes = script.blob();
    Records::new(&bytes[..bytes.len() - bytes.len() % T::SIZE])
}
