//! A game that is hosted and joined by a code, with a rendezvous server on real sockets.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tickwire::net::quic::{self, Identity};
use tickwire::net::rendezvous::PROTOCOL;
use tickwire::net::{Carries, Driver};
use tickwire::rendezvous::{NotJoined, PathKind, Refusal};
use tickwire::{Archetypes, Client, Error, Game, Phase, Replicate, Server, ServerEvent};
use tickwire_rendezvous::Lobby;

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
    type Input = ();
    type ToServer = ();
    type ToClient = ();
    const HZ: u16 = 60;
}

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A rendezvous server that relays nothing.
struct Rendezvous {
    driver: Driver,
    lobby: Lobby,
}

impl Rendezvous {
    fn new() -> (Self, String) {
        let mut driver = Driver::new().expect("the system takes it");
        let any = (Ipv4Addr::LOCALHOST, 0).into();
        let node = driver
            .bind(any, Carries::Datagrams)
            .expect("the system takes it");
        let server = quic::Server::new(Identity::generate().expect("the system takes it"))
            .protocol(PROTOCOL, node);
        driver.listen_on(node, server).expect("the system takes it");
        let at = driver
            .local_addr(node)
            .expect("the system takes it")
            .to_string();
        let lobby = Lobby::new(driver.now(), [1; 32], [2; 32]);
        (Self { driver, lobby }, at)
    }

    fn turn(&mut self) {
        let until = self.driver.now() + Duration::from_millis(5);
        self.driver
            .turn(until, &mut [&mut self.lobby])
            .expect("the system takes it");
        while let Some((on, _)) = self.lobby.poll_unnamed() {
            let ip = IpAddr::from(Ipv4Addr::LOCALHOST);
            self.lobby.name(self.driver.now(), on, Some(ip));
        }
    }
}

/// Ends the rendezvous server, also if an assertion fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_game_is_hosted_and_joined_by_a_code() {
    let (mut rendezvous, at) = Rendezvous::new();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                rendezvous.turn();
            }
        });
        let _end = End(&is_over);
        play(&at);
    });
}

fn play(at: &str) {
    let mut server = Server::<Dots>::host("dots", at).expect("the system takes it");
    let tick = |server: &mut Server<Dots>| {
        while let Some(event) = server.event() {
            if let ServerEvent::Joined { player, .. } = event {
                server
                    .spawn_own(player, Dot { at: [3.0, 4.0] })
                    .expect("the system takes it");
            }
        }
        server.tick().expect("the system takes it");
    };
    until("a code", || {
        tick(&mut server);
        server.code().is_some()
    });
    let code = server.code().expect("the system takes it").to_string();

    // The host's own player is there, too.
    let mut local = server.local_client("host").expect("the system takes it");
    let mut joining =
        Client::<Dots>::join(&code.to_lowercase(), at, "guest").expect("the system takes it");
    let mut client = None;
    until("a path", || {
        tick(&mut server);
        client = joining.update().expect("the system takes it");
        client.is_some()
    });
    let mut client = client.expect("the system takes it");
    assert_eq!(client.path().map(|(kind, _)| kind), Some(PathKind::Public));
    until("both play", || {
        tick(&mut server);
        local.update().expect("the system takes it");
        client.update().expect("the system takes it");
        [&local, &client]
            .iter()
            .all(|client| client.phase() == Phase::Playing && client.view::<Dot>().count() == 2)
    });

    let other = if code == "BCDFGH" { "BCDFGJ" } else { "BCDFGH" };
    let mut joining = Client::<Dots>::join(other, at, "guest").expect("the system takes it");
    let mut refused = None;
    until("no", || {
        refused = joining.update().err();
        refused.is_some()
    });
    let refused = refused.expect("the system takes it");
    assert!(
        matches!(
            refused,
            Error::NotJoined(NotJoined::Refused(Refusal::NoSession))
        ),
        "{refused}"
    );
    let wrong = Client::<Dots>::join("no code", at, "guest");
    assert!(matches!(wrong, Err(Error::NotJoined(NotJoined::NoCode))));
}
