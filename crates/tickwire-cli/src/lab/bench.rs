//! A server, a network and clients of one protocol, in simulated time.

use std::collections::BTreeMap;
use std::time::Duration;

use tickwire_demo::gateway::{Protocol, Settings, Status};
use tickwire_demo::recording::{Kit, Start};
use tickwire_demo::{GameServer, PilotId, STEP};
use tickwire_session::{Instant, PeerStats, Session, Traffic};
use tickwire_sim::{Network as Simulated, NodeId, Way, addr};

use super::errors::Errors;
use super::subject::{Pair, Subject};
use crate::conditions::Network;
use crate::figures::millis;
use crate::misuse::Misuse;

/// How long a client may take to get in: longer than any protocol tries.
const JOINING: Duration = Duration::from_secs(60);

/// How long clocks and delays may settle after everybody is in, or somebody enters anew.
const SETTLING: Duration = Duration::from_secs(5);

/// Lives that are remembered: more than can be lost while clocks settle.
const LIVES_KEPT: usize = 4_096;

/// What is to be tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) protocol: &'static Protocol,
    pub(super) network: Network,
    pub(super) clients: u8,
    pub(super) seed: u64,
    pub(super) network_seed: u64,
}

/// All of it, at one moment.
pub(super) struct Bench {
    wanted: Wanted,
    network: Simulated,
    server: NodeId,
    host: GameServer,
    subjects: Vec<(NodeId, Subject)>,
    errors: Vec<Errors>,
    /// When each life of a player was first seen.
    lives: BTreeMap<u64, Instant>,
    /// Since when it is measured, and what each client had sent and received then.
    began: Option<(Instant, Vec<Traffic>)>,
}

impl Bench {
    pub(super) fn new(wanted: Wanted) -> anyhow::Result<Self> {
        let mut network = Simulated::new(wanted.network_seed);
        let server = network.add_node(addr::machine(1, wanted.protocol.port));
        let mut host = GameServer::new(wanted.seed, 0);
        let secret = [7; 32];
        host.serve(wanted.protocol, network.now(), secret, &Settings::default());
        Ok(Self {
            wanted,
            network,
            server,
            host,
            subjects: Vec::new(),
            errors: Vec::new(),
            lives: BTreeMap::new(),
            began: None,
        })
    }

    pub(super) const fn now(&self) -> Instant {
        self.network.now()
    }

    pub(super) const fn host(&self) -> &GameServer {
        &self.host
    }

    pub(super) fn subject(&self, place: usize) -> Option<&Subject> {
        self.subjects.get(place).map(|(_, subject)| subject)
    }

    /// Lets everybody in, one after another so that it is known who is who, and waits until clocks have settled.
    pub(super) fn settle(&mut self) -> anyhow::Result<()> {
        for number in 0..self.wanted.clients {
            self.add_client(number)?;
            let deadline = self.now() + JOINING;
            while !self.is_in() {
                anyhow::ensure!(
                    self.now() < deadline && !self.is_over(),
                    "client {} of {} does not get in on this network",
                    number + 1,
                    self.wanted.protocol.name
                );
                self.step();
            }
        }
        let settled = self.now() + SETTLING;
        while self.now() < settled {
            self.step();
        }
        self.begin();
        Ok(())
    }

    /// Measures from now on.
    fn begin(&mut self) {
        let traffic = self.subjects.iter().map(|(_, subject)| traffic(subject));
        self.began = Some((self.network.now(), traffic.collect()));
        self.errors = vec![Errors::default(); self.subjects.len()];
    }

    fn add_client(&mut self, number: u8) -> anyhow::Result<()> {
        let node = self.network.add_node(addr::machine(number + 2, 5_000));
        let start = Start {
            protocol: self.wanted.protocol,
            now: self.now(),
            server: self.network.addr(self.server),
            name: format!("lab-{}", number + 1),
            kit: Kit::default(),
        };
        let seed = self.wanted.seed.wrapping_add(number.into());
        let subject = Subject::new(&start, seed).map_err(Misuse)?;
        self.subjects.push((node, subject));
        self.set_network(self.wanted.network);
        Ok(())
    }

