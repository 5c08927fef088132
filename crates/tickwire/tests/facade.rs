//! What a program gets from this one crate: every name that it needs, and documentation whose links lead
//! somewhere. The programs are compiled, and run as far as they go without a network.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use tickwire::{Addr, Events, Instant};

/// A place, as somebody types it.
fn somewhere() -> Addr {
    "127.0.0.1:4000".parse().expect("an address")
}

/// Both sides are sessions, of which nobody has heard anything yet.
fn check(mut client: impl Events, mut server: impl Events) {
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
        Client, ClientConfig, ClientEvent, Controls, EndReason, Header, Kind, Phase, SayError,
        Selection, Server, ServerConfig, ServerEvent, Shape,
    };
    use tickwire::wire::{DecodeError, Reader};
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
    // What somebody else's program sent is read without a session.
    let cut = Header::decode(&mut Reader::new(&[0xf2, 0x27]));
    assert!(matches!(
        cut,
        Err(DecodeError::Truncated { field: "appId", .. })
    ));
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
    use tickwire::state::SightRange;
    let config = ClientConfig::new(somewhere(), "Ada").expect("a name");
    let served = ServerConfig {
        module: Module::default(),
        compression: Compression::None,
        sight: SightRange {
            radius: 80.0,
            margin: 0.1,
        },
        ..ServerConfig::default()
    };
    let _: fn(&mut Client) -> Option<ClientEvent> = Events::poll_event;
    let _: fn(&mut Server) -> Option<ServerEvent> = Events::poll_event;
    let _: fn(&Client) -> Option<&Snapshot> = Client::newest;
    assert_eq!(ScopeState::default().variable("kills"), 0);
    let server = Server::new(served, [7; 32]).expect("a good module");
    check(Client::new(Instant::ZERO, config), server);
}

/// A game of one's own, whose server counts the trees for whoever asks.
mod wood {
    use std::error::Error;
    use tickwire::{
        Archetype, Archetypes, Asked, Client, ClientEvent, Fingerprint, Game, Identity,
        PredictionFigures, Question, Replicate, Role, Server, ServerAt, ServerConfig, ServerEvent,
        Tick, Trust, World,
    };

    #[derive(Clone, Debug, Default, PartialEq, Replicate)]
    struct Tree {
        #[replicate(position, step = 0.1)]
        at: [f32; 2],
    }
    #[derive(Clone, Debug, Default, PartialEq, Replicate)]
    struct Walker {
        #[replicate(position, step = 0.1)]
        at: [f32; 2],
    }
    #[derive(Archetypes)]
    enum Thing {
        Tree(Tree),
        Walker(Walker),
    }
    struct Wood;
    impl Game for Wood {
        type Things = Thing;
        type Input = bool;
        type ToServer = ();
        type ToClient = u32;
        const HZ: u16 = 60;

        fn step(own: &mut Thing, goes: &bool) {
            if let (Thing::Walker(walker), true) = (own, goes) {
                walker.at[0] += 0.1;
            }
        }
    }

    /// Rules that are about any type read the world of the server.
    fn count<A: Archetypes, T: Archetype<A>>(world: &World<A>) -> usize {
        world.ids().filter_map(|id| world.get::<T>(id)).count()
    }

