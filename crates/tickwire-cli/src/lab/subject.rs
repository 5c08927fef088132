//! A client in the lab, of either game: it acts by itself and is compared with the truth.

use tickwire_demo::gateway::{ArenaClient, ClientGateway, Status, TileClient};
use tickwire_demo::recording::{Kit, Player, Start};
use tickwire_demo::tiles::{self, Cell, Direction};
use tickwire_demo::{Bot, EntityId, GameServer, Intent, Kind, PilotId, Random, Vec2, View};
use tickwire_session::Instant;

/// Steps between two decisions of a pilot or walker.
const DECISION_STEPS: u64 = 6;

/// Somebody whose picture is compared.
pub(super) struct Subject {
    pub(super) name: String,
    body: Body,
    steps: u64,
}

enum Body {
    Pilot {
        client: Box<dyn ArenaClient>,
        bot: Box<Bot>,
        /// Whose ship it is in truth, once it joined.
        pilot: Option<PilotId>,
        shown: View,
    },
    Walker {
        client: Box<dyn TileClient>,
        random: Random,
    },
}

/// Somebody where it is, and where a client shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) truth: Vec2,
    /// Nothing, if it is not shown at all.
    pub(super) shown: Option<Vec2>,
    pub(super) is_own: bool,
    /// Which life of whom this is: whoever enters anew jumps.
    pub(super) life: u64,
}

impl Pair {
    pub(super) fn error(&self) -> Option<f64> {
        self.shown.map(|shown| (shown - self.truth).length())
    }
}

impl Subject {
    pub(super) fn new(start: &Start, seed: u64) -> Result<Self, String> {
        let bot = Bot::new(seed);
        let start = Start {
            kit: Kit {
                loadout: bot.loadout(),
                ..Kit::default()
            },
            ..start.clone()
        };
        let body = match start.connect()? {
            Player::Arena(client) => Body::Pilot {
                client,
                bot: Box::new(bot),
                pilot: None,
                shown: View::default(),
            },
            Player::Tiles(client) => Body::Walker {
                client,
                random: Random::new(seed),
            },
        };
        Ok(Self {
            name: start.name,
            body,
            steps: seed,
        })
    }

    pub(super) fn gateway(&self) -> &dyn ClientGateway {
        match &self.body {
            Body::Pilot { client, .. } => &**client,
            Body::Walker { client, .. } => &**client,
        }
    }

    pub(super) fn gateway_mut(&mut self) -> &mut dyn ClientGateway {
        match &mut self.body {
            Body::Pilot { client, .. } => &mut **client,
            Body::Walker { client, .. } => &mut **client,
        }
    }

    /// Whether it plays, and who it is is known.
    pub(super) fn has_joined(&self) -> bool {
        let is_known = match &self.body {
            Body::Pilot { pilot, .. } => pilot.is_some(),
            Body::Walker { client, .. } => client.position().is_some(),
        };
        is_known && self.gateway().status() == Status::Playing
    }

    /// Takes the one pilot of its protocol that is nobody else's.
    pub(super) fn recognise(&mut self, host: &GameServer, taken: &[PilotId]) {
        if let Body::Pilot { pilot, .. } = &mut self.body
            && pilot.is_none()
        {
            let is_mine = |id: &PilotId| {
                !taken.contains(id) && host.gateways().any(|gateway| gateway.has_pilot(*id))
            };
            let mut pilots = host.arena().pilots().map(|(id, _)| id);
            *pilot = pilots.find(is_mine);
        }
    }

    pub(super) const fn pilot(&self) -> Option<PilotId> {
        match &self.body {
            Body::Pilot { pilot, .. } => *pilot,
            Body::Walker { .. } => None,
        }
    }

