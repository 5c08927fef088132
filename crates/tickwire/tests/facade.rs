//! What a program gets from this one crate: every name that it needs, and documentation whose links lead
//! somewhere. The programs are compiled, and run as far as they go without a network.

use std::path::Path;
use std::process::Command;

use tickwire::{Addr, Events, Instant, Session};

/// A place, as somebody types it.
fn somewhere() -> Addr {
    "127.0.0.1:4000".parse().expect("an address")
}

/// Both sides are sessions, of which nobody has heard anything yet.
fn check(mut client: impl Session + Events, mut server: impl Session + Events) {
    assert!(client.poll_event().is_none() && server.poll_event().is_none());
    assert!(!client.is_finished(), "it dials");
}

#[test]
fn an_address_is_typed_and_shown() {
    assert_eq!(somewhere().to_string(), "127.0.0.1:4000");
    assert!("nowhere at all".parse::<Addr>().is_err());
}

#[test]
fn a_pilot_of_lwar() {
    use tickwire::lwar::{
        Client, ClientConfig, ClientEvent, Controls, EndReason, Kind, Phase, SayError, Selection,
        Server, ServerConfig, ServerEvent, Shape,
    };
    let (server, name) = (somewhere(), "Ada".into());
    let mut client = Client::new(Instant::ZERO, ClientConfig { server, name });
    client.steer(Controls::default());
    let (ship, weapons) = (Kind::SHIP, [Kind::NONE; 4]);
    let selected: Result<(), SayError> = client.select(Selection { ship, weapons });
    assert_eq!(selected, Err(SayError::NotConnected));
    assert_ne!(client.phase(), Phase::Ended(EndReason::Full));
    let mut server = Server::new(Instant::ZERO, ServerConfig::default(), [7; 32]);
    while let Some(event) = server.poll_event() {
        if let ServerEvent::Selected { player, .. } = event {
            let shape = Shape::Place { x: 0, y: 0 };
            server.add(Kind::SHIP, player, shape).ok();
        }
    }
    // Whoever never chose a ship is told so, instead of waiting for ever.
    assert_ne!(ClientEvent::NotSelected, ClientEvent::Started);
    check(client, server);
}

#[test]
fn a_walker_of_pixmess() {
    use tickwire::pixmess::{
        ActError, Client, ClientConfig, ClientEvent, Direction, EndReason, Phase, Server,
        ServerConfig, ServerEvent, Version,
    };
    let config = ClientConfig::new(somewhere(), Version::Two, "Ada").expect("a name");
    let mut client = Client::new(Instant::ZERO, config);
    let walked: Result<(), ActError> = client.walk(Instant::ZERO, Direction::North);
    assert!(walked.is_err(), "nobody is let in yet");
    assert!(!matches!(client.phase(), Phase::Ended(EndReason::TimedOut)));
    let _: fn(&mut Client) -> Option<ClientEvent> = Events::poll_event;
    let _: fn(&mut Server) -> Option<ServerEvent> = Events::poll_event;
    check(client, Server::new(ServerConfig::default()));
}

#[test]
fn an_actor_of_cppevy() {
    use tickwire::cppevy::{
        Client, ClientConfig, ClientEvent, Delivery, EventId, Registry, Server, ServerConfig,
        ServerEvent,
    };
    let registry = Registry::new().with_event(EventId(9), Delivery::Assured);
    let (server, name) = (somewhere(), "Ada".into());
    let config = ClientConfig {
        server,
        name,
        registry,
    };
    let _: fn(&mut Client) -> Option<ClientEvent> = Events::poll_event;
    let _: fn(&mut Server) -> Option<ServerEvent> = Events::poll_event;
    let server = Server::new(Instant::ZERO, [7; 32], ServerConfig::default());
    check(Client::new(Instant::ZERO, config), server);
}

#[test]
fn a_level_of_opendrakan() {
    use tickwire::opendrakan::{
        Client, ClientConfig, ClientEvent, Level, Registry, Server, ServerConfig, ServerEvent,
    };
    let (server, registry) = (somewhere(), Registry::new());
    let delay = core::time::Duration::from_millis(100);
    let config = ClientConfig {
        server,
        registry,
        delay,
    };
    let path = "arena/arena.lvl".into();
    let level = Level {
        path,
        ..Level::default()
    };
    let _: fn(&mut Client) -> Option<ClientEvent> = Events::poll_event;
    let _: fn(&mut Server) -> Option<ServerEvent> = Events::poll_event;
    let served = ServerConfig {
        level,
        ..ServerConfig::default()
    };
    let server = Server::new(served, [7; 32]).expect("a good level");
    check(Client::new(Instant::ZERO, config), server);
}

#[test]
fn a_creature_of_reone() {
    use tickwire::reone::message::Compression;
    use tickwire::reone::{
        Client, ClientConfig, ClientEvent, Module, ScopeState, Server, ServerConfig, ServerEvent,
        Snapshot,
    };
    let config = ClientConfig::new(somewhere(), "Ada").expect("a name");
    let served = ServerConfig {
        module: Module::default(),
        compression: Compression::None,
        ..ServerConfig::default()
    };
    let _: fn(&mut Client) -> Option<ClientEvent> = Events::poll_event;
    let _: fn(&mut Server) -> Option<ServerEvent> = Events::poll_event;
    let _: fn(&Client) -> Option<&Snapshot> = Client::newest;
    assert_eq!(ScopeState::default().variable("kills"), 0);
    let server = Server::new(served, [7; 32]).expect("a good module");
    check(Client::new(Instant::ZERO, config), server);
}

/// Links of the pages that somebody reads first stay within this crate, and what they name is there: other
/// crates need not be documented for that.
#[test]
fn links_of_the_documentation_lead_somewhere() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("the target folder");
    let documented = Command::new(env!("CARGO"))
        .args(["doc", "--package", "tickwire", "--no-deps", "--offline"])
        .arg("--target-dir")
        .arg(target)
        .status();
    assert!(documented.expect("cargo is there").success());
    let root = target.join("doc/tickwire");
    for (page, wanted) in [
        (
            "",
            &[
                "lwar",
                "pixmess",
                "cppevy",
                "opendrakan",
                "reone",
                "native",
                "net",
            ][..],
        ),
        ("guide", &["../struct.Client.html", "../struct.Server.html"]),
        ("lwar", &["struct.Client.html", "struct.Selection.html"]),
        ("reone", &["struct.Client.html", "struct.Server.html"]),
    ] {
        let folder = root.join(page);
        let html = std::fs::read_to_string(folder.join("index.html")).expect("a page");
        let hrefs = html.split("href=\"").skip(1);
        let hrefs = hrefs.filter_map(|rest| rest.split(['"', '#']).next());
        // The source of other crates is theirs to show.
        let is_page = |href: &&str| {
            href.ends_with(".html") && !href.contains("://") && !href.contains("src/")
        };
        let links: Vec<_> = hrefs.filter(is_page).collect();
        for link in &links {
            let file = folder.join(link).canonicalize();
            let file = file.unwrap_or_else(|why| panic!("{page:?} has {link}: {why}"));
            let own = root.parent().expect("the documentation's folder");
            let is_help = ["help.html", "settings.html"]
                .map(|it| own.join(it))
                .contains(&file);
            assert!(
                file.starts_with(&root) || is_help,
                "{page:?} leaves by {link}"
            );
        }
        for name in wanted {
            let link = match name.ends_with(".html") {
                true => (*name).to_owned(),
                false => format!("{name}/index.html"),
            };
            assert!(links.contains(&link.as_str()), "{page:?} has no {link}");
        }
    }
}
