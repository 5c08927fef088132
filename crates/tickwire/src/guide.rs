//! The guide: from the first program to a server for strangers. Documentation only.
//!
//! - [First program](#first-program)
//! - [Prediction](#prediction)
//! - [Interest and audiences](#interest-and-audiences)
//! - [Messages, events and questions](#messages-events-and-questions)
//! - [Bulk](#bulk)
//! - [Testing with the simulator](#testing-with-the-simulator)
//! - [Through routers](#through-routers)
//! - [Going to production](#going-to-production)
//! - [Coming from renet, lightyear or ENet](#coming-from-renet-lightyear-or-enet)
//! - [What Tickwire does not do](#what-tickwire-does-not-do)
//!
//! # First program
//!
//! A game is a set of types that server and clients share, and one rule. This one is used in the whole guide:
//!
//! ```
#![doc = include_str!("guide/duel.rs")]
//! ```
//!
//! Each field says how exactly it travels; [`Replicate`](macro@crate::Replicate) has the table. A position that is kept in
//! steps of 0.01 costs a few bits while it moves evenly and nothing while it rests. Values are rounded once,
//! when the server sets them, so everybody holds the same numbers. A value beyond its range is an error of
//! [`set`](crate::Server::set) that names the entity and the field.
//!
//! The server keeps the game's state in whatever form it likes, and says what is to be seen of it:
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Server, ServerEvent};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut server = Server::<Duel>::bind("127.0.0.1:7777")?;
//!     server.spawn(Mine { at: [30.0, 0.0] })?;
//!     loop {
//!         while let Some(event) = server.event() {
//!             if let ServerEvent::Joined { player, .. } = event {
//!                 server.spawn_own(player, Ship { health: 100, ..Ship::default() })?;
//!             }
//!         }
//!         server.advance_all()?; // every player's input, through Duel::step
//!         server.tick()?; // sends, receives, and waits for the next tick
//!     }
//! }
//! ```
//!
//! A player's own entity goes when the player has left. The client never waits. It says what the player wants, takes
//! what happened, and draws what is in view. Once it is over, [`update`](crate::Client::update) is an error that says
//! why:
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Client, EntityMap};
//!
//! struct Sprite;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut client = Client::<Duel>::connect("127.0.0.1:7777")?;
//!     let mut sprites = EntityMap::default();
//!     loop {
//!         client.set_input(Stick { thrust: true, ..Stick::default() });
//!         client.update()?;
//!         while let Some(event) = client.event() {
//!             sprites.follow(&event, |_id, _archetype| Sprite);
//!         }
//!         for (id, ship) in client.view::<Ship>() {
//!             if let Some(Sprite) = sprites.get(id) {
//!                 println!("{id} at {:?}", ship.at);
//!             }
//!         }
//! #       std::thread::sleep(std::time::Duration::from_millis(16));
//!     }
//! }
//! ```
//!
//! An engine with a loop of its own calls [`Server::update`](crate::Server::update), which does not wait and
//! says how many ticks are due, and [`end_tick`](crate::Server::end_tick) after each. Whoever hosts and plays
//! takes a [`local_client`](crate::Server::local_client), which needs no socket. Wrong types are found at once: a client whose types
//! differ from the server's is told which field.
//!
//! What a field may be, and what its attributes mean, stands at [`Replicate`](derive@crate::Replicate). With the
//! feature `glam`, a field may be its `Vec2`, `Vec3` or `Quat`.
//!
//! # Prediction
//!
//! [`Game::step`](crate::Game::step) is all there is to write. The server calls it in
//! [`advance`](crate::Server::advance) with the input that the player sent for this tick; the player's client
//! calls it as soon as the input is set. So [`Client::own`](crate::Client::own) answers at once, whatever the
//! network.
//!
//! - Both sides step the rounded value. As long as `step` depends on nothing but its arguments, they agree to
//!   the bit and there is nothing to correct.
//! - What else befalls the entity (a push, damage), the server sets. The client takes the true state, steps the
//!   inputs that the server has not seen again, and lets the difference fade. A large one jumps.
//! - [`Client::prediction`](crate::Client::prediction) counts corrections. Many of them on a good network mean
//!   that `step` reads something that the client does not have.
//! - Everything else is shown a moment late, between two states that arrived. How late, follows the network:
//!   [`Client::delay`](crate::Client::delay).
//!
//! A shot is judged by what the shooter saw: [`past`](crate::Server::past) is the world at the moment that the
//! player was shown when it did this, at most
//! [`REWIND_MAX`](crate::native::limits::REWIND_MAX) ago.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Past, PlayerId, Server, WorldError};
//!
//! /// After `advance_all`, for each player.
//! fn shoot(server: &mut Server<Duel>, player: PlayerId) -> Result<(), WorldError> {
//!     let Some((own, shooter)) = server.own(player).and_then(|id| Some((id, server.get::<Ship>(id)?))) else {
//!         return Ok(());
//!     };
//!     if !server.input(player).fire {
//!         return Ok(());
//!     }
//!     let hit = server.past(player).and_then(|past| aimed_at(&past, own, &shooter));
//!     // What was aimed at is in the past; what is hit is the ship as it is now, if it still is.
//!     if let Some((id, mut ship)) = hit.and_then(|id| Some((id, server.get::<Ship>(id)?))) {
//!         ship.health = ship.health.saturating_sub(10);
//!         server.set(id, &ship)?;
//!     }
//!     Ok(())
//! }
//!
//! fn aimed_at(past: &Past<'_, Thing>, own: EntityId, shooter: &Ship) -> Option<EntityId> {
//!     let mut others = past.iter::<Ship>().filter(|(id, _)| *id != own);
//!     others.find(|(_, ship)| is_in_line(shooter, ship)).map(|(id, _)| id)
//! }
//!
//! fn is_in_line(shooter: &Ship, other: &Ship) -> bool {
//!     let [x, y] = [other.at[0] - shooter.at[0], other.at[1] - shooter.at[1]];
//!     let (sin, cos) = shooter.heading.sin_cos();
//!     x * cos + y * sin > 0.0 && (y * cos - x * sin).abs() < 1.0
//! }
//! # fn main() {}
//! ```
//!
//! The example `own_types_with_prediction` prints what pilot, server and onlooker see at 150 ms; `lag_lab`
//! draws it on four networks.
//!
//! ## Shots that are there at once
//!
//! A shot would appear a round trip after its key, far from the gun that moved on meanwhile. So a client may spawn it
//! ahead of the server, for the input that fires it. [`Game::spawns`](crate::Game::spawns) says what comes of an input,
//! [`Game::coast`](crate::Game::coast) how it moves; [`Client::provisional`](crate::Client::provisional) has it until
//! the server's own comes into view, which then moves on from there, as far ahead as the player's own entity.
//! [`ClientEvent::Replaced`](crate::ClientEvent::Replaced) says which is which, so that a sprite can be kept. The server
//! decides, of course: it spawns with [`spawn_from_input`](crate::Server::spawn_from_input), or not, and then what was
//! ahead goes after [`PROVISIONAL_PATIENCE`](crate::native::limits::PROVISIONAL_PATIENCE).
//!
//! ```
//! use std::collections::BTreeMap;
//! use tickwire::{
//!     Archetypes, Client, ClientEvent, EntityMap, Game, PlayerId, ProvisionalId, Replicate, Server, WorldError,
//! };
//!
//! #[derive(Clone, Debug, Default, Replicate)]
//! struct Gun { #[replicate(position, step = 0.01)] at: [f32; 2] }
//!
//! #[derive(Clone, Debug, Default, Replicate)]
//! struct Shot { #[replicate(position, step = 0.01)] at: [f32; 2] }
//!
//! #[derive(Archetypes)]
//! enum Thing { Gun(Gun), Shot(Shot) }
//!
//! struct Range;
//!
//! impl Game for Range {
//!     type Things = Thing;
//!     type Input = bool; // the trigger
//!     type ToServer = ();
//!     type ToClient = ();
//!     const HZ: u16 = 60;
//!
//!     fn spawns(own: &Thing, trigger: &bool) -> Option<Thing> {
//!         match own {
//!             Thing::Gun(gun) if *trigger => Some(Thing::Shot(Shot { at: gun.at })),
//!             _ => None,
//!         }
//!     }
//!
//!     fn coast(thing: &mut Thing) {
//!         if let Thing::Shot(shot) = thing {
//!             shot.at[0] += 0.5;
//!         }
//!     }
//! }
//!
//! /// On the server, in each tick and for each player.
//! fn fire(server: &mut Server<Range>, player: PlayerId) -> Result<(), WorldError> {
//!     let trigger = server.input(player);
//!     let own = server.own(player).and_then(|id| server.get::<Gun>(id));
//!     if let Some(shot) = own.and_then(|gun| Range::spawns(&Thing::Gun(gun), &trigger)) {
//!         server.spawn_from_input(player, shot)?;
//!     }
//!     Ok(())
//! }
//!
//! struct Sprite;
//!
//! /// On the client, in each frame.
//! fn draw(
//!     client: &mut Client<Range>,
//!     ahead: &mut BTreeMap<ProvisionalId, Sprite>,
//!     sprites: &mut EntityMap<Sprite>,
//! ) {
//!     while let Some(event) = client.event() {
//!         sprites.follow(&event, |_id, _archetype| Sprite);
//!         if let ClientEvent::Replaced { provisional, by } = event {
//!             // The same sprite stands for the server's shot, with the sparks that it has made so far.
//!             ahead.remove(&provisional).map(|sprite| sprites.insert(by, sprite));
//!         }
//!     }
//!     for (id, shot) in client.provisional::<Shot>() {
//!         let _sprite = ahead.entry(id).or_insert(Sprite);
//!         println!("a shot at {:?}", shot.at);
//!     }
//!     for (_, shot) in client.view::<Shot>() {
//!         println!("a shot at {:?}", shot.at);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # Interest and audiences
//!
//! Two things decide whether a client is sent an entity. It has to be near: [`Game::SIGHT`](crate::Game::SIGHT)
//! is how far a player sees from its own entity, by the field marked `position`. An entity without a position
//! is near everybody. Whoever has no entity of its own, as a spectator, looks from the one that you choose
//! ([`look_from`](crate::Server::look_from)). And the player has to be part of its [`Audience`](crate::Audience): everyone, some
//! groups, or one player. What a client may not see is not sent to it, so no cheat can show it.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Audience, Groups, PlayerId, Server, WorldError};
//!
//! const RED: Groups = Groups(1 << 0);
//! const BLUE: Groups = Groups(1 << 1);
//!
//! /// A mine that only the red team sees.
//! fn hide(server: &mut Server<Duel>, player: PlayerId, at: [f32; 2]) -> Result<(), WorldError> {
//!     server.set_groups(player, RED);
//!     server.spawn_for(Audience::Groups(RED), Mine { at })?;
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! Private facts of an entity are an entity of their own with a smaller audience: there are no private fields.
//! At most [`AUDIENCES_MAX`](crate::replica::limits::AUDIENCES_MAX) audiences live at once, which is plenty for
//! teams and one for each of some players.
//!
//! Each client has a budget of bytes for each send ([`ServerConfig::budget`](crate::ServerConfig::budget)). When
//! more changed than fits, what has waited longest goes first; a player's own entity always goes. What two
//! clients hold alike is encoded once for both: the example `thousand_entities` counts it.
//!
//! What each field costs, `tickwire train` shows of a recording of the arena, and
//! [`native::Training`](crate::native::Training) of any game's client. Both fit a prior to it, 8 KiB at most, with which
//! the same game takes fewer bits: [`Game::PRIOR`](crate::Game::PRIOR).
//!
//! # Messages, events and questions
//!
//! | to say | server | client | arrives |
//! |---|---|---|---|
//! | what must be heard | [`say`](crate::Server::say) | [`say`](crate::Client::say) | once, in order, also across a broken connection |
//! | what happens in this tick | [`happen`](crate::Server::happen) | an input | the same, and when that tick is shown |
//! | what is soon outdated | [`say_latest`](crate::Server::say_latest) | [`say_latest`](crate::Client::say_latest) | perhaps; never after a newer one of its channel |
//! | what needs an answer | [`answer`](crate::Server::answer) | [`ask`](crate::Client::ask) | one answer, a refusal, or nothing after [`ANSWER_PATIENCE`](crate::native::limits::ANSWER_PATIENCE) |
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Question, SayError, Server, ServerEvent, To};
//!
//! /// Mines take a moment to be made: those who asked for some are in the yard's list.
//! fn listen(
//!     server: &mut Server<Duel>,
//!     yard: &mut Vec<(Question, u8)>,
//!     event: ServerEvent<Duel>,
//! ) -> Result<(), SayError> {
//!     match event {
//!         ServerEvent::Said { player, message: Up::Chat { text } } => {
//!             server.say(To::AllBut(player), &Down::Chat { text })
//!         }
//!         ServerEvent::Asked { question, message: Up::BuyMines { count } } if count <= 3 => {
//!             yard.push((question, count));
//!             Ok(())
//!         }
//!         ServerEvent::Asked { question, .. } => server.answer(question, None),
//!         _ => Ok(()),
//!     }
//! }
//!
//! /// Mines are ready; who asked may be gone, which is no matter.
//! fn deliver(server: &mut Server<Duel>, yard: &mut Vec<(Question, u8)>) -> Result<(), SayError> {
//!     yard.drain(..).try_for_each(|(question, count)| server.answer(question, Some(&Down::Bought { count })))
//! }
//!
//! /// Everybody sees the explosion with the tick that it belongs to, not before the shot.
//! fn explode(server: &mut Server<Duel>, ship: EntityId) -> Result<(), SayError> {
//!     server.happen(To::All, &Down::Exploded { ship })
//! }
//! # fn main() {}
//! ```
//!
//! A message has at most [`MESSAGE_MAX`](crate::native::limits::MESSAGE_MAX) bytes, and a client may say
//! [`MESSAGES_A_SECOND`](crate::native::limits::MESSAGES_A_SECOND): whoever says more is sent away, because
//! dropping one would break the promise that what is said arrives. All bounds are in
//! [`native::limits`](crate::native::limits).
//!
//! # Bulk
//!
//! Maps, skins, mods: the server [offers](crate::Server::offer) named resources, a client
//! [fetches](crate::Client::fetch) them. A resource goes in pieces, and nothing else waits behind more than one of
//! them. After a broken connection it goes on where it was. It is handed out only if its SHA-256 is what the
//! server's list says.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::{Client, ClientEvent};
//!
//! fn fetch_map(client: &mut Client<Duel>) {
//!     client.fetch("map");
//! }
//!
//! fn handle(client: &Client<Duel>, event: ClientEvent<Duel>) {
//!     match event {
//!         ClientEvent::Fetched { name, bytes } => println!("{name}: {} bytes", bytes.len()),
//!         ClientEvent::NotFetched { name } => println!("there is no {name}"),
//!         _ => {}
//!     }
//!     if let Some(so_far) = client.fetched() {
//!         println!("{} of {} bytes", so_far.have, so_far.of);
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! # Testing with the simulator
//!
//! [`Server`](crate::Server) and [`Client`](crate::Client) are a session and a driver for sockets. The sessions,
//! [`native::Server`](crate::native::Server) and [`native::Client`](crate::native::Client), have the same
//! methods, and no socket, clock or thread: they run on a [`Network`](crate::sim::Network) that loses, delays
//! and reorders as its seed says, in virtual time. A test that fails with a seed fails with it again.
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use std::time::Duration;
//! use tickwire::native::{Client, Server};
//! use tickwire::sim::{Conditions, Network, addr};
//! use tickwire::{ClientConfig, Events, Role, ServerConfig, ServerEvent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut net = Network::new(42);
//! net.set_conditions(Conditions::MOBILE);
//! let (here, there) = (addr::machine(1, 7_777), addr::machine(2, 5_000));
//! net.add_node(here);
//! net.add_node(there);
//! let mut server = Server::<Duel>::new(net.now(), [7; 32], ServerConfig::default());
//! let config = ClientConfig { server: here, name: "Ada".into(), role: Role::Player };
//! let mut client = Client::<Duel>::new(net.now(), config);
//!
//! for tick in 0..600 {
//!     while let Some(event) = server.poll_event() {
//!         if let ServerEvent::Joined { player, .. } = event {
//!             server.spawn_own(player, Ship::default())?;
//!         }
//!     }
//!     server.advance_all()?;
//!     server.end_tick(net.now());
//!     client.set_input(Stick { thrust: tick < 400, ..Stick::default() });
//!     net.run_for(Duration::from_secs(1) / 60, &mut [&mut server, &mut client]);
//!     client.update(net.now());
//! }
//!
//! let (id, own) = client.own::<Ship>().ok_or("Ada has no ship")?;
//! assert!(own.at[0] > 100.0);
//! assert_eq!(server.get(id), Some(own));
//! # Ok(())
//! # }
//! ```
//!
//! Rules written against `native::Server` run in such a test and, through
//! [`session_mut`](crate::Server::session_mut), on sockets. The example `lossy_test` does that.
//! [`Network`](crate::sim::Network) also cuts nodes off from each other, restarts them and sets their clocks
//! wrong; [`Scenario`](crate::sim::Scenario) runs many seeds and names the one that failed.
//!
//! # Through routers
//!
//! A player at home can be a server, too. Somebody runs a *rendezvous server* on a public machine (`tickwire
//! rendezvous`; `docs/RENDEZVOUS.md` says how). [`Server::host`](crate::Server::host) registers the game there and is
//! told a code of six letters; [`Client::join`](crate::Client::join) finds the game by it. No address is typed, no
//! router touched.
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use tickwire::rendezvous::MemberEvent;
//! use tickwire::{Client, Error, Joining, Server};
//!
//! const RENDEZVOUS: &str = "203.0.113.7:27478";
//!
//! fn host() -> Result<(), Error> {
//!     let mut server = Server::<Duel>::host("Ada's duel", RENDEZVOUS)?;
//!     loop {
//!         while let Some(event) = server.meeting_event() {
//!             if let MemberEvent::Registered { code } = event {
//!                 println!("tell your friends: {code}");
//!             }
//!         }
//!         server.tick()?;
//!     }
//! }
//!
//! /// What the player looks at.
//! enum Screen {
//!     Looking(Joining<Duel>),
//!     Playing(Client<Duel>),
//! }
//!
//! fn join(code: &str) -> Result<Screen, Error> {
//!     Ok(Screen::Looking(Client::join(code, RENDEZVOUS, "Grace")?))
//! }
//!
//! /// Once a frame: the screen after it.
//! fn update(screen: Screen, code: &str) -> Result<Screen, Error> {
//!     match screen {
//!         Screen::Looking(mut joining) => {
//!             let found = joining.update()?;
//!             Ok(found.map_or(Screen::Looking(joining), Screen::Playing))
//!         }
//!         Screen::Playing(mut client) => {
//!             client.update()?;
//!             while let Some(event) = client.meeting_event() {
//!                 match event {
//!                     MemberEvent::Path { kind, to } => println!("the path is {}, over {to}", kind.word()),
//!                     MemberEvent::PathLost { .. } => return join(code),
//!                     _ => {}
//!                 }
//!             }
//!             Ok(Screen::Playing(client))
//!         }
//!     }
//! }
//! # fn main() {}
//! ```
//!
//! The path is [local, public, punched or relayed](crate::rendezvous::PathKind), in this order of preference, and may
//! change while one plays: the connection stays the same. The client accepts only the key whose fingerprint the
//! rendezvous server passed on.
//!
//! # Going to production
//!
//! - **Encryption.** [`bind`](crate::Server::bind) and [`connect`](crate::Client::connect) speak QUIC. On any
//!   address but loopback the server's key is kept in the user's state folder, so that its
//!   [`fingerprint`](crate::Server::fingerprint) stays. Give clients address and fingerprint and use
//!   [`connect_pinned`](crate::Client::connect_pinned); `connect` alone trusts whoever is there the first time.
//!   A key of your own goes to [`listen`](crate::Server::listen).
//! - **Who is who.** A name proves nothing. Let your own service hand out a secret and have the client
//!   [`ask`](crate::Client::ask) to be let in with it; [`kick`](crate::Server::kick) whoever cannot.
//! - **Bounds.** [`ServerConfig`](crate::ServerConfig) sets players, entities and bytes a send. Everything else
//!   that a stranger can make grow has a bound in [`native::limits`](crate::native::limits).
//! - **Broken connections.** A client comes back by itself as the same player for
//!   [`RESUME_PATIENCE`](crate::native::limits::RESUME_PATIENCE). The game hears
//!   [`Away`](crate::ServerEvent::Away), [`Back`](crate::ServerEvent::Back) or, in the end,
//!   [`Left`](crate::ServerEvent::Left), with which its own entity goes.
//! - **Load.** A server that is too slow leaves out time rather than falling behind, and reports
//!   [`Late`](crate::ServerEvent::Late). While it is late, nobody new is let in.
//! - **Figures.** [`visit_peers`](crate::Session::visit_peers) and
//!   [`visit_counters`](crate::Session::visit_counters) of [`session`](crate::Server::session) give round trips,
//!   bytes and what was refused, and why, under the same names for every protocol.
//! - **The end.** [`shut_down`](crate::Server::shut_down) tells everybody; a process that is just killed is found
//!   out after [`SILENCE`](crate::native::limits::SILENCE).
//!
//! A server with a certificate that an authority signed, a client that trusts this authority, and who has a slow
//! network:
//!
//! ```no_run
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/duel.rs"));
//! use std::error::Error;
//! use std::path::Path;
//! use std::time::Duration;
//! use tickwire::session::PeerStats;
//! use tickwire::{Client, Form, Identity, Role, Server, ServerAt, ServerConfig, Session as _, Trust};
//!
//! fn open() -> Result<Server<Duel>, Box<dyn Error>> {
//!     let identity = Identity::from_pem_files(Path::new("chain.pem"), Path::new("key.pem"))?;
//!     // On a wide network, time is worth more than bytes.
//!     let config = ServerConfig { players: 64, form: Form::Packed, ..ServerConfig::default() };
//!     Ok(Server::listen("0.0.0.0:7777".parse()?, config, identity)?)
//! }
//!
//! fn look_on() -> Result<Client<Duel>, Box<dyn Error>> {
//!     let server = ServerAt {
//!         addr: "203.0.113.7:7777".parse()?,
//!         name: "duel.example".into(),
//!         trust: Trust::Authorities("authorities.pem".into()),
//!     };
//!     Ok(Client::connect_with(server, "Ada", Role::Spectator)?)
//! }
//!
//! fn tell_who_is_far(server: &Server<Duel>) {
//!     server.session().visit_peers(&mut |peer: &PeerStats<'_>| match peer.round_trip {
//!         Some(far) if far > Duration::from_millis(200) => println!("{} is {far:?} away", peer.name),
//!         _ => {}
//!     });
//! }
//! # fn main() {}
//! ```
//!
//! # Coming from renet, lightyear or ENet
//!
//! | Tickwire | renet | lightyear | ENet |
//! |---|---|---|---|
//! | [`Server`](crate::Server), [`Client`](crate::Client) | `RenetServer`, `RenetClient` and a transport | plugins of a Bevy app | `ENetHost` |
//! | [`PlayerId`](crate::PlayerId) | `ClientId` | the link's entity and a peer id | `ENetPeer` |
//! | [`server.tick`](crate::Server::tick), [`client.update`](crate::Client::update) | `update`, and the transport's `update` and `send_packets` | systems in the schedule | `enet_host_service` |
//! | [`Joined`, `Left`](crate::ServerEvent) | `ServerEvent::ClientConnected`, `ClientDisconnected` | components on the link's entity | `ENET_EVENT_TYPE_CONNECT`, `…_DISCONNECT` |
//! | [`say`](crate::Server::say) | a channel that is `ReliableOrdered` | a message on a reliable ordered channel | `ENET_PACKET_FLAG_RELIABLE` |
//! | [`say_latest`](crate::Server::say_latest) | none: numbered by the game | a sequenced unreliable channel | an unreliable packet, which is sequenced |
//! | [`spawn`, `set`, `despawn`](crate::Server::set) | messages of your own | components of an entity with `Replicate` | messages of your own |
//! | [`view`](crate::Client::view) | your own | `InterpolationTarget` | your own |
//! | [`step`, `own`](crate::Game::step) | your own | `PredictionTarget`, rollback | your own |
//! | [`spawns`, `provisional`](crate::Game::spawns) | your own | pre-spawned entities | your own |
//! | [`SIGHT`](crate::Game::SIGHT), [`Groups`](crate::Groups) | your own | rooms, visibility per entity | your own |
//! | [`past`](crate::Server::past) | your own | lag compensation with Avian | your own |
//! | [`offer`, `fetch`](crate::Server::offer) | a reliable message, sliced | none | a reliable packet, fragmented |
//! | [`ask`, `answer`](crate::Client::ask) | none | none: events | none |
//! | [`Fingerprint`](crate::Fingerprint) | connect token | connect token, or a certificate | none |
//! | [`sim`](crate::sim) | none | `LinkConditioner` | none |
//!
//! The names are those of renet 2, lightyear 0.28 and ENet 1.3. From renet or ENet: most of what you send as messages is state. Set it on an entity, and lost datagrams are
//! no longer your concern. From lightyear: prediction covers the player's own entity and not the whole world,
//! and you decide in your own loop when things happen.
//!
//! # What Tickwire does not do
//!
//! - Browsers, Steam, consoles, an interface for C.
//! - Matchmaking by skill, voice, accounts: other programs do that.
//! - Deterministic lockstep and rollback of a whole world. What others did is shown a moment late instead.
//! - Worlds across several servers.
//! - A stable wire: both sides have to be of the same version until 1.0.