    /// Looks at the world and moves on in it, harming nobody.
    pub(super) fn act(&mut self, now: Instant) {
        self.gateway_mut().collect(now, &mut Vec::new());
        self.steps += 1;
        let decides = self.steps.is_multiple_of(DECISION_STEPS);
        match &mut self.body {
            Body::Pilot {
                client, bot, shown, ..
            } => {
                *shown = client.view(now);
                if decides {
                    let mut intent = bot.think(shown);
                    intent.fire = Intent::default().fire;
                    client.act(&intent);
                }
            }
            Body::Walker { client, random } if decides => {
                let ways = [
                    Direction::North,
                    Direction::East,
                    Direction::South,
                    Direction::West,
                ];
                let turns = random.fraction() * 4.0;
                let way = ways.iter().zip(1..).find(|(_, n)| turns < f64::from(*n));
                if let Some((way, _)) = way {
                    // What is in the way is no reason to stop.
                    client.walk(now, *way).ok();
                }
            }
            Body::Walker { .. } => {}
        }
    }

    /// What it shows, to be drawn.
    pub(super) const fn view(&self) -> Option<&View> {
        match &self.body {
            Body::Pilot { shown, .. } => Some(shown),
            Body::Walker { .. } => None,
        }
    }

    /// Everybody of whom the truth is known, beside where this client shows it.
    pub(super) fn pairs(
        &self,
        host: &GameServer,
        everybody: &[(String, Option<PilotId>)],
    ) -> Vec<Pair> {
        match &self.body {
            Body::Pilot { pilot, shown, .. } => pilot_pairs(host, *pilot, everybody, shown),
            Body::Walker { client, .. } => walker_pairs(host, &self.name, everybody, &**client),
        }
    }
}

fn pilot_pairs(
    host: &GameServer,
    own: Option<PilotId>,
    everybody: &[(String, Option<PilotId>)],
    view: &View,
) -> Vec<Pair> {
    let arena = host.arena();
    let ship = |pilot: PilotId| {
        let id = arena.pilot(pilot)?.ship()?;
        Some((life(id), arena.entity(id)?.position))
    };
    let is_ship = |seen: &&tickwire_demo::Seen| seen.kind == Kind::Ship;
    let ships = view.seen.iter().filter(is_ship);
    let mut others: Vec<Vec2> = ships
        .filter(|seen| view.own_ship != Some(seen.id))
        .map(|seen| seen.position)
        .collect();
    let mut pairs = Vec::new();
    if let Some((life, truth)) = own.and_then(ship) {
        pairs.push(Pair {
            truth,
            shown: view.own_ship().map(|ship| ship.position),
            is_own: true,
            life,
        });
    }
    let pilots = everybody.iter().filter_map(|(_, pilot)| *pilot);
    for (life, truth) in pilots.filter(|id| Some(*id) != own).filter_map(ship) {
        // Protocols have names of their own for things; of two ships there is no doubt, of more the nearest is
        // meant.
        let distance = |at: &Vec2| (*at - truth).length();
        let nearest = (0..others.len()).min_by(|a, b| {
            let [a, b] = [a, b].map(|place| others.get(*place).map_or(f64::MAX, distance));
            a.total_cmp(&b)
        });
        pairs.push(Pair {
            truth,
            shown: nearest.map(|place| others.swap_remove(place)),
            is_own: false,
            life,
        });
    }
    pairs
}

fn life(id: EntityId) -> u64 {
    u64::from(id.index()) << 16 | u64::from(id.generation())
}

fn walker_pairs(
    host: &GameServer,
    own: &str,
    everybody: &[(String, Option<PilotId>)],
    client: &dyn TileClient,
) -> Vec<Pair> {
    let Some(world) = host.tiles() else {
        return Vec::new();
    };
    let residents = client.others();
    let players = world.players().filter(|(_, entity)| {
        let mut names = everybody.iter().map(|(name, _)| name);
        names.any(|name| name == entity.name())
    });
    let pair = |(id, entity): (tiles::EntityId, &tiles::Entity)| {
        let is_own = entity.name() == own;
        let resident = residents.iter().find(|other| other.name == entity.name());
        let shown = match is_own {
            true => client.position(),
            false => resident.map(|resident| resident.position),
        };
        Pair {
            truth: place(entity.position()),
            shown: shown.map(place),
            is_own,
            life: u64::from(id.index()) << 16 | u64::from(id.generation()),
        }
    };
    players.map(pair).collect()
}

/// A cell as a point of the plane.
fn place(cell: Cell) -> Vec2 {
    Vec2 {
        x: f64::from(cell.x),
        y: f64::from(cell.y),
    }
}