    #[test]
    fn a_game_of_one_s_own() -> Result<(), Box<dyn Error>> {
        let here = "127.0.0.1:0".parse()?;
        let mut server =
            Server::<Wood>::listen(here, ServerConfig::default(), Identity::generate()?)?;
        // As somebody reads it out to a friend.
        let read_out = server.fingerprint().ok_or("it is encrypted")?.to_string();
        let trust = Trust::Pinned(read_out.parse::<Fingerprint>()?);
        let at = ServerAt::new(server.local_addr().ok_or("it is open")?, trust);
        let mut client = Client::<Wood>::connect_with(at, "Ada", Role::Player)?;
        for x in [3.0, 4.0] {
            server.spawn(Tree { at: [x, 0.0] })?;
        }
        let mut asked: Option<Asked> = None;
        let mut waiting: Vec<(Tick, Question)> = Vec::new();
        let mut tick = server.tick()?;
        client.set_input(true);
        let answer = loop {
            while let Some(event) = server.event() {
                match event {
                    ServerEvent::Joined { player, .. } => {
                        server.spawn_own(player, Walker::default())?;
                    }
                    ServerEvent::Asked { question, .. } => waiting.push((tick, question)),
                    _ => {}
                }
            }
            server.advance_all()?;
            let trees = count::<Thing, Tree>(server.world());
            // Counting takes a tick.
            for (_, question) in waiting.extract_if(.., |(since, _)| *since < tick) {
                server.answer(question, Some(&u32::try_from(trees)?))?;
            }
            tick = server.tick()?;
            client.update()?;
            let has_gone = |(_, walker): (_, Walker)| walker.at[0] > 1.0;
            if asked.is_none() && client.own().is_some_and(has_gone) {
                asked = Some(client.ask(&())?);
            }
            let mut answers = std::iter::from_fn(|| client.event());
            let answer = answers.find_map(|event| match event {
                ClientEvent::Answered { asked: it, answer } if Some(it) == asked => answer,
                _ => None,
            });
            if let Some(answer) = answer {
                break answer;
            }
        };
        assert_eq!(answer, 2);
        let figures: PredictionFigures = client.prediction();
        assert_eq!((figures.corrections, figures.snaps), (0, 0));
        client.leave()?;
        Ok(server.shut_down()?)
    }
}

/// The names of a `use` of this crate: `{A, b::C}` has `A` and `b`.
fn first_names(list: &str) -> impl Iterator<Item = String> {
    let mut depth = 0;
    let top = list.chars().filter(move |c| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth <= 1
    });
    let top: String = top.collect();
    let names = top.split(',').filter_map(|item| {
        let name = item.trim_matches(|c: char| !c.is_alphanumeric());
        let name = name.split([':', ' ']).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names.collect::<Vec<_>>().into_iter()
}

/// The lists of every `use` in a program or a document that begins so.
fn lists<'a>(text: &'a str, use_of: &'a str) -> impl Iterator<Item = &'a str> {
    let uses = text.split(use_of).skip(1);
    uses.filter_map(|rest| rest.split(';').next())
}

/// What nobody ever imports is either missing from the documents or no part of the crate.
#[test]
fn every_name_of_the_crate_is_used_by_a_program_that_is_compiled() {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = fs::read_dir(crate_folder.join("examples")).expect("examples");
    let examples = examples.map(|it| it.expect("an example").path());
    let documents = [
        "src/lib.rs",
        "src/guide.rs",
        "tests/facade.rs",
        "../../README.md",
    ];
    let documents = documents.map(|it| crate_folder.join(it));
    let mut used = BTreeSet::new();
    for path in examples.chain(documents) {
        let text = fs::read_to_string(&path)
            .expect("a program")
            .replace("//!", "");
        used.extend(lists(&text, "use tickwire::").flat_map(first_names));
    }
    let source = include_str!("../src/lib.rs");
    let exported = lists(source, "\npub use ").flat_map(|list| {
        let (path, renamed) = list.split_once(" as ").unzip();
        let path = path.unwrap_or(list);
        let names = path.rsplit_once("::").map_or(path, |(_, names)| names);
        first_names(renamed.unwrap_or(names)).collect::<Vec<_>>()
    });
    let exported: BTreeSet<String> = exported.collect();
    assert!(exported.contains("Trust") && exported.contains("native"));
    let unused: Vec<_> = exported.difference(&used).collect();
    assert!(unused.is_empty(), "no program uses {unused:?}");
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
        .env("RUSTDOCFLAGS", "-D warnings")
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
        let html = fs::read_to_string(folder.join("index.html")).expect("a page");
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
