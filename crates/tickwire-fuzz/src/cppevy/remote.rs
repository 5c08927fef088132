//! The other side of a session, as far as a script needs it: what it says next, and whether what it
//! hears can be read.

use tickwire_dialects::cppevy::limits::{PAYLOAD_MAX, PIECE_MAX};
use tickwire_dialects::cppevy::message::{
    AssetRequest, Data, Join, Joined, Object, Offer, Payload, PayloadWriter, Piece, Sender, Summon,
};
use tickwire_dialects::cppevy::{
    ActionId, Archetype, Delivery, EventId, Reason, Registry, StateId, SyncId, Writer,
};
use tickwire_session::bulk::ContentHash;
use tickwire_session::{Belief, Token};

use crate::script::Script;

/// The game's actions: one by UDP, two by TCP, one that is disabled.
pub(super) const ACTIONS: [ActionId; 4] = [ActionId(1), ActionId(2), ActionId(3), ActionId(4)];
/// The game's events: one by UDP, one by TCP.
pub(super) const EVENTS: [EventId; 2] = [EventId(0x100), EventId(0x101)];

/// What clients offer: two pieces.
pub(super) const SKIN: [u8; 300] = [5; 300];

pub(super) fn registry() -> Registry {
    let [input, confirmed, assumed, disabled] = ACTIONS;
    let [instant, assured] = EVENTS;
    Registry::new()
        .with_action(input, Delivery::Instant, Belief::Assumed)
        .with_action(confirmed, Delivery::Assured, Belief::Confirmed)
        .with_action(assumed, Delivery::Assured, Belief::Assumed)
        .with_disabled_action(disabled)
        .with_event(instant, Delivery::Instant)
        .with_event(assured, Delivery::Assured)
}

/// A payload as the script wants it.
pub(super) fn say(sender: Sender, token: Token, script: &mut Script<'_>) -> Vec<u8> {
    let mode = script.u8();
    let timestamp = match mode & 1 {
        0 => script.u16().into(),
        _ => script.u32(),
    };
    let mut out = Vec::new();
    let mut payload = PayloadWriter::new(&mut out, timestamp);
    for _ in 0..mode >> 1 & 7 {
        match sender {
            Sender::Client => push_of_client(&mut payload, token, script),
            Sender::Server => push_of_server(&mut payload, token, script),
        }
    }
    // One object again and again, to the last byte.
    if mode & 0x10 != 0 {
        let action = ActionId(0xff00 | u16::from(script.u8() & 7));
        let object = match sender {
            Sender::Client => Object::Action {
                action,
                data: Data::EMPTY,
            },
            Sender::Server => Object::Success {
                action,
                message: Data::EMPTY,
            },
        };
        while payload.push(&object).is_ok() {}
    }
    payload.finish();
    if mode & 0x80 != 0 {
        script.harm(&mut out, PAYLOAD_MAX);
    }
    out
}

/// What does not fit is not said.
fn push_of_client(payload: &mut PayloadWriter<'_>, token: Token, script: &mut Script<'_>) {
    let choice = script.u8();
    let data = match choice & 15 {
        0 | 1 => {
            let name = &script.text(40);
            return push_action(payload, ActionId::JOIN, |w| Join { name }.encode(w));
        }
        2 | 3 => return push_action(payload, ActionId::ATTACH, |w| w.u64(token.0)),
        4 if choice & 0x10 != 0 => {
            let (size, hash, name) = (300, ContentHash::of(&SKIN), "skin");
            let offer = Offer { size, hash, name };
            return push_action(payload, ActionId::OFFER, |w| offer.encode(w));
        }
        4 if choice & 0x20 != 0 => {
            let begin = usize::from(script.u8() & 1) * PIECE_MAX;
            let end = SKIN.len().min(begin + PIECE_MAX);
            let (offset, bytes) = (u32::try_from(begin).unwrap_or_default(), &SKIN[begin..end]);
            return push_action(payload, ActionId::PIECE, |w| {
                Piece { offset, bytes }.encode(w)
            });
        }
        4 => {
            let (offset, name) = (
                script.u16().into(),
                ["index", "hull", ""][choice as usize % 3],
            );
            let request = AssetRequest { offset, name };
            return push_action(payload, ActionId::ASSET, |w| request.encode(w));
        }
        5 => {
            let state = StateId::from_descriptor(script.u16());
            payload.push(&Object::StateRequest { state }).ok();
            return;
        }
        _ => Data::new(script.blob()).unwrap_or_default(),
    };
    let action = match choice & 15 {
        6 => ActionId(script.u16()),
        7 => ActionId(0xff00 | u16::from(choice >> 4 & 7)),
        _ => ACTIONS[usize::from(choice >> 4) % ACTIONS.len()],
    };
    payload.push(&Object::Action { action, data }).ok();
}