    /// Puts every client on another network from now on.
    pub(super) fn set_network(&mut self, network: Network) {
        self.wanted.network = network;
        for (client, _) in &self.subjects {
            let (client, server) = (*client, self.server);
            let up = Way {
                from: client,
                to: server,
            };
            let down = Way {
                from: server,
                to: client,
            };
            self.network.set_conditions_of(up, network.up);
            self.network.set_conditions_of(down, network.down);
        }
    }

    pub(super) const fn network(&self) -> &Network {
        &self.wanted.network
    }

    fn is_in(&self) -> bool {
        self.subjects
            .last()
            .is_none_or(|(_, last)| last.has_joined())
    }

    fn is_over(&self) -> bool {
        let last = self.subjects.last();
        last.is_some_and(|(_, last)| matches!(last.gateway().status(), Status::Ended(_)))
    }

    /// A step of the world, and of everybody in it.
    pub(super) fn step(&mut self) {
        let mut sessions: Vec<&mut dyn Session> = self.host.sessions();
        for (_, subject) in &mut self.subjects {
            sessions.push(subject.gateway_mut().session());
        }
        self.network.run_for(STEP, &mut sessions);
        let now = self.now();
        self.host.step(now, &mut Vec::new());
        for (_, subject) in &mut self.subjects {
            subject.act(now);
        }
        let taken: Vec<PilotId> = self.pilots().filter_map(|(_, pilot)| pilot).collect();
        for (_, subject) in &mut self.subjects {
            subject.recognise(&self.host, &taken);
        }
        self.measure(now);
    }

    fn pilots(&self) -> impl Iterator<Item = (String, Option<PilotId>)> {
        let subjects = self.subjects.iter();
        subjects.map(|(_, subject)| (subject.name.clone(), subject.pilot()))
    }

    /// Everybody as one client shows it, beside the truth.
    pub(super) fn pairs(&self, place: usize) -> Vec<Pair> {
        let everybody: Vec<_> = self.pilots().collect();
        let subject = self.subject(place);
        subject.map_or_else(Vec::new, |subject| subject.pairs(&self.host, &everybody))
    }

    fn measure(&mut self, now: Instant) {
        for place in 0..self.subjects.len() {
            let pairs = self.pairs(place);
            for pair in pairs {
                if self.lives.len() >= LIVES_KEPT {
                    self.lives.clear();
                }
                let since = *self.lives.entry(pair.life).or_insert(now);
                let Some(errors) = self.errors.get_mut(place) else {
                    continue;
                };
                if now.since(since) < SETTLING {
                    continue;
                }
                let samples = match pair.is_own {
                    true => &mut errors.own,
                    false => &mut errors.others,
                };
                match pair.error() {
                    Some(error) => samples.add(error),
                    None => errors.unseen += 1,
                }
            }
            let (Some((_, subject)), Some(errors)) =
                (self.subjects.get(place), self.errors.get_mut(place))
            else {
                continue;
            };
            let Some(stats) = subject.gateway().stats() else {
                continue;
            };
            let PeerStats {
                updates,
                prediction_error,
                ..
            } = stats;
            let age = updates.age(now);
            age.into_iter().for_each(|age| errors.ages.add(millis(age)));
            let error = prediction_error.map(f64::from);
            error
                .into_iter()
                .for_each(|error| errors.predictions.add(error));
        }
    }

    /// What was measured so far, client by client.
    pub(super) fn errors(&self) -> Vec<Errors> {
        let Some((began, before)) = &self.began else {
            return Vec::new();
        };
        let span = self.now().since(*began);
        let subjects = self.subjects.iter().zip(&self.errors).zip(before);
        let errors = subjects.map(|(((_, subject), errors), before)| {
            let now = traffic(subject);
            Errors {
                traffic: Traffic {
                    bytes_in: now.bytes_in.saturating_sub(before.bytes_in),
                    bytes_out: now.bytes_out.saturating_sub(before.bytes_out),
                    ..Traffic::NONE
                },
                span,
                round_trip: subject.gateway().stats().and_then(|stats| stats.round_trip),
                is_there: subject.gateway().status() == Status::Playing,
                ..errors.clone()
            }
        });
        errors.collect()
    }
}

fn traffic(subject: &Subject) -> Traffic {
    let stats = subject.gateway().stats();
    stats.map_or(Traffic::NONE, |stats| stats.traffic)
}
