//! The game, its server and its players, on one network.

use std::time::Duration;

use tickwire_dialects::reone::message::Compression;
use tickwire_dialects::reone::{Object, PORT, Phase, Server, ServerConfig};
use tickwire_session::{Instant, Session};
use tickwire_sim::{Network, NodeId, Rng, StreamConditions, Way, addr};

use super::game::{Entry, Game, velocity};
use super::sabotage::Bug;
use super::truth::{SIGHT, Truth};
use super::viewer::Viewer;
use crate::sabotage::Saboteur;

/// Clients that play.
const VIEWERS: u8 = 3;
/// Between two snapshots.
const TICK: Duration = Duration::from_millis(50);

pub(super) struct World {
    pub(super) rng: Rng,
    pub(super) net: Network,
    node: NodeId,
    pub(super) server: Saboteur<Server, Bug>,
    pub(super) game: Game,
    truth: Truth,
    pub(super) viewers: Vec<Viewer>,
    tick: u32,
    /// Nobody says anything any more; things still move.
    pub(super) is_silent: bool,
}

impl World {
    pub(super) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let mut net = crate::recorded::network(seed);
        let mut rng = Rng::new(seed).branch(1);
        let node = net.add_node(addr::machine(1, PORT));
        let game = Game::new(rng.branch(2));
        let is_coded = rng.within(0..=1) == 0;
        let is_coded = bug.map_or(is_coded, Bug::is_coded);
        let config = ServerConfig {
            module: game.module("danm13"),
            sight: SIGHT,
            // Half of the time, too little for everything that changes.
            snapshot_bytes: if rng.within(0..=1) == 0 { 150 } else { 6_000 },
            compression: if is_coded {
                Compression::Huffman
            } else {
                Compression::None
            },
            ..ServerConfig::default()
        };
        let server = Server::new(config, rng.secret()).expect("a good module");
        let viewers: Vec<_> = (0..VIEWERS)
            .map(|number| Viewer::connect(&mut net, number))
            .collect();
        // A small datagram is most of all a snapshot of many datagrams.
        for viewer in &viewers {
            let largest =
                [400, 600, 1_200, 1_200][usize::try_from(rng.within(0..=3)).expect("few")];
            let way = Way {
                from: node,
                to: viewer.node,
            };
            net.set_largest_datagram(way, largest);
        }
        net.set_stream_conditions(StreamConditions {
            hold: Duration::from_millis(rng.within(0..=20)),
            ..StreamConditions::USUAL
        });
        let mut truth = Truth::default();
        truth.begin(server.newest(), &game.objects);
        Self {
            rng,
            net,
            node,
            server: Saboteur { server, bug },
            game,
            truth,
            viewers,
            tick: 0,
            is_silent: false,
        }
    }

    pub(super) fn run(&mut self, ticks: u32) -> Result<(), String> {
        (0..ticks).try_for_each(|_| self.tick())
    }

    pub(super) fn wait(
        &mut self,
        ticks: u32,
        what: &str,
        done: impl Fn(&Self) -> bool,
    ) -> Result<(), String> {
        for _ in 0..ticks {
            if done(self) {
                return Ok(());
            }
            self.tick()?;
        }
        Err(format!("not after {ticks} ticks: {what}"))
    }

    fn tick(&mut self) -> Result<(), String> {
        self.tick += 1;
        let now = Instant::ZERO + TICK * self.tick;
        self.run_network(now);
        let server = &mut self.server.server;
        self.game.play(now, server)?;
        let objects = self.game.objects.iter();
        let objects = objects.map(|(&id, &status)| Object {
            velocity: Some(velocity(self.tick)),
            ..Object::new(id, status)
        });
        server.publish(self.tick, objects);
        self.run_network(now);
        let server = &mut self.server.server;
        self.truth.record(server, &self.game);
        if !self.is_silent {
            self.game.command(server);
        }
        for viewer in &mut self.viewers {
            viewer.look(&self.truth, &self.game.issued)?;
            if !self.is_silent {
                viewer.act(now, self.tick)?;
            }
        }
        self.check_events()
    }

    fn run_network(&mut self, until: Instant) {
        let mut sessions: Vec<&mut dyn Session> = vec![&mut self.server];
        sessions.extend(
            self.viewers
                .iter_mut()
                .map(|viewer| viewer as &mut dyn Session),
        );
        self.net.run_until(until, &mut sessions);
    }

    /// Goes on to another module, in which other things are at other places.
    pub(super) fn change_module(&mut self) {
        self.game.begin_again();
        let module = self.game.module("tar_m02");
        let changed = self.server.server.change_module(self.net.now(), module);
        changed.expect("a good module");
        let newest = self.server.server.newest();
        self.truth.begin(newest, &self.game.objects);
    }

    /// Somebody looks on, and somebody who did has a creature again.
    pub(super) fn reseat(&mut self, viewer: usize) {
        let (now, server) = (self.net.now(), &mut self.server.server);
        let client = self.viewers[viewer].id.expect("it is welcome");
        match self.game.players.contains_key(&client) {
            true => self.game.stand_up(now, server, client),
            false => self.game.sit_down(now, server, client),
        }
    }

    /// Whether the server believes that a client knows what it is.
    pub(super) fn is_ready(&self, viewer: usize) -> bool {
        let id = self.viewers[viewer].id;
        id.and_then(|id| self.server.server.mode(id)).is_some()
    }

    /// Whether a client knows what it is, and the server believes that it does.
    pub(super) fn is_seated(&self, viewer: usize) -> bool {
        let is_ready = self.is_ready(viewer);
        let viewer = &self.viewers[viewer];
        let own = viewer.id.and_then(|id| self.game.players.get(&id));
        viewer.client.own() == own.copied() && is_ready
    }

    pub(super) fn cut_off(&mut self, viewer: usize) {
        self.net.partition(self.node, self.viewers[viewer].node);
    }

    pub(super) fn cut_somebody_one_way(&mut self) {
        let (mut from, mut to) = (self.node, self.viewers[0].node);
        if self.rng.within(0..=1) == 0 {
            std::mem::swap(&mut from, &mut to);
        }
        self.net.cut(Way { from, to });
    }

    pub(super) fn mend(&mut self) {
        for viewer in &self.viewers {
            self.net.heal(self.node, viewer.node);
        }
    }

    pub(super) fn is_all_playing(&self) -> bool {
        let is_playing = |viewer: &Viewer| viewer.client.phase() == Phase::Playing;
        self.viewers.iter().all(is_playing)
    }

    /// Whether everything that was said has arrived, and everything asked was answered or given up.
    pub(super) fn is_all_heard(&self) -> bool {
        self.viewers.iter().all(|viewer| {
            let heard = viewer.id.and_then(|id| self.game.heard.get(&id));
            heard.map_or(0, Vec::len) == viewer.sent as usize && viewer.has_answers()
        })
    }

    /// Events came once and in order so far.
    fn check_events(&self) -> Result<(), String> {
        for (client, heard) in &self.game.heard {
            if !heard
                .iter()
                .copied()
                .eq(1..=u32::try_from(heard.len()).expect("few"))
            {
                return Err(format!("{client} was heard to say {heard:?}"));
            }
        }
        Ok(())
    }

    /// Nothing was noticed that a good server and a good client never see.
    pub(super) fn check_end(&self) -> Result<(), String> {
        for viewer in &self.viewers {
            viewer.check_commands(&self.game.issued)?;
            check_never("a client", &viewer.client, NEVER_AT_A_CLIENT)?;
        }
        check_never("the server", &self.server, NEVER_AT_THE_SERVER)
    }

    /// When something became of a client, if it did after `since`.
    pub(super) fn when(&self, since: Instant, what: Entry) -> Option<Instant> {
        let mut diary = self.game.diary.iter();
        diary
            .find(|(at, entry)| *at >= since && *entry == what)
            .map(|(at, _)| *at)
    }
}

/// What a client never counts whose server is good.
const NEVER_AT_A_CLIENT: &[&str] = &[
    "undecodable",
    "contradiction",
    "unknown_object",
    "object_twice",
    "too_much",
    "ack_never_sent",
    "unexpected",
];

/// What a server never counts whose clients are good.
const NEVER_AT_THE_SERVER: &[&str] = &[
    "undecodable_datagram",
    "undecodable_stream",
    "ack_never_sent",
    "wrong_token",
    "object_refused",
    "fell_behind",
    "path_too_narrow",
];

fn check_never(who: &str, session: &dyn Session, never: &[&str]) -> Result<(), String> {
    let mut known = 0;
    let mut wrong = None;
    session.visit_counters(&mut |name, count| {
        if never.contains(&name) {
            known += 1;
            if count > 0 {
                wrong = Some(format!("{who} counted {count} of {name}"));
            }
        }
    });
    assert_eq!(known, never.len(), "all of {never:?} are counted");
    wrong.map_or(Ok(()), Err)
}
