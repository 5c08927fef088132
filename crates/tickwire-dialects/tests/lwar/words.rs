//! Messages, ids and packets in few words, for scripts and vectors.

use tickwire_dialects::lwar::message::{
    Body, Circle, Framed, Input, Place, PlayerScore, Ray, Record, Records, Reliable, Selection,
    Unreliable,
};
use tickwire_dialects::lwar::{
    EntityId, Header, History, Id, Kind, PlayerId, Point, Reader, Writer, limits,
};

pub(crate) const fn player(index: u16) -> PlayerId {
    PlayerId(id(index))
}

pub(crate) const fn entity(index: u16) -> EntityId {
    EntityId(id(index))
}

const fn id(index: u16) -> Id {
    Id {
        generation: 0,
        index,
    }
}

pub(crate) const fn connect(name: &str) -> Reliable<'_> {
    Reliable::Connect { name }
}

pub(crate) const fn join(player: PlayerId, name: &str) -> Reliable<'_> {
    Reliable::Join { player, name }
}

pub(crate) const fn leave(player: PlayerId) -> Reliable<'static> {
    Reliable::Leave { player }
}

pub(crate) const fn chat(player: PlayerId, text: &str) -> Reliable<'_> {
    Reliable::Chat { player, text }
}

pub(crate) const fn add(entity: EntityId, owner: PlayerId, kind: Kind) -> Reliable<'static> {
    Reliable::Add {
        entity,
        owner,
        kind,
    }
}

pub(crate) const fn remove(entity: EntityId) -> Reliable<'static> {
    Reliable::Remove { entity }
}

pub(crate) const fn rename(player: PlayerId, name: &str) -> Reliable<'_> {
    Reliable::Name { player, name }
}

pub(crate) const fn select(player: PlayerId, selection: Selection) -> Reliable<'static> {
    Reliable::Selection { player, selection }
}

/// What most players choose.
pub(crate) const GUNS: Selection = Selection {
    ship: Kind::SHIP,
    weapons: [Kind::GUN, Kind::PHASER, Kind::NONE, Kind::NONE],
};

/// An Input with the history of the forward button, everything else released.
pub(crate) const fn forward(player: PlayerId, frame: u32, history: u8) -> Unreliable<'static> {
    let mut bytes = [0; 10];
    bytes[0] = history;
    Unreliable::Input(Input {
        player,
        frame,
        history: History(bytes),
        aim: Point { x: 0, y: 0 },
    })
}

pub(crate) const fn body(entity: EntityId, x: i16) -> Body {
    Body {
        entity,
        x,
        y: 0,
        orientation: 0,
        health: 100,
    }
}

pub(crate) fn stats(scores: &[PlayerScore]) -> Unreliable<'static> {
    Unreliable::Stats(records(scores))
}

pub(crate) fn update(bodies: &[Body]) -> Unreliable<'static> {
    Unreliable::Update(records(bodies))
}

pub(crate) fn update_pos(places: &[Place]) -> Unreliable<'static> {
    Unreliable::UpdatePos(records(places))
}

pub(crate) fn update_ray(rays: &[Ray]) -> Unreliable<'static> {
    Unreliable::UpdateRay(records(rays))
}

pub(crate) fn update_circle(circles: &[Circle]) -> Unreliable<'static> {
    Unreliable::UpdateCircle(records(circles))
}

/// Records in wire form. They live as long as the test process, so that a message is a plain value.
fn records<T: Record>(records: &[T]) -> Records<'static, T> {
    let mut bytes = Vec::new();
    let mut w = Writer::new(&mut bytes, usize::MAX);
    records.iter().for_each(|record| record.encode(&mut w));
    Records::new(bytes.leak())
}

pub(crate) const fn reliable(seq: u32, message: Reliable<'_>) -> Framed<'_> {
    Framed::Reliable {
        seq,
        content: Ok(message),
    }
}

/// A datagram that holds these messages, however large.
pub(crate) fn datagram(header: Header, messages: &[Framed<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut w = Writer::new(&mut out, usize::MAX);
    w.u32(limits::APP_ID);
    w.u32(header.ack);
    w.u32(header.timestamp);
    messages.iter().for_each(|message| message.encode(&mut w));
    out
}

/// Header and messages of a datagram in which nothing is wrong.
pub(crate) fn decode(bytes: &[u8]) -> (Header, Vec<Framed<'_>>) {
    let mut r = Reader::new(bytes);
    let header = Header::decode(&mut r).expect("an lwar header");
    let mut messages = Vec::new();
    while !r.is_empty() {
        let framed = Framed::decode(&mut r).expect("a message whose end is known");
        if let Framed::Reliable { content, .. } = framed {
            content.expect("allowed content");
        }
        messages.push(framed);
    }
    (header, messages)
}
