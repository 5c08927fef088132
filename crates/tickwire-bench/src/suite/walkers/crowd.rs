//! The walkers: as many clients, each with a socket of its own, in one loop on one thread.
//!
//! A walker stays near its home, where it is once the server has put it there: it walks straight on
//! until something is in its way or home is far, and turns.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tickwire_dialects::pixmess::{
    BlockId, Cell, ChunkId, ChunkXy, Client, ClientConfig, ClientEvent, Direction, SetId, Sublayer,
    Version,
};
use tickwire_net::Driver;
use tickwire_session::{Events as _, Instant, Session};

use super::{Case, Signals};

/// Between two turns of the loop. A walker takes a step in every fifth: people do not walk in step.
const TURN: Duration = Duration::from_millis(10);
const TURNS_A_STEP: usize = 5;

/// Turns between two walkers who join: fifty a second, which is less than a server takes from one host.
const TURNS_A_JOIN: usize = 2;

/// How far from home a walker goes, in cells.
const STROLL: u32 = 20;

/// Chunks on each side of its own that a walker holds.
const REACH: i32 = 1;

/// What the walkers did and saw while it was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) span: Duration,
    pub(super) steps: u64,
    /// Steps of others.
    pub(super) moves: u64,
    pub(super) chunks: u64,
    /// How many others a walker sees, on average.
    pub(super) others: f64,
}

pub(super) struct Crowd {
    case: Case,
    server: SocketAddr,
    driver: Driver,
    walkers: Vec<Walker>,
    next_turn: Instant,
    turns: usize,
    /// Who asks for a chunk next.
    next_asker: usize,
}

struct Walker {
    client: Client,
    /// Whether it is where it will live; what is around is worth looking at then.
    arrived: bool,
    /// Where it lives, once it walks.
    home: Option<Cell>,
    way: usize,
    asked: BTreeSet<ChunkId>,
    /// A chunk that was asked for to be let go again, and how many there were.
    glimpse: Option<ChunkId>,
    glimpses: i32,
}

impl Crowd {
    pub(super) fn new(case: Case, server: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            case,
            server,
            driver: Driver::new()?,
            walkers: Vec::new(),
            next_turn: Instant::ZERO,
            turns: 0,
            next_asker: 0,
        })
    }

    /// Lets one more walker dial the server; whether all of them have.
    fn invite(&mut self) -> anyhow::Result<bool> {
        self.turns += 1;
        let number = self.walkers.len();
        if number == usize::from(self.case.walkers) {
            return Ok(true);
        }
        if self.turns.is_multiple_of(TURNS_A_JOIN) {
            self.driver.open();
            let name = format!("walker-{number}");
            let config = ClientConfig::new(self.server.into(), Version::One, &name)?;
            self.walkers.push(Walker {
                client: Client::new(self.driver.now(), config),
                arrived: self.case.spacing.is_none(),
                home: None,
                way: number,
                asked: BTreeSet::new(),
                glimpse: None,
                glimpses: 0,
            });
        }
        Ok(false)
    }

    /// Walks until the server has measured enough.
    pub(super) fn walk(mut self, signals: &Signals) -> anyhow::Result<Seen> {
        let mut next_step = self.driver.now();
        let mut seen = Seen::default();
        let mut began = None;
        while !signals.over.load(Ordering::Relaxed) {
            let clients = self.walkers.iter_mut().map(|walker| &mut walker.client);
            let mut sessions: Vec<_> = clients.map(|client| client as &mut dyn Session).collect();
            self.driver.run_until(next_step, &mut sessions)?;
            let now = self.driver.now();
            next_step = (next_step + TURN).max(now);
            for walker in &mut self.walkers {
                walker.handle_events(&mut seen)?;
            }
            if began.is_some() {
                self.stroll(now, &mut seen);
                continue;
            }
            let invited = self.invite()?;
            let settled = self.walkers.iter_mut().map(|walker| walker.settle(now));
            if settled.fold(invited, |all, settled| all & settled) {
                began = Some(now);
                self.next_turn = now;
                seen = Seen::default();
                signals.settled.store(true, Ordering::Relaxed);
            }
        }
        let began = began.context("not everybody got home")?;
        seen.span = self.driver.now().since(began);
        let others = self.walkers.iter().map(|it| it.client.entities().count());
        seen.others = others.sum::<usize>() as f64 / self.walkers.len() as f64 - 1.0;
        Ok(seen)
    }

    /// Takes all turns that are due: a loop that is late has as many walkers waiting.
    fn stroll(&mut self, now: Instant, seen: &mut Seen) {
        while self.next_turn <= now {
            self.take_turn(now, seen);
            self.next_turn += TURN;
        }
    }

    fn take_turn(&mut self, now: Instant, seen: &mut Seen) {
        self.turns += 1;
        let walkers = self.walkers.iter_mut().skip(self.turns % TURNS_A_STEP);
        for walker in walkers.step_by(TURNS_A_STEP) {
            seen.steps += u64::from(walker.step(now));
        }
        for _ in 0..self.case.chunks {
            let asker = self.next_asker % self.walkers.len();
            self.next_asker += 1;
            self.walkers[asker].glance(now);
        }
    }
}

