//! Objects, ids and payloads in few words, for scripts and vectors.

use tickwire_dialects::cppevy::message::{
    AssetRequest, Data, Join, Joined, Object, Offer, Payload, PayloadWriter, Piece, Sender, Summon,
};
use tickwire_dialects::cppevy::{
    ActionId, Archetype, Component, Delivery, EventId, Reason, Registry, StateId, SyncId, Writer,
};
use tickwire_session::bulk::ContentHash;
use tickwire_session::{Belief, Token};

/// An event of the game that goes by UDP.
pub(crate) const SPARK: EventId = EventId(0x0100);
/// An event of the game that goes by TCP.
pub(crate) const GONG: EventId = EventId(0x0101);
/// An action of the game that goes by UDP.
pub(crate) const STEER: ActionId = ActionId(0x0001);
/// An action of the game that goes by TCP and is shown only when it was done.
pub(crate) const BUY: ActionId = ActionId(0x0002);
/// An action of the game that goes by TCP and is shown at once.
pub(crate) const WAVE: ActionId = ActionId(0x0003);
/// An action of the game that this server does not have.
pub(crate) const FLY: ActionId = ActionId(0x0004);

/// What the game of these tests says.
pub(crate) fn registry() -> Registry {
    Registry::new()
        .with_state(SHIELD, 2)
        .with_event(SPARK, Delivery::Instant)
        .with_event(GONG, Delivery::Assured)
        .with_action(STEER, Delivery::Instant, Belief::Assumed)
        .with_action(BUY, Delivery::Assured, Belief::Confirmed)
        .with_action(WAVE, Delivery::Assured, Belief::Assumed)
        .with_disabled_action(FLY)
}

pub(crate) const POSITION: Component = Component::new(0).unwrap();
pub(crate) const HEALTH: Component = Component::new(2).unwrap();
/// Has two bytes, as both sides know.
pub(crate) const SHIELD: Component = Component::new(63).unwrap();

pub(crate) const SHIP: Archetype = Archetype(7);
pub(crate) const ROCK: Archetype = Archetype(9);

pub(crate) fn id(number: u16) -> SyncId {
    SyncId::new(number).expect("a sync id")
}

pub(crate) fn state_id(entity: u16, component: Component) -> StateId {
    StateId {
        entity: id(entity),
        component,
    }
}

pub(crate) fn state(state: StateId, value: &[u8]) -> Object<'static> {
    let value = data(value);
    Object::State { state, value }
}

pub(crate) const fn request(state: StateId) -> Object<'static> {
    Object::StateRequest { state }
}

pub(crate) fn event(event: EventId, bytes: &[u8]) -> Object<'static> {
    let data = data(bytes);
    Object::Event { event, data }
}

pub(crate) fn action(action: ActionId, bytes: &[u8]) -> Object<'static> {
    let data = data(bytes);
    Object::Action { action, data }
}

pub(crate) fn success(action: ActionId, bytes: &[u8]) -> Object<'static> {
    let message = data(bytes);
    Object::Success { action, message }
}

pub(crate) const fn failure(action: ActionId, reason: Reason) -> Object<'static> {
    Object::Failure { action, reason }
}

pub(crate) fn summon(entity: u16, archetype: Archetype) -> Object<'static> {
    let entity = id(entity);
    let summon = Summon { entity, archetype };
    event(EventId::SUMMON, &bytes(|w| summon.encode(w)))
}

pub(crate) fn dismiss(entity: u16) -> Object<'static> {
    event(EventId::DISMISS, &entity.to_le_bytes())
}

pub(crate) fn client_join(actor: u16) -> Object<'static> {
    event(EventId::CLIENT_JOIN, &actor.to_le_bytes())
}

pub(crate) fn client_leave(actor: u16) -> Object<'static> {
    event(EventId::CLIENT_LEAVE, &actor.to_le_bytes())
}

pub(crate) fn piece(offset: u32, content: &[u8]) -> Object<'static> {
    let bytes = bytes(|w| {
        Piece {
            offset,
            bytes: content,
        }
        .encode(w);
    });
    event(EventId::ASSET, &bytes)
}

pub(crate) fn join(name: &str) -> Object<'static> {
    action(ActionId::JOIN, &bytes(|w| Join { name }.encode(w)))
}

pub(crate) fn joined(actor: u16, token: u64) -> Object<'static> {
    let (actor, token) = (id(actor), Token(token));
    let joined = Joined { actor, token };
    success(ActionId::JOIN, &bytes(|w| joined.encode(w)))
}

pub(crate) fn attach(token: u64) -> Object<'static> {
    action(ActionId::ATTACH, &token.to_le_bytes())
}

pub(crate) fn asset(offset: u32, name: &str) -> Object<'static> {
    let request = AssetRequest { offset, name };
    action(ActionId::ASSET, &bytes(|w| request.encode(w)))
}

pub(crate) fn offer(content: &[u8], name: &str) -> Object<'static> {
    let size = u32::try_from(content.len()).expect("short");
    let hash = ContentHash::of(content);
    let offer = Offer { size, hash, name };
    action(ActionId::OFFER, &bytes(|w| offer.encode(w)))
}

pub(crate) fn leave() -> Object<'static> {
    action(ActionId::LEAVE, &[])
}

/// Data that lives as long as the test process, so that an object is a plain value.
fn data(bytes: &[u8]) -> Data<'static> {
    Data::new(bytes.to_vec().leak()).expect("fits an object")
}

pub(crate) fn bytes(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out, usize::MAX));
    out
}

/// One payload that holds these objects, which fit.
pub(crate) fn payload(timestamp: u32, objects: &[Object<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut payload = PayloadWriter::new(&mut out, timestamp);
    for object in objects {
        payload.push(object).expect("fits a payload");
    }
    payload.finish();
    out
}

/// As many payloads as these objects need.
pub(crate) fn payloads(timestamp: u32, objects: &[Object<'_>]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut rest = objects;
    while !rest.is_empty() {
        let mut out = Vec::new();
        let mut payload = PayloadWriter::new(&mut out, timestamp);
        let fitting = rest
            .iter()
            .take_while(|object| payload.push(object).is_ok())
            .count();
        payload.finish();
        all.push(out);
        rest = &rest[fitting..];
    }
    all
}

/// Moment and objects of a payload in which nothing is wrong.
pub(crate) fn decode(bytes: Vec<u8>, sender: Sender) -> (u32, Vec<Object<'static>>) {
    let payload = Payload::decode(bytes.leak(), sender).expect("a good payload");
    (payload.timestamp, payload.objects().collect())
}
