//! Every row of `STATES.md` in which a client stays in its phase, in each of its phases.

use tickwire_dialects::reone::client_limits::{HANG, PING_AFTER, PING_PERIOD};
use tickwire_dialects::reone::message::{
    Call, DownElement, DownFrame, DownHeader, Invalid, Refusal, VisualEffect,
};
use tickwire_dialects::reone::{ClientEvent, ModuleNumber, ObjectId, Phase, SnapshotSeq};

use super::script::{ClientScript, config, full, header, keep, packet, parameters, shelf, text};
use crate::driven::ms;
use crate::states::staying;

/// Brings about what a row says, and checks what it says of it.
type Walk = fn(&mut ClientScript);

/// By what happens, in the words of the document.
const WALKS: &[(&str, Walk)] = &[
    ("the manifest is here", |script| {
        stay(script, |script| script.serve_one(&shelf(2), "manifest", 0));
        assert_eq!(script.fetches(), [("base".to_owned(), 0)]);
    }),
    ("a piece", |script| {
        let shelf = with_texture();
        script.serve_one(&shelf, "manifest", 0);
        stay(script, |script| script.serve_one(&shelf, "texture", 0));
        let events = script.events();
        let is_progress = |event: &ClientEvent| matches!(event, ClientEvent::Progress(_));
        let is_fetched = |event: &ClientEvent| matches!(event, ClientEvent::Fetched(_));
        assert!(events.iter().any(is_progress) && events.iter().any(is_fetched));
    }),
    (
        "the Fetch of another resource is refused, for whatever reason",
        |script| {
            let mut shelf = with_texture();
            shelf.insert("zone", b"z"[..].into()).expect("a good name");
            script.serve_one(&shelf, "manifest", 0);
            script.serve_one(&shelf, "base", 0);
            stay(script, |script| refuse(script, Refusal(200)));
            let refused =
                |event: &ClientEvent| matches!(event, ClientEvent::ResourceRefused { .. });
            assert!(script.events().iter().any(refused));
        },
    ),
    ("a Fetch for the module before is refused", |script| {
        script.write(&[DownFrame::ModuleChanged {
            module: ModuleNumber(6),
            name: text("tar_m02"),
        }]);
        stay(script, |script| refuse(script, Refusal::RESOURCE));
        assert_eq!(
            (script.events(), script.session.counters().unexpected),
            (vec![], 1)
        );
    }),
    ("at once, and every `PING_PERIOD`", |script| {
        stay(script, |script| script.pass(PING_PERIOD * 3));
        assert!(
            script
                .uplinks()
                .iter()
                .filter(|it| it.ping.is_some())
                .count()
                == 3
        );
    }),
    ("every `PING_PERIOD`", |script| {
        stay(script, |script| script.pass(PING_PERIOD * 3));
        assert_eq!(script.uplinks().iter().filter(|it| it.is_ready).count(), 3);
    }),
    ("a snapshot is whole", |script| {
        stay(script, |script| script.snapshot(2, 1, &[keep(1)]));
        assert_eq!(script.uplinks()[0].acknowledged, 2);
        assert_eq!(script.whole(), [2]);
    }),
    ("Parameters", |script| {
        stay(script, |script| {
            script.control(&[DownElement::Parameters(parameters())])
        });
        assert_eq!(script.uplinks().iter().filter(|it| it.is_ready).count(), 1);
        assert_eq!(script.events(), [], "nothing is different");
    }),
    ("Parameters of an earlier tick than the last", |script| {
        let said = [DownElement::Parameters(parameters())];
        script.send_raw(&packet(DownHeader::unsequenced(9), &said));
        stay(script, |script| {
            script.send_raw(&packet(DownHeader::unsequenced(8), &said))
        });
        assert_eq!(
            (script.uplinks(), script.session.counters().parameters_late),
            (vec![], 1)
        );
    }),
    ("the application sends an event", |script| {
        stay(script, |script| {
            script.session.send_event(7, b"x").expect("it is ready");
            script.drain();
            script.pass(ms(100));
        });
        let uplinks = script.uplinks();
        assert!(uplinks.iter().filter(|it| it.events.len() == 1).count() >= 2);
    }),
    ("a command", |script| {
        stay(script, |script| {
            let (id, at, resref) = (ObjectId(1), SnapshotSeq(1), text("v_fire"));
            let effect = DownElement::VisualEffect(VisualEffect { id, at, resref });
            script.control(&[effect]);
            script.control(&[effect]);
        });
        assert_eq!(script.events().len(), 1, "once");
    }),
    ("no datagram for `PING_AFTER`", |script| {
        stay(script, |script| script.pass(PING_AFTER + PING_PERIOD));
        assert_eq!(
            script
                .uplinks()
                .iter()
                .filter(|it| it.ping.is_some())
                .count(),
            2
        );
    }),
    (
        "no whole snapshot for `HANG`, and then a part of one",
        |script| {
            script.pass(HANG);
            stay(script, |script| {
                script.send_raw(&packet(header(50, 1), &[full(9, 1.0)]))
            });
            assert!(script.session.newest().is_none());
            assert_eq!(script.session.counters().hang, 1);
        },
    ),
    (
        "Invalid, and a part of a snapshot came within `INVALID_PATIENCE` before it, or until then",
        |script| {
            // Nobody sends snapshots to whoever initialises: it pings already, whatever it is told.
            let is_sent = script.session.phase() != Phase::Initialising;
            stay(script, |script| {
                if is_sent {
                    script.send_raw(&packet(header(60, 0), &[full(9, 1.0)]));
                }
                script.control(&[DownElement::Invalid(Invalid::SameModule)]);
                if is_sent {
                    script.pass(ms(100));
                    script.send_raw(&packet(header(61, 0), &[full(9, 1.0)]));
                    script.pass(ms(400));
                }
            });
            let doubted = script.session.counters().invalid_doubted;
            assert_eq!(doubted, u64::from(is_sent));
        },
    ),
    ("the application calls", |script| {
        stay(script, |script| {
            let now = script.now;
            let asked = script.session.ask(now, Call::Global(text("round")));
            asked.expect("there is a connection");
            script.drain();
        });
        assert_eq!(script.calls().len(), 1);
    }),
    ("a creature whose resref is not known", |script| {
        stay(script, |script| {
            script.snapshot(2, 1, &[keep(1), full(77, 1.0)])
        });
        assert!(script.calls().iter().any(|(_, name, _)| name == "resref"));
    }),
    ("anything", |script| {
        stay(script, |script| {
            script.control(&[DownElement::Parameters(parameters())]);
            script.snapshot(2, 1, &[keep(1)]);
            script.pass(ms(200_000));
        });
        assert_eq!((script.events(), script.uplinks()), (vec![], vec![]));
    }),
];

