//! Any message.

use proptest::collection::vec;
use proptest::prelude::*;
use tickwire_dialects::pixmess::message::{BlockSet, FromClient, FromServer};
use tickwire_dialects::pixmess::{
    Block, Cell, ChunkXy, EntityId, Look, Low, PlayerId, SetId, Sublayer,
};

use super::super::words::{Heard, Said};

/// Numbers that repeat often enough for masks to matter, and all others.
fn few<T: Copy + std::fmt::Debug + 'static>(
    values: &'static [T],
    any: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<T> {
    prop_oneof![4 => proptest::sample::select(values), 1 => any].boxed()
}

fn block_set() -> impl Strategy<Value = BlockSet> {
    let low = || few(&[0, 1, 2, 0xffff], any::<u16>());
    let byte = || few(&[0, 1, -1], any::<i8>());
    let sublayer = prop_oneof![Just(Sublayer::Solid), Just(Sublayer::Walkable)];
    (sublayer, low(), low(), byte(), byte(), byte()).prop_map(|(sublayer, x, y, typ, col, ch)| {
        BlockSet {
            sublayer,
            cell: Low { x, y },
            block: Block { typ, col, ch },
        }
    })
}

fn cell() -> impl Strategy<Value = Cell> {
    let number = || few(&[0, 1, -1, i32::MIN, i32::MAX], any::<i32>());
    (number(), number()).prop_map(|(x, y)| Cell { x, y })
}

fn chunk() -> impl Strategy<Value = ChunkXy> {
    cell().prop_map(|Cell { x, y }| ChunkXy { x, y })
}

fn look() -> impl Strategy<Value = Look> {
    let number = || few(&[0, 64, 0xff07], any::<u16>());
    (number(), number()).prop_map(|(chr, col)| Look { chr, col })
}

fn entity() -> impl Strategy<Value = EntityId> {
    few(&[0, 1, 2], any::<u16>()).prop_map(EntityId)
}

fn set() -> impl Strategy<Value = SetId> {
    any::<u16>().prop_map(SetId)
}

fn text(most: usize) -> impl Strategy<Value = &'static [u8]> {
    vec(any::<u8>(), 0..=most).prop_map(|bytes| &*bytes.leak())
}

/// Any message of a client.
pub(super) fn said() -> BoxedStrategy<Said> {
    prop_oneof![
        4 => block_set().prop_map(FromClient::BlockSet),
        4 => few(&[0, 1, 7], any::<u8>()).prop_map(|direction| FromClient::Movement { direction }),
        1 => chunk().prop_map(FromClient::LayerRequest),
        1 => chunk().prop_map(FromClient::LayerRelease),
        1 => set().prop_map(|set| FromClient::LayersetSelect { set }),
        1 => cell().prop_map(|at| FromClient::EntityPosition { at }),
        1 => entity().prop_map(|entity| FromClient::EntityDestruction { entity }),
        1 => text(255).prop_map(|text| FromClient::Chat { text }),
        1 => (any::<u16>(), look(), text(40))
            .prop_map(|(version, look, name)| FromClient::Login { version, look, name }),
        1 => Just(FromClient::Ping),
        1 => Just(FromClient::Pong),
        1 => Just(FromClient::PlayerId),
        1 => text(20).prop_map(|reason| FromClient::Kick { reason }),
    ]
    .boxed()
}

/// Any message of a server.
pub(super) fn heard() -> BoxedStrategy<Heard> {
    prop_oneof![
        5 => block_set().prop_map(FromServer::BlockSet),
        5 => (entity(), few(&[0, 1, 7], any::<u8>()))
            .prop_map(|(entity, direction)| FromServer::Movement { entity, direction }),
        4 => (entity(), cell(), look(), text(40)).prop_map(|(entity, at, look, name)| {
            FromServer::EntityCreation { entity, at, look, name }
        }),
        1 => chunk().prop_map(FromServer::LayerStart),
        1 => text(512).prop_map(|data| FromServer::LayerData { data }),
        1 => Just(FromServer::LayerEnd),
        1 => chunk().prop_map(FromServer::LayerRelease),
        1 => (set(), cell()).prop_map(|(set, at)| FromServer::LayersetCreate { set, at }),
        1 => (set(), cell()).prop_map(|(set, at)| FromServer::LayersetMove { set, at }),
        1 => set().prop_map(|set| FromServer::LayersetRemove { set }),
        1 => set().prop_map(|set| FromServer::LayersetSelect { set }),
        1 => (entity(), cell())
            .prop_map(|(entity, at)| FromServer::EntityPosition { entity, at }),
        1 => entity().prop_map(|entity| FromServer::EntityDestruction { entity }),
        1 => text(255).prop_map(|text| FromServer::Chat { text }),
        1 => Just(FromServer::Ping),
        1 => Just(FromServer::Pong),
        1 => any::<u16>().prop_map(|id| FromServer::PlayerId { player: PlayerId(id) }),
        1 => text(20).prop_map(|reason| FromServer::Kick { reason }),
    ]
    .boxed()
}
