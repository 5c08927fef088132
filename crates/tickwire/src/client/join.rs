//! A client that finds its server by a code.

use std::marker::PhantomData;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use tickwire_net::Driver;
use tickwire_net::rendezvous::Meeting;
use tickwire_session::Instant;

use super::Client;
use crate::error::Error;
use crate::rendezvous::{Code, MemberEvent, Met, NotJoined, PathKind, Rendezvous, rendezvous_at};
use crate::{Game, PROTOCOL, Role};

/// How long the rendezvous server is waited for; a path is given up before.
const PATIENCE: Duration = Duration::from_secs(25);

/// Looking for a game and a path to it.
#[derive(Debug)]
pub struct Joining<G: Game> {
    /// Until there is a client.
    looking: Option<(Driver, Met)>,
    name: String,
    role: Role,
    deadline: Instant,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> Client<G> {
    /// Begins to look for the game with this code, as its host was told by
    /// [`Server::host`](crate::Server::host), and for a path to it.
    ///
    /// ```no_run
    /// # use tickwire::{Archetypes, Client, Game, Replicate};
    /// # #[derive(Clone, Default, Replicate)]
    /// # struct Ship { #[replicate(position, step = 0.01)] at: [f32; 2] }
    /// # #[derive(Archetypes)]
    /// # enum Thing { Ship(Ship) }
    /// # struct Duel;
    /// # impl Game for Duel {
    /// #     type Things = Thing; type Input = (); type ToServer = (); type ToClient = ();
    /// #     const HZ: u16 = 60;
    /// # }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut joining = Client::<Duel>::join("KXQJTR", "203.0.113.7:27478", "Ada")?;
    /// let mut client = loop {
    ///     if let Some(client) = joining.update()? {
    ///         break client;
    ///     }
    /// #   std::thread::sleep(std::time::Duration::from_millis(16));
    /// };
    /// if let Some((kind, to)) = client.path() {
    ///     println!("the path is {}, over {to}", kind.word());
    /// }
    /// loop {
    ///     client.update()?;
    /// #   std::thread::sleep(std::time::Duration::from_millis(16));
    /// }
    /// # }
    /// ```
    pub fn join(
        code: &str,
        rendezvous: impl ToSocketAddrs,
        name: &str,
    ) -> Result<Joining<G>, Error> {
        let code = code.parse().or(Err(Error::NotJoined(NotJoined::NoCode)))?;
        Self::join_with(code, rendezvous_at(rendezvous)?, name, Role::Player)
    }

    /// The same, with everything said.
    pub fn join_with(
        code: Code,
        rendezvous: Rendezvous,
        name: &str,
        role: Role,
    ) -> Result<Joining<G>, Error> {
        let mut driver = Driver::new()?;
        let meeting = Meeting::join(&mut driver, code, rendezvous)?;
        Ok(Joining {
            deadline: driver.now() + PATIENCE,
            looking: Some((driver, Met::new(meeting))),
            name: name.into(),
            role,
            game: PhantomData,
        })
    }

    /// How the host of a game that was joined by code is reached at the moment, and where.
    pub fn path(&self) -> Option<(PathKind, SocketAddr)> {
        self.met.as_ref()?.path
    }

    /// The next thing that happened to the path of a game that was joined by code. After
    /// [`PathLost`](MemberEvent::PathLost) join again by the code.
    pub fn meeting_event(&mut self) -> Option<MemberEvent> {
        self.met.as_mut()?.events.pop_front()
    }
}

impl<G: Game> Joining<G> {
    /// Goes on looking; the client, once a path was found. Call it once a frame; it does not wait.
    ///
    /// # Errors
    /// [`Error::NotJoined`] if the game cannot be joined. Other errors are the system's.
    pub fn update(&mut self) -> Result<Option<Client<G>>, Error> {
        let Some((driver, met)) = &mut self.looking else {
            return Ok(None);
        };
        let now = driver.now();
        driver.turn(now, &mut [met.meeting.session()])?;
        met.poll(driver)?;
        for event in &met.events {
            match event {
                MemberEvent::Refused(why) => {
                    return Err(Error::NotJoined(NotJoined::Refused(*why)));
                }
                MemberEvent::NoPath => return Err(Error::NotJoined(NotJoined::NoPath)),
                _ => {}
            }
        }
        if met.path.is_none() {
            return match driver.now() < self.deadline {
                true => Ok(None),
                false => Err(Error::NotJoined(NotJoined::NoAnswer)),
            };
        }
        let Some((mut driver, met)) = self.looking.take() else {
            return Ok(None);
        };
        let node = driver.open();
        let link = met
            .meeting
            .connect(&mut driver, node, PROTOCOL, None, Vec::new())?;
        let link = link.ok_or(Error::NotJoined(NotJoined::NoPath))?;
        let mut client = Client::new(driver, node, link, (&self.name, self.role));
        client.met = Some(met);
        Ok(Some(client))
    }
}