fn with_texture() -> tickwire_session::bulk::Shelf {
    let mut shelf = shelf(2);
    shelf
        .insert("texture", b"green"[..].into())
        .expect("a good name");
    shelf
}

fn refuse(script: &mut ClientScript, reason: Refusal) {
    let text = text("no").into();
    script.write(&[DownFrame::Refused { reason, text }]);
}

#[track_caller]
fn stay(script: &mut ClientScript, act: impl FnOnce(&mut ClientScript)) {
    script.forget();
    let before = script.session.phase();
    act(script);
    assert_eq!(script.session.phase(), before);
}

/// A client in one of the phases, by the shortest way.
fn reach(phase: &str) -> ClientScript {
    match phase {
        "Loading" => {
            let mut script = ClientScript::open();
            script.welcome();
            script.fetches();
            script
        }
        "Initialising" => ClientScript::loaded(2),
        "Ready" => ClientScript::ready(2),
        "Playing" => ClientScript::playing(),
        "Ended" => {
            let mut script = ClientScript::with(config());
            script.session.disconnect();
            script.drain();
            script
        }
        other => panic!("nobody goes to {other}"),
    }
}

#[test]
fn a_client_stays_where_each_row_says_so() {
    let rows: Vec<_> = staying("## The client").collect();
    for (what, _) in WALKS {
        assert!(
            rows.iter().any(|(_, row)| row == what),
            "no row has: {what}"
        );
    }
    for (phases, what) in rows {
        let walk = WALKS.iter().find(|(row, _)| *row == what);
        let (_, walk) = walk.unwrap_or_else(|| panic!("nobody walks: {what}"));
        let phases = match phases {
            "all after Welcome" => "Loading, Initialising, Ready, Playing",
            named => named,
        };
        for phase in phases.split(", ") {
            walk(&mut reach(phase));
        }
    }
}
