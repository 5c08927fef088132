//! A client's half that is recorded: it passes every call on, and writes down those that matter.

use tickwire_session::tap::Tap;
use tickwire_session::{Addr, Ended, Instant, Path, PeerStats, Room, Session, StreamId, Transmit};

use super::deed::{Deed, sum_of_sight, sum_of_view};
use super::{Log, Player, Start};
use crate::gateway::{
    ArenaClient, Carried, ClientGateway, Flash, Notice, Resident, Status, TileClient,
};
use crate::limits::WEAPON_SLOTS;
use crate::tiles::{Block, BlockId, Cell, Direction, Sublayer, Tile};
use crate::{Effect, Intent, Loadout, Score, View};

/// Records a client that was just made of `start`.
pub fn record(log: &Log, start: &Start, player: Player) -> Player {
    start.tell_about(|about| log.about(start.now, about));
    let log = log.clone();
    // What has no moment of its own happens at the last one.
    let now = start.now;
    match player {
        Player::Arena(client) => Player::Arena(Box::new(Recorded { client, log, now })),
        Player::Tiles(client) => Player::Tiles(Box::new(Recorded { client, log, now })),
    }
}

struct Recorded<C: ?Sized> {
    client: Box<C>,
    log: Log,
    now: Instant,
}

impl<C: ClientGateway + ?Sized> Recorded<C> {
    fn tap(&mut self, now: Instant) -> Tap<&mut dyn Session, &mut Log> {
        self.now = now;
        Tap::new(self.client.session(), &mut self.log)
    }

    fn deed(&mut self, now: Instant, deed: &Deed) {
        self.now = now;
        self.log.deed(now, deed);
    }
}

impl<C: ClientGateway + ?Sized> Session for Recorded<C> {
    fn handle_opened(&mut self, now: Instant, on: StreamId, peer: Addr) {
        self.tap(now).handle_opened(now, on, peer);
    }

    fn handle_stream(&mut self, now: Instant, on: StreamId, bytes: &[u8]) {
        self.tap(now).handle_stream(now, on, bytes);
    }

    fn handle_datagram(&mut self, now: Instant, from: Addr, bytes: &[u8]) {
        self.tap(now).handle_datagram(now, from, bytes);
    }

    fn handle_room(&mut self, now: Instant, path: Path, room: Room) {
        self.tap(now).handle_room(now, path, room);
    }

    fn handle_closed(&mut self, now: Instant, path: Path, why: Ended) {
        self.tap(now).handle_closed(now, path, why);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.tap(now).handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.tap(now).poll_transmit(now, out)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.client.figures().poll_timeout()
    }

    fn is_reading(&self, on: StreamId) -> bool {
        self.client.figures().is_reading(on)
    }

    fn set_busy(&mut self, is_busy: bool) {
        self.client.session().set_busy(is_busy);
    }

    fn shut_down(&mut self, now: Instant) {
        self.client.session().shut_down(now);
    }

    fn is_finished(&self) -> bool {
        self.client.figures().is_finished()
    }

    fn visit_peers(&self, visit: &mut dyn FnMut(&PeerStats<'_>)) {
        self.client.figures().visit_peers(visit);
    }

    fn visit_counters(&self, visit: &mut dyn FnMut(&'static str, u64)) {
        self.client.figures().visit_counters(visit);
    }
}

impl<C: ClientGateway + ?Sized> Recorded<C> {
    fn collect_all(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        self.deed(now, &Deed::Collect);
        self.client.collect(now, notices);
    }

    fn say(&mut self, now: Instant, text: &str) -> Result<(), String> {
        self.deed(now, &Deed::Chat(text.into()));
        self.client.chat(now, text)
    }

    fn leave(&mut self, now: Instant) {
        self.deed(now, &Deed::Disconnect);
        self.client.disconnect(now);
    }
}

/// What both games' clients pass on in the same way.
macro_rules! pass_on {
    () => {
        fn session(&mut self) -> &mut dyn Session {
            self
        }

        fn figures(&self) -> &dyn Session {
            self.client.figures()
        }

        fn status(&self) -> Status {
            self.client.status()
        }

        fn remark(&self) -> Option<String> {
            self.client.remark()
        }

        fn last_words(&self) -> Option<String> {
            self.client.last_words()
        }

        fn given_name(&self) -> Option<&str> {
            self.client.given_name()
        }

        fn prediction_error(&self) -> Option<f32> {
            self.client.prediction_error()
        }

        fn stats(&self) -> Option<PeerStats<'static>> {
            self.client.stats()
        }

        fn chat(&mut self, now: Instant, text: &str) -> Result<(), String> {
            self.say(now, text)
        }

        fn disconnect(&mut self, now: Instant) {
            self.leave(now);
        }
    };
}

impl ClientGateway for Recorded<dyn ArenaClient> {
    pass_on!();

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        self.collect_all(now, notices);
    }
}

