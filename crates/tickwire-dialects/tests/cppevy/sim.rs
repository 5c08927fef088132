//! Three clients and a bot, first on a bad network, then on a good one.
//!
//! While datagrams are lost to 40 %, copied and reordered, and the network is cut for some seconds,
//! everybody acts and the game answers in every way there is, and sometimes not at all. Then quiet:
//! every assured action has ended exactly once, nothing assumed is left, inputs went on all the time,
//! every assured event came once and in order, and no client ever showed a state that was too old.

mod game;
mod player;
mod sabotage;

use std::time::Duration;

use tickwire_dialects::cppevy::Phase;
use tickwire_session::{Addr, Session};
use tickwire_sim::{Chance, Conditions, Network, NodeId, Rng, StreamConditions, TraceHash, addr};

use crate::sabotage::{Saboteur, assert_noticed};
use crate::seeds::{OneIn, check};
use game::Game;
use player::Player;
use sabotage::{Bug, Planted};

/// Between two moves of the game and its players.
const BEAT: Duration = Duration::from_millis(50);
/// Beats with faults and work.
const BUSY: u32 = 200;
/// Beats of these during which the network is cut.
const CUT: core::ops::Range<u32> = 80..180;
/// Beats after which everything has ended: longer than any action's patience.
const QUIET: u32 = 300;

const WORST: Conditions = Conditions {
    latency: Duration::from_millis(150),
    jitter: Duration::from_millis(100),
    loss: Chance::percent(40),
    duplication: Chance::percent(20),
    reordering: Chance::percent(20),
    reordering_delay: Duration::from_millis(200),
    ..Conditions::IDEAL
};

#[test]
fn actions() {
    check("cppevy::actions", OneIn(1), |seed| run(seed, None));
}

#[test]
fn planted_bugs_are_noticed() {
    for bug in [
        Bug::OldState,
        Bug::OtherAnswer,
        Bug::EventForgotten,
        Bug::DismissForgotten,
    ] {
        assert_noticed(bug, 10, run);
    }
}

fn run(seed: u64, bug: Option<Bug>) -> Result<TraceHash, String> {
    let mut world = World::new(seed);
    world.bug = bug.map(Planted::new);
    world.join()?;
    world.be_busy()?;
    world.settle()?;
    Ok(world.net.trace_hash())
}

/// A bot is alone with the server: what went over the network, and what it did.
fn run_bot(seed: u64, bot: Bot) -> Result<(TraceHash, String), String> {
    let mut world = World::with(seed, &[], bot);
    world.join()?;
    for _ in 0..BUSY {
        world.beat(true)?;
    }
    world.settle()?;
    Ok((world.net.trace_hash(), world.players[0].deeds()))
}

#[test]
fn a_bot_on_a_memory_link_does_the_same_twice() {
    let (trace, deeds) = run_bot(7, Bot::OnLink).unwrap();
    assert_eq!(run_bot(7, Bot::OnLink), Ok((trace, deeds.clone())));
    let (other_trace, other_deeds) = run_bot(8, Bot::OnLink).unwrap();
    assert_ne!(other_trace, trace, "the bot's moves depend on the seed");
    assert_ne!(other_deeds, deeds);
}

#[test]
fn a_bot_does_the_same_on_a_memory_link_and_on_a_perfect_network() {
    for seed in 0..5 {
        let (_, on_link) = run_bot(seed, Bot::OnLink).unwrap();
        let (_, on_network) = run_bot(seed, Bot::OnMachine).unwrap();
        assert_eq!(on_link, on_network, "seed {seed}");
    }
}

struct World {
    rng: Rng,
    net: Network,
    server: NodeId,
    game: Game,
    /// What is wrong with the server.
    bug: Option<Planted>,
    /// The last of them is the bot.
    players: Vec<Player>,
    conditions: Conditions,
}

