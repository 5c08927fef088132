//! Whole programs on real sockets: many players through a bad network, the host's own player, and the end.

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tickwire::native;
use tickwire::net::{Driver, quic};
use tickwire::sim::{Chance, Conditions, Lag};
use tickwire::{
    Addr, Archetypes, Client, ClientConfig, ClientEvent, EndReason, Error, Events as _, Game,
    Phase, Replicate, Role, Server, ServerEvent, Session, Trust,
};

#[derive(Clone, Debug, Default, PartialEq, Replicate)]
struct Dot {
    #[replicate(position, step = 0.01)]
    at: [f32; 2],
}

#[derive(Archetypes)]
enum Thing {
    Dot(Dot),
}

struct Dots;

impl Game for Dots {
    type Things = Thing;
    type Input = bool;
    type ToServer = u32;
    type ToClient = u32;
    const HZ: u16 = 60;

    fn step(Thing::Dot(dot): &mut Thing, goes: &bool) {
        dot.at[0] += f32::from(u8::from(*goes)) * 0.1;
    }
}

const BOTS: usize = 200;

/// As many as one host may join at once.
const AT_ONCE: usize = 48;

/// Longest wait for anything, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long everybody plays, in sends of the server: twenty seconds where there is time.
fn sends() -> u64 {
    if env::var_os("SLOW_TESTS").is_some() {
        400
    } else {
        60
    }
}

/// A datagram in ten is lost, either way.
const LOSSY: Conditions = Conditions {
    latency: Duration::from_millis(20),
    jitter: Duration::from_millis(5),
    loss: Chance::percent(10),
    ..Conditions::IDEAL
};

/// One of many players: its session, its network, and the sends that it has seen.
struct Bot {
    client: native::Client<Dots>,
    lag: Lag,
    begun: Option<u64>,
}

impl Bot {
    /// Whether it has seen all that it should.
    fn is_done(&mut self) -> bool {
        while let Some(event) = self.client.poll_event() {
            let is_lost = matches!(event, ClientEvent::Ended { .. } | ClientEvent::Interrupted);
            assert!(!is_lost, "{event:?}");
        }
        let complete = self.client.replica().and_then(|it| it.newest_complete());
        let Some(send) = complete else { return false };
        send.0 >= *self.begun.get_or_insert(send.0) + sends()
    }
}

/// Runs two hundred players against a server, each through a network that loses a tenth.
fn play(mut server: Server<Dots>, connect: impl Fn(&mut Driver) -> Addr + Send + 'static) {
    // Set before the bots are dropped, and their connections with them.
    let is_done = Arc::new(AtomicBool::new(false));
    let done_flag = Arc::clone(&is_done);
    let bots = thread::spawn(move || {
        let mut driver = Driver::new().expect("a driver");
        let mut bots: Vec<Bot> = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let are_in = bots.iter().all(|it| it.client.phase() == Phase::Playing);
            for _ in 0..if are_in {
                AT_ONCE.min(BOTS - bots.len())
            } else {
                0
            } {
                let config = ClientConfig {
                    server: connect(&mut driver),
                    name: "bot".into(),
                    role: Role::Player,
                };
                let mut client = native::Client::new(driver.now(), config);
                client.set_input(true);
                bots.push(Bot {
                    client,
                    lag: Lag::new(LOSSY, LOSSY, bots.len() as u64),
                    begun: None,
                });
            }
            let until = driver.now() + Duration::from_millis(if are_in { 1_000 } else { 50 });
            let mut lagged: Vec<_> = bots
                .iter_mut()
                .map(|it| it.lag.around(&mut it.client))
                .collect();
            let sessions = lagged.iter_mut().map(|it| it as &mut dyn Session);
            let mut sessions: Vec<_> = sessions.collect();
            let ran = driver.run_until(until, &mut sessions);
            ran.expect("sockets can be waited for");
            let done = bots
                .iter_mut()
                .filter_map(|bot| bot.is_done().then_some(()));
            let done = done.count();
            if done == BOTS {
                done_flag.store(true, Ordering::SeqCst);
                return;
            }
            assert!(
                Instant::now() < deadline,
                "{done} of {} are done",
                bots.len()
            );
        }
    });
    while !bots.is_finished() {
        while let Some(event) = server.event() {
            match event {
                ServerEvent::Joined { player, .. } => {
                    server.spawn_own(player, Dot::default()).expect("it fits");
                }
                ServerEvent::Left { .. } | ServerEvent::Away(_) => {
                    assert!(is_done.load(Ordering::SeqCst), "{event:?}");
                }
                _ => {}
            }
        }
        server.advance_all().expect("dots can be stepped");
        server.tick().expect("sockets can be waited for");
    }
    bots.join().expect("every bot is done");
}