fn push_action(
    payload: &mut PayloadWriter<'_>,
    action: ActionId,
    write: impl FnOnce(&mut Writer<'_>),
) {
    let data = bytes(write);
    let data = Data::new(&data).unwrap_or_default();
    payload.push(&Object::Action { action, data }).ok();
}

/// What does not fit is not said.
fn push_of_server(payload: &mut PayloadWriter<'_>, token: Token, script: &mut Script<'_>) {
    let choice = script.u8();
    let high = choice >> 4;
    let action = match high {
        0..=3 => ACTIONS[usize::from(high)],
        4..=8 => ActionId(0xff00 | u16::from(high - 4)),
        _ => ActionId(script.u16()),
    };
    let entity = SyncId::new(u16::from(script.u8() % 4)).unwrap_or_default();
    let content;
    let object = match choice & 15 {
        0 => {
            content = bytes(|w| {
                Joined {
                    actor: entity,
                    token,
                }
                .encode(w)
            });
            let message = Data::new(&content).unwrap_or_default();
            let action = ActionId::JOIN;
            Object::Success { action, message }
        }
        1 | 2 => {
            let archetype = Archetype(high);
            content = bytes(|w| Summon { entity, archetype }.encode(w));
            event(EventId::SUMMON, &content)
        }
        kind @ 3..=5 => {
            content = entity.number().to_le_bytes().into();
            event(EventId(u16::from(kind) - 1), &content)
        }
        6 => {
            let (offset, piece) = (script.u16().into(), script.blob());
            content = bytes(|w| {
                Piece {
                    offset,
                    bytes: piece,
                }
                .encode(w);
            });
            event(EventId::ASSET, &content)
        }
        7 => event(EVENTS[usize::from(high) % EVENTS.len()], script.blob()),
        8 => event(EventId(script.u16()), script.blob()),
        9..=11 => Object::State {
            state: StateId::from_descriptor(entity.number() | u16::from(high) << 10),
            value: Data::new(script.blob()).unwrap_or_default(),
        },
        12 | 13 => Object::Success {
            action,
            message: Data::new(script.blob()).unwrap_or_default(),
        },
        _ => Object::Failure {
            action,
            reason: reason(script.u8()),
        },
    };
    payload.push(&object).ok();
}

fn event(event: EventId, bytes: &[u8]) -> Object<'_> {
    let data = Data::new(bytes).unwrap_or_default();
    Object::Event { event, data }
}

pub(super) const fn reason(choice: u8) -> Reason {
    match choice % 6 {
        0 => Reason::Unavailable,
        1 => Reason::Disabled,
        2 => Reason::Error,
        3 => Reason::Waiting,
        4 => Reason::Delayed,
        _ => Reason::Busy,
    }
}

/// Cuts a stream that the session sends into payloads, which must all be good.
///
/// # Panics
/// If one is not.
pub(super) fn read_payloads(held: &mut Vec<u8>, sender: Sender, mut see: impl FnMut(&Payload<'_>)) {
    while let Some(&half) = held.get(4) {
        let length = 5 + 2 * usize::from(half);
        assert!(length <= PAYLOAD_MAX);
        if held.len() < length {
            return;
        }
        let bytes: Vec<u8> = held.drain(..length).collect();
        check_payload(&bytes, sender, &mut see);
    }
}

/// The same for a datagram.
///
/// # Panics
/// If it is not good.
pub(super) fn check_payload(bytes: &[u8], sender: Sender, mut see: impl FnMut(&Payload<'_>)) {
    match Payload::decode(bytes, sender) {
        Ok(payload) => see(&payload),
        Err(error) => panic!("it sent what nobody can read: {error}"),
    }
}

fn bytes(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out, 255));
    out
}