impl ArenaClient for Recorded<dyn ArenaClient> {
    fn view(&mut self, now: Instant) -> View {
        let view = self.client.view(now);
        let sum = sum_of_view(&view);
        self.deed(now, &Deed::View { sum });
        view
    }

    fn scores(&self) -> Vec<Score> {
        self.client.scores()
    }

    fn inventory(&self) -> Option<[Option<Carried>; WEAPON_SLOTS]> {
        self.client.inventory()
    }

    fn flashes(&self) -> Vec<Flash> {
        self.client.flashes()
    }

    fn act(&mut self, intent: &Intent) {
        let now = self.now;
        self.deed(now, &Deed::Act(*intent));
        self.client.act(intent);
    }

    fn take_effects(&mut self) -> Vec<Effect> {
        self.client.take_effects()
    }

    fn rename(&mut self, name: &str) -> Result<(), String> {
        let now = self.now;
        self.deed(now, &Deed::Rename(name.to_owned()));
        self.client.rename(name)
    }

    fn select(&mut self, now: Instant, loadout: Loadout) -> Result<(), String> {
        self.deed(now, &Deed::Select(loadout));
        self.client.select(now, loadout)
    }

    fn set_databases(&mut self, paths: &[String]) -> Result<(), String> {
        let now = self.now;
        self.deed(now, &Deed::Databases(paths.join(",")));
        self.client.set_databases(paths)
    }

    fn load_content(&mut self, emblem: Option<char>) -> Result<(), String> {
        let now = self.now;
        self.deed(now, &Deed::Content(emblem));
        self.client.load_content(emblem)
    }

    fn teleport(&mut self, now: Instant) -> Result<(), String> {
        self.deed(now, &Deed::Teleport);
        self.client.teleport(now)
    }

    fn taunt(&mut self) -> Result<(), String> {
        let now = self.now;
        self.deed(now, &Deed::Taunt);
        self.client.taunt()
    }
}

impl ClientGateway for Recorded<dyn TileClient> {
    pass_on!();

    fn collect(&mut self, now: Instant, notices: &mut Vec<Notice>) {
        self.collect_all(now, notices);
        let sum = sum_of_sight(&*self.client);
        self.deed(now, &Deed::Sight { sum });
    }
}

// A bot's wishes come in as the calls that they lead to.
impl TileClient for Recorded<dyn TileClient> {
    fn position(&self) -> Option<Cell> {
        self.client.position()
    }

    fn tile(&self, cell: Cell) -> Option<Tile> {
        self.client.tile(cell)
    }

    fn block_at(&self, cell: Cell, sublayer: Sublayer) -> BlockId {
        self.client.block_at(cell, sublayer)
    }

    fn others(&self) -> Vec<Resident<'_>> {
        self.client.others()
    }

    fn is_spectator(&self) -> bool {
        self.client.is_spectator()
    }

    fn identify(&mut self) -> Result<(), String> {
        let now = self.now;
        self.deed(now, &Deed::Identify);
        self.client.identify()
    }

    fn ignore_nearest(&mut self) -> Result<String, String> {
        let now = self.now;
        self.deed(now, &Deed::IgnoreNearest);
        self.client.ignore_nearest()
    }

    fn walk(&mut self, now: Instant, direction: Direction) -> Result<(), String> {
        self.deed(now, &Deed::Walk(direction));
        self.client.walk(now, direction)
    }

    fn build(&mut self, now: Instant, at: BlockId, block: Block) -> Result<(), String> {
        self.deed(now, &Deed::Build { at, block });
        self.client.build(now, at, block)
    }
}