/// How a bot reaches the server. Either way nothing is lost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bot {
    /// Over a memory link, as in the server's process.
    OnLink,
    /// By address, as from another machine.
    OnMachine,
}

impl World {
    /// A server, three clients on machines of their own, and a bot on a memory link.
    fn new(seed: u64) -> Self {
        let machines = [10, 11, 12].map(|number| addr::machine(number, 5_000));
        Self::with(seed, &machines, Bot::OnLink)
    }

    fn with(seed: u64, clients: &[Addr], bot: Bot) -> Self {
        let mut rng = Rng::new(seed).branch(1);
        let mut net = crate::recorded::network(seed);
        let server_addr = addr::machine(1, 27_600);
        let server = net.add_node(server_addr);
        let game = Game::new(net.now(), rng.branch(2), rng.secret());
        let mut players = Vec::new();
        let mut add = |net: &mut Network, node: NodeId, server: Addr| {
            let luck = rng.branch(100 + node.index() as u64);
            players.push(Player::new(net.now(), server, node, luck));
        };
        for &at in clients {
            let node = net.add_node(at);
            add(&mut net, node, server_addr);
        }
        let node = net.add_node(addr::machine(20, 5_000));
        net.set_conditions_between(server, node, Conditions::IDEAL);
        let reached = match bot {
            Bot::OnLink => net.join(server, node),
            Bot::OnMachine => server_addr,
        };
        add(&mut net, node, reached);
        Self {
            conditions: Conditions::random(&mut rng, &WORST),
            rng,
            net,
            server,
            game,
            bug: None,
            players,
        }
    }

    /// Everybody connects while the network is good.
    fn join(&mut self) -> Result<(), String> {
        let window = self.rng.within(64..=4_096);
        self.net.set_stream_conditions(StreamConditions {
            window: u32::try_from(window).unwrap_or(4_096),
            ..StreamConditions::random(&mut self.rng)
        });
        for _ in 0..100 {
            self.beat(false)?;
            let plays = |player: &Player| player.client.phase() == Phase::Playing;
            if self.players.iter().all(plays) {
                return Ok(());
            }
        }
        let phases: Vec<_> = self.players.iter().map(|it| it.client.phase()).collect();
        let counters = self.game.server.counters();
        Err(format!(
            "not everybody plays after five good seconds: {phases:?}, {counters:?}"
        ))
    }

    fn be_busy(&mut self) -> Result<(), String> {
        self.net.set_conditions(self.conditions);
        for beat in 0..BUSY {
            for player in &self.players[..self.players.len() - 1] {
                if beat == CUT.start {
                    self.net.partition(self.server, player.node);
                } else if beat == CUT.end {
                    self.net.heal(self.server, player.node);
                }
            }
            self.beat(true)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), String> {
        self.net.set_conditions(Conditions::IDEAL);
        for _ in 0..QUIET {
            self.beat(false)?;
        }
        let now = self.net.now();
        for player in &mut self.players {
            player.check_ends()?;
            player.check_world(now, &self.game)?;
            player.check_gongs(&self.game)?;
            player.check_inputs(&self.game)?;
        }
        Ok(())
    }

    /// Lets the network run for a beat, then everybody looks at what came and acts.
    fn beat(&mut self, works: bool) -> Result<(), String> {
        let mut server = Saboteur {
            server: &mut self.game.server,
            bug: self.bug.as_mut(),
        };
        let mut sessions: Vec<&mut dyn Session> = vec![&mut server];
        sessions.extend(
            self.players
                .iter_mut()
                .map(|player| &mut player.client as _),
        );
        self.net.run_for(BEAT, &mut sessions);
        let now = self.net.now();
        self.game.step(now, works)?;
        // What was true this long ago may still be shown.
        let slack = self.conditions.slowest() + BEAT * 3;
        for player in &mut self.players {
            player.listen()?;
            player.check_ages(now, slack)?;
            player.steer();
            if works {
                player.act(now);
            }
        }
        Ok(())
    }
}
