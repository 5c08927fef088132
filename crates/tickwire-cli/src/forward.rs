//! Passing datagrams and streams on, between programs that know nothing of it.
//!
//! One leg faces whoever comes: the *entrance*. Each address that comes in has an exit of its own, a socket
//! towards one target or a QUIC link, so that whoever is behind can tell them apart. In: what the legs were told.
//! Out: the same, told to the other side. A [`Lag`] around the entrance makes it a bad network.

mod leg;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use tickwire_net::quic::{Client, TicketIssuer};
use tickwire_net::{Driver, NodeId};
use tickwire_session::{Addr, Ended, Instant, Session, StreamId};
use tickwire_sim::Lag;

use crate::capture::{self, CaptureFile};
use leg::{Leg, News, Overrun};

/// Silence after which an address that only sends datagrams is forgotten.
const IDLE: Duration = Duration::from_secs(60);

/// How long a ticket is good that this end makes for itself: until it arrives.
const TICKET: Duration = Duration::from_secs(60);

/// Between two looks for idle addresses.
const CLEANING: Duration = Duration::from_secs(1);

/// Bytes of a stream that wait at one side before the other is no longer read, and those at which it is
/// read again.
const HELD_FROM: usize = 256 * 1_024;
const HELD_UNTIL: usize = 64 * 1_024;

/// What comes in at one place, and goes on from another.
pub(crate) struct Forwarder {
    pub(crate) driver: Driver,
    /// What the entrance feels of the network, if it is to be bad.
    pub(crate) lag: Option<Lag>,
    /// What clients at the entrance send and get, in a file.
    pub(crate) capture: Option<CaptureFile>,
    /// By their nodes' positions. The first is the entrance.
    legs: Vec<Leg>,
    exits: Exits,
    /// Addresses that are passed on at a time. Beyond that, newcomers are not.
    most_routes: usize,
    /// Who talks to whom, both ways.
    routes: BTreeMap<Place, Route>,
    /// Which stream goes on as which, both ways.
    streams: BTreeMap<Half, Other>,
    /// Streams that are not read because their other half waits.
    held: Vec<Half>,
    next_cleaning: Instant,
}

/// A stream of one of the legs.
type Half = (usize, StreamId);

#[derive(Clone, Copy)]
struct Other {
    half: Half,
    /// Where whoever opened it came in.
    entered: Place,
}

/// A peer of one of the legs.
type Place = (usize, Addr);

struct Route {
    to: Place,
    used: Instant,
}

/// What each newcomer gets.
pub(crate) enum Exits {
    /// A link of the second leg.
    Links {
        links: NodeId,
        client: Box<Client>,
        tickets: TicketIssuer,
    },
    /// A node, and so a socket.
    Sockets {
        target: Addr,
        nodes: BTreeMap<usize, NodeId>,
    },
}

impl Exits {
    pub(crate) fn sockets(target: SocketAddr) -> Self {
        Self::Sockets {
            target: target.into(),
            nodes: BTreeMap::new(),
        }
    }
}

/// The leg that faces whoever comes.
const ENTRANCE: usize = 0;

impl Forwarder {
    /// The driver's first node is the entrance.
    pub(crate) fn new(driver: Driver, exits: Exits, most_routes: usize) -> Self {
        let legs = match exits {
            Exits::Links { .. } => 2,
            Exits::Sockets { .. } => 1,
        };
        Self {
            driver,
            lag: None,
            capture: None,
            legs: (0..legs).map(|_| Leg::default()).collect(),
            exits,
            most_routes,
            routes: BTreeMap::new(),
            streams: BTreeMap::new(),
            held: Vec::new(),
            next_cleaning: Instant::ZERO,
        }
    }

    /// Addresses that are passed on now.
    pub(crate) fn routes(&self) -> usize {
        self.routes.len() / 2
    }

    /// Waits for something to pass on, until then at most, and passes it on.
    pub(crate) fn turn(&mut self, until: Instant) -> anyhow::Result<()> {
        let mut legs = self.legs.iter_mut();
        let mut lagged = self.lag.as_mut().map(|lag| {
            let entrance = legs
                .next()
                .expect("the entrance is there from the beginning");
            lag.around(entrance)
        });
        let entrance = lagged.iter_mut().map(|lagged| lagged as &mut dyn Session);
        let others = legs.map(|leg| leg as &mut dyn Session);
        let mut sessions: Vec<_> = entrance.chain(others).collect();
        let turned = capture::run(self.capture.as_mut(), &mut sessions, ENTRANCE, |sessions| {
            self.driver.turn(until, sessions)
        });
        turned.context("waiting for sockets failed")?;
        for leg in 0..self.legs.len() {
            while let Some(news) = self.legs[leg].poll_news() {
                self.pass_on(leg, news)?;
            }
        }
        self.read_on();
        let now = self.driver.now();
        if now >= self.next_cleaning {
            self.next_cleaning = now + CLEANING;
            self.forget_idle(now);
        }
        Ok(())
    }