#[test]
fn two_hundred_players_on_a_bad_network_stay_over_quic() {
    let server = Server::<Dots>::bind("127.0.0.1:0").expect("a free port");
    let to = server.local_addr().expect("it is bound");
    play(server, move |driver| {
        let node = driver.open();
        let link = quic::Client {
            to,
            name: to.ip().to_string(),
            protocol: "native".into(),
            trust: Trust::ThisMachine,
            ticket: Vec::new(),
        };
        driver.connect(node, link).expect("a link")
    });
}

#[test]
fn two_hundred_players_on_a_bad_network_stay_in_the_clear() {
    let server = Server::<Dots>::bind_insecure("127.0.0.1:0").expect("a free port");
    let to = server.local_addr().expect("it is bound");
    play(server, move |driver| {
        driver.open();
        to.into()
    });
}

/// Steps a server and a client of it until something is so.
#[track_caller]
fn run_until(
    server: &mut Server<Dots>,
    client: &mut Client<Dots>,
    mut is_so: impl FnMut(&mut Server<Dots>, &mut Client<Dots>) -> bool,
) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so(server, client) {
        assert!(Instant::now() < deadline, "{:?}", client.phase());
        while let Some(event) = server.event() {
            match event {
                ServerEvent::Joined { player, .. } => {
                    server.spawn_own(player, Dot::default()).expect("it fits");
                }
                ServerEvent::Asked { question, message } => {
                    server.answer(question, Some(&message)).expect("it fits");
                }
                _ => {}
            }
        }
        server.advance_all().expect("dots can be stepped");
        server.tick().expect("sockets can be waited for");
        client.set_input(true);
        client.update().expect("it is not over");
    }
}

/// It plays as any other, by no socket; and another one after it.
#[test]
fn whoever_hosts_plays_without_a_socket() {
    let mut server = Server::<Dots>::bind("127.0.0.1:0").expect("a free port");
    for name in ["Ada", "Bob"] {
        let mut client = server.local_client(name).expect("a client");
        run_until(&mut server, &mut client, |_, client| {
            client.own::<Dot>().is_some_and(|(_, dot)| dot.at[0] > 1.0)
        });
        client.ask(&7).expect("it can be asked");
        run_until(&mut server, &mut client, |_, client| {
            let event = client.event();
            matches!(
                event,
                Some(ClientEvent::Answered {
                    answer: Some(7),
                    ..
                })
            )
        });
        assert_eq!(server.players().next().map(|(_, name, _)| name), Some(name));
        assert_eq!(client.prediction().corrections, 0);
        client.leave().expect("it leaves");
        while server.players().next().is_some() {
            server.tick().expect("sockets can be waited for");
            server.event();
        }
    }
    let mut received = 0;
    server
        .session()
        .visit_counters(&mut |_, count| received += count);
    assert_eq!(received, 0, "nothing was refused");
}

/// The game sees the event first; whoever does not look gets an error.
#[test]
fn a_client_that_is_over_says_why() {
    let mut server = Server::<Dots>::bind_insecure("127.0.0.1:0").expect("a free port");
    let addr = server.local_addr().expect("it is bound");
    let mut client = Client::<Dots>::connect_insecure(addr).expect("a client");
    run_until(&mut server, &mut client, |_, client| {
        client.own::<Dot>().is_some()
    });
    let player = client.player().expect("it plays");
    server.kick(player, "enough");
    let error = loop {
        server.tick().expect("sockets can be waited for");
        match client.update() {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), "the player was sent away: enough");
    assert!(matches!(
        error,
        Error::Ended {
            why: EndReason::Kicked,
            ..
        }
    ));
}