impl Walker {
    fn handle_events(&mut self, seen: &mut Seen) -> anyhow::Result<()> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::EntityMoved(_) => seen.moves += 1,
                ClientEvent::ChunkLoaded(chunk) => {
                    seen.chunks += 1;
                    if self.glimpse == Some(chunk) {
                        self.glimpse = None;
                        self.client.release(chunk)?;
                    }
                }
                ClientEvent::ChunkReleased(chunk) if self.glimpse == Some(chunk) => {
                    self.glimpse = None;
                }
                ClientEvent::Corrected(_) => self.arrived = true,
                ClientEvent::Ended(why) => bail!("a walker was sent home: {why}"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Asks for what is around; whether it is there.
    fn settle(&mut self, now: Instant) -> bool {
        let Some(at) = self.client.position().filter(|_| self.arrived) else {
            return false;
        };
        self.home = Some(at);
        let sides = || -REACH..=REACH;
        let around = sides().flat_map(|y| sides().map(move |x| (x, y)));
        let around = around.map(|(x, y)| offset(at.chunk(), x, y));
        let mut settled = true;
        for chunk in around {
            // Twice is too much: a server sends again what it is asked for again.
            if !self.asked.contains(&chunk) && self.client.request(now, chunk).is_ok() {
                self.asked.insert(chunk);
            }
            settled &= self.client.chunk(chunk).is_some();
        }
        settled
    }

    /// Takes a step, if it may.
    fn step(&mut self, now: Instant) -> bool {
        let (Some(at), Some(home)) = (self.client.position(), self.home) else {
            return false;
        };
        let ways = (0..Direction::ALL.len()).map(|turn| (self.way + turn) % Direction::ALL.len());
        let free = { ways }.find(|&way| {
            let next = at.step(Direction::ALL[way]);
            next.is_some_and(|next| self.is_free(next) && is_near(next, home))
        });
        let Some(way) = free else {
            return false;
        };
        self.way = way;
        self.client.walk(now, Direction::ALL[way]).is_ok()
    }

    fn is_free(&self, cell: Cell) -> bool {
        let solid = BlockId {
            set: SetId::ROOT,
            cell,
            sublayer: Sublayer::Solid,
        };
        self.client.block(solid).is_some_and(|block| block.typ == 0)
    }

    /// Asks for a chunk as far away from everybody as a request reaches, another each time: mostly one
    /// that nobody has seen.
    fn glance(&mut self, now: Instant) {
        if let (None, Some(home)) = (self.glimpse, self.home) {
            self.glimpses += 1;
            let outwards = |along: i32, by: i32| (15 - by) * along.signum();
            let chunk = offset(
                home.chunk(),
                outwards(home.x, self.glimpses % 4),
                outwards(home.y, self.glimpses / 4 % 4),
            );
            self.glimpse = self.client.request(now, chunk).is_ok().then_some(chunk);
        }
    }
}

fn is_near(cell: Cell, home: Cell) -> bool {
    cell.x.abs_diff(home.x) <= STROLL && cell.y.abs_diff(home.y) <= STROLL
}

const fn offset(chunk: ChunkXy, east: i32, south: i32) -> ChunkId {
    ChunkId::root(ChunkXy {
        x: chunk.x + east,
        y: chunk.y + south,
    })
}