    /// Reads streams again whose other half has got rid of what waited.
    fn read_on(&mut self) {
        let (legs, streams) = (&mut self.legs, &self.streams);
        self.held.retain(|half| {
            let waits = |other: &Other| legs[other.half.0].waiting(other.half.1) > HELD_UNTIL;
            let is_held = streams.get(half).is_some_and(waits);
            if !is_held {
                legs[half.0].hold(half.1, false);
            }
            is_held
        });
    }

    fn pass_on(&mut self, leg: usize, news: News) -> anyhow::Result<()> {
        match news {
            News::Datagram { from, bytes } => {
                if let Some((other, to)) = self.route((leg, from))? {
                    self.legs[other].send_datagram(to, bytes);
                }
            }
            News::Accepted { on, peer } => match self.route((leg, peer))? {
                None => self.legs[leg].abort(on),
                Some((other, to)) => {
                    let entered = (leg, peer);
                    let [here, there] = [(leg, on), (other, self.legs[other].dial(to))];
                    for (half, other) in [(here, there), (there, here)] {
                        let other = Other {
                            half: other,
                            entered,
                        };
                        self.streams.insert(half, other);
                    }
                }
            },
            News::Bytes { on, bytes } => {
                let Some(&Other { half, .. }) = self.streams.get(&(leg, on)) else {
                    return Ok(());
                };
                let (other, to) = half;
                if let Err(Overrun) = self.legs[other].send(to, &bytes) {
                    self.legs[leg].abort(on);
                    self.part(leg, on);
                } else if self.legs[other].waiting(to) > HELD_FROM && self.legs[leg].is_reading(on)
                {
                    self.legs[leg].hold(on, true);
                    self.held.push((leg, on));
                }
            }
            News::Closed { on, why } => {
                if let Some((other, to)) = self.part(leg, on) {
                    match why {
                        Ended::Finished => self.legs[other].finish(to),
                        _ => self.legs[other].abort(to),
                    }
                }
            }
            News::LinkEnded { link } => self.forget((leg, link)),
        }
        Ok(())
    }

    /// Separates the two halves of a stream.
    fn part(&mut self, leg: usize, on: StreamId) -> Option<Half> {
        let Other { half, .. } = self.streams.remove(&(leg, on))?;
        self.streams.remove(&half);
        Some(half)
    }

    /// Where what comes from a place goes on; a newcomer at the entrance gets a way of its own.
    fn route(&mut self, from: Place) -> anyhow::Result<Option<Place>> {
        let now = self.driver.now();
        if let Some(route) = self.routes.get_mut(&from) {
            route.used = now;
            return Ok(Some(route.to));
        }
        if from.0 != ENTRANCE || self.routes.len() >= 2 * self.most_routes {
            return Ok(None);
        }
        let to = match &mut self.exits {
            Exits::Links {
                links,
                client,
                tickets,
            } => {
                client.ticket = tickets.issue(TICKET)?;
                let link = self.driver.connect(*links, Client::clone(client))?;
                (links.index(), link)
            }
            Exits::Sockets { target, nodes } => {
                let node = self.driver.open();
                let exit = node.index();
                if self.legs.len() <= exit {
                    self.legs.resize_with(exit + 1, Leg::default);
                }
                self.legs[exit] = Leg::default();
                nodes.insert(exit, node);
                (exit, *target)
            }
        };
        self.routes.insert(from, Route { to, used: now });
        self.routes.insert(
            to,
            Route {
                to: from,
                used: now,
            },
        );
        Ok(Some(to))
    }

    /// Ends a way, at both of its ends.
    fn forget(&mut self, place: Place) {
        let Some(Route { to, .. }) = self.routes.remove(&place) else {
            return;
        };
        self.routes.remove(&to);
        for (leg, addr) in [place, to] {
            self.legs[leg].unlink(addr);
        }
        if let Exits::Sockets { nodes, .. } = &mut self.exits
            && let Some(node) = nodes.remove(&place.0.max(to.0))
        {
            self.driver.close(node);
        }
    }

    fn forget_idle(&mut self, now: Instant) {
        let busy: BTreeSet<_> = self.streams.values().map(|other| other.entered).collect();
        let is_idle = |route: &Route| now.since(route.used) > IDLE;
        let is_over = |&(from, route): &(&Place, &Route)| {
            let back = self.routes.get(&route.to);
            from.0 == ENTRANCE
                && !busy.contains(from)
                && is_idle(route)
                && back.is_some_and(is_idle)
        };
        let over = self.routes.iter().filter(is_over);
        let over: Vec<_> = over.map(|(from, _)| *from).collect();
        over.into_iter().for_each(|place| self.forget(place));
    }
}
