//! The client against a server that may say anything, and a player who presses anything.

use tickwire_dialects::lwar::limits::{
    ENTITIES_MAX, EVENTS_WAITING, PACKET_MAX, PLAYERS_MAX, TIMEOUT,
};
use tickwire_dialects::lwar::{
    Button, Buttons, Client, ClientConfig, ClientEvent, Controls, Phase, Point,
};
use tickwire_session::Transmit;

use super::remote::{Remote, selection};
use crate::driven::{Bounds, Driven, Seen, peer};
use crate::script::Script;
use crate::scripted::{Scripted, carry_out};

/// Plays a script of a server, strangers, time and a player.
///
/// # Panics
/// If the client breaks the contract of a session, sends what cannot be read, keeps more than it
/// may, shows an entity nowhere, or says anything after its end.
pub fn lwar_client_session(bytes: &[u8]) {
    let mut script = Script::new(bytes);
    let now = script.start();
    let config = ClientConfig {
        server: SERVER,
        name: script.text(usize::MAX),
    };
    let run = Run {
        driven: Driven::new(Client::new(now, config), now, BOUNDS),
        remote: Remote::default(),
    };
    carry_out(script, run);
}

const SERVER: tickwire_session::Addr = peer(1);

const BOUNDS: Bounds = Bounds {
    transmits: 4,
    // The last datagram taken may say more than one thing.
    events: EVENTS_WAITING + 512,
    datagram: PACKET_MAX,
};

struct Run {
    driven: Driven<Client>,
    remote: Remote,
}

impl Scripted for Run {
    fn step(&mut self, choice: u8, script: &mut Script<'_>) {
        let Self { driven, remote, .. } = self;
        match choice & 0x7f {
            0..=63 => driven.datagram(SERVER, &remote.say(script)),
            64..=69 => driven.datagram(SERVER, &remote.say_adds(script)),
            70..=73 => driven.datagram(SERVER, script.blob()),
            74 => driven.datagram(peer(0), &remote.say(script)),
            75 => self.storm(script),
            76..=91 => driven.wait(script),
            92..=95 => drop(driven.path(script)),
            other => play(driven, other, script),
        }
    }

    fn drain(&mut self) {
        let Self { driven, remote, .. } = self;
        let was_over = is_over(&driven.session);
        driven.drain(|seen| match seen {
            Seen::Transmit(Transmit::Datagram { to }, bytes) => {
                assert_eq!(to, SERVER);
                assert!(!was_over, "it sends after its end");
                remote.hear(bytes);
            }
            Seen::Transmit(other, _) => panic!("{other:?}"),
            Seen::Event(ClientEvent::Connected { player }) => remote.player = player,
            Seen::Event(_) => {}
        });
    }

    fn check(&mut self) {
        let client = &self.driven.session;
        assert!(client.players().count() <= usize::from(PLAYERS_MAX) + 1);
        assert!(client.entities().count() <= usize::from(ENTITIES_MAX));
        for (_, player) in client.players() {
            assert!(player.name.len() <= 32);
        }
        client.update_age(self.driven.now());
        self.driven.check_sleep(is_over(client));
        assert_eq!(self.driven.check_figures(), 1);
    }

    fn finish(&mut self) {
        self.driven.pass(TIMEOUT);
        self.drain();
        assert!(is_over(&self.driven.session), "silence ends it");
    }
}

impl Run {
    /// One packet comes again and again, and nobody drains.
    fn storm(&mut self, script: &mut Script<'_>) {
        let packet = self.remote.say(script);
        for _ in 0..self.driven.storm() {
            self.driven.datagram(SERVER, &packet);
        }
    }
}

/// The player does something. What cannot be said is not said; the reason is for people.
fn play(driven: &mut Driven<Client>, choice: u8, script: &mut Script<'_>) {
    let now = driven.now();
    let client = &mut driven.session;
    match choice {
        96..=99 => {
            let pressed = script.u16();
            let buttons = Button::ALL.iter().enumerate();
            let buttons = buttons.fold(Buttons::NONE, |held, (bit, &button)| {
                held.with(button, pressed >> bit & 1 == 1)
            });
            let aim = Point {
                x: script.i16(),
                y: script.i16(),
            };
            client.steer(Controls { buttons, aim });
        }
        100..=103 => drop(client.chat(&script.text(usize::MAX))),
        104..=107 => drop(client.rename(&script.text(usize::MAX))),
        108..=111 => drop(client.select(selection(script))),
        112 => client.disconnect(now),
        _ => {
            for (_, entity) in client.entities() {
                if let Some(shown) = client.shown(now, entity) {
                    let place = [shown.x, shown.y];
                    assert!(
                        place.iter().all(|along| along.abs() < FARTHEST),
                        "{shown:?}"
                    );
                    assert!((0.0..=360.0).contains(&shown.orientation), "{shown:?}");
                    assert!(shown.reach >= 0.0 && shown.reach.is_finite(), "{shown:?}");
                    assert!(shown.health <= 100);
                }
            }
        }
    }
}

/// A coordinate on the wire is 16 bits wide; nothing is moved on by more than a jump.
const FARTHEST: f32 = 40_000.0;

const fn is_over(client: &Client) -> bool {
    matches!(client.phase(), Phase::Ended(_))
}
