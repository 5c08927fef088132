use std::collections::BTreeMap;

use tickwire_session::PeerStats;

use super::*;
use crate::arena_canvas::tests::{scene, scores};
use crate::serve::report::{Client, Door, Rates};
use crate::snapshot;

fn picture() -> Picture {
    let client = |name: &str, loss, refused| {
        let port = 4_000 + name.len();
        let addr = format!("127.0.0.1:{port}").parse().unwrap();
        let mut stats = PeerStats::new("", addr, "Playing");
        stats.queued = Some(0);
        stats.round_trip = Some(Duration::from_micros(31_400));
        (stats.loss, stats.resent, stats.refused) = (loss, Some(12), refused);
        Client {
            name: name.into(),
            protocol: "proto",
            stats,
            rates: Rates {
                kbits_in: 8.53,
                kbits_out: 61.2,
                packets_in: 30.0,
                packets_out: 15.0,
            },
        }
    };
    let mut picture = Picture {
        open: vec![("proto", "127.0.0.1:7777".into())],
        time: Duration::from_secs(83),
        view: scene(),
        scores: scores(),
        ..Picture::default()
    };
    picture.add_notice(Duration::from_secs(80), "Ada joined".into());
    picture.add_notice(Duration::from_secs(82), "Ada destroyed Grace".into());
    picture.add_report(Report {
        steps: 60,
        step_p50: Some(Duration::from_micros(120)),
        step_p99: Some(Duration::from_micros(480)),
        doors: vec![Door {
            protocol: "proto",
            players: 2,
            counters: vec![("stale", 3), ("violations", 0)],
            grown: Vec::new(),
        }],
        clients: vec![client("Ada", Some(0.012), 0), client("Linus", None, 4)],
        pilots: BTreeMap::from([(OwnerId(1), "proto")]),
        network: vec![("datagrams_received", 321)],
        ..Report::default()
    });
    picture
}

#[test]
fn a_small_window_shows_everything() {
    snapshot::check(
        "dashboard-80x24",
        &snapshot::text(&picture(), (80, 24), draw),
    );
}

#[test]
fn a_large_window_shows_more_of_it() {
    let mut picture = picture();
    picture.follow_next();
    let text = snapshot::text(&picture, (120, 40), draw);
    snapshot::check("dashboard-120x40", &text);
}

#[test]
fn an_empty_server_tells_how_to_get_in() {
    let mut picture = picture();
    picture.add_report(Report::default());
    let text = snapshot::text(&picture, (80, 24), draw);
    assert!(text.contains("tickwire play proto"), "{text}");
}

#[test]
fn every_size_can_be_drawn_on() {
    let picture = picture();
    for (width, height) in [
        (1, 1),
        (2, 50),
        (20, 5),
        (49, 60),
        (300, 3),
        (50, 14),
        (71, 14),
    ] {
        let text = snapshot::text(&picture, (width, height), draw);
        if (width, height) == (20, 5) {
            assert!(text.contains("too small"), "{text}");
        }
    }
}

#[test]
fn the_camera_goes_from_pilot_to_pilot_and_back() {
    let mut picture = picture();
    let followed: Vec<_> = std::iter::repeat_with(|| {
        picture.follow_next();
        picture.follows
    })
    .take(4)
    .collect();
    let [ada, grace] = [1, 2].map(|owner| Some(OwnerId(owner)));
    assert_eq!(followed, [ada, grace, None, ada]);
}

#[test]
fn every_protocol_is_named_however_narrow_the_window() {
    let mut picture = picture();
    let names = ["first", "second", "third", "fourth", "fifth"];
    picture.open = names.map(|name| (name, "127.0.0.1:32422".into())).into();
    for (width, lines, address) in [
        (140, 1, "127.0.0.1:32422"),
        (100, 1, ":32422"),
        (50, 3, ":32422"),
    ] {
        let text = snapshot::text(&picture, (width, 24), draw);
        let header: Vec<_> = text.lines().take(lines).collect();
        for name in names {
            let door = format!(" {name} {address}");
            let is_there = |line: &&str| format!("{line} ").contains(&format!("{door} "));
            assert!(header.iter().any(is_there), "{text}");
        }
        assert!(header[0].trim_end().ends_with("  up 1:23"), "{text}");
    }
}

fn press(picture: &mut Picture, code: KeyCode) {
    let stop = Stop::listen().unwrap();
    picture.press(KeyEvent::new(code, KeyModifiers::NONE), &stop);
}

#[test]
fn clients_are_a_table_that_is_sorted_and_chosen_from() {
    let mut picture = picture();
    for second in 2..30 {
        let mut report = picture.report.clone();
        report.time = Instant::from_millis(second * 1_000);
        for (client, kbits) in report.clients.iter_mut().zip([125, 1_250]) {
            client.stats.updates.add(report.time);
            client
                .stats
                .traffic
                .sent(kbits * usize::try_from(second).unwrap());
        }
        picture.add_report(report);
    }
    press(&mut picture, KeyCode::Char('c'));
    press(&mut picture, KeyCode::Char('s'));
    press(&mut picture, KeyCode::Char('s'));
    let text = snapshot::text(&picture, (80, 24), draw);
    snapshot::check("clients-80x24", &text);
    assert!(text.contains("rtt▲") && text.contains("▇█"), "{text}");
    press(&mut picture, KeyCode::Char('r'));
    press(&mut picture, KeyCode::Down);
    press(&mut picture, KeyCode::Enter);
    let text = snapshot::text(&picture, (80, 24), draw);
    snapshot::check("client-80x24", &text);
    assert!(
        text.contains("longest gap") && text.contains("queued_bytes"),
        "{text}"
    );
    for page in ['e', 't', 'c', 'a'] {
        for (width, height) in [(50, 14), (80, 24), (300, 100)] {
            press(&mut picture, KeyCode::Char(page));
            snapshot::text(&picture, (width, height), draw);
        }
    }
}

#[test]
fn the_tile_world_has_a_page_if_it_is_there() {
    let mut picture = picture();
    press(&mut picture, KeyCode::Char('t'));
    assert_eq!(picture.page, Page::Arena);
    let at = |x, y| Cell { x, y };
    picture.residents = Some(vec![("Ada".into(), at(0, 0)), ("fox".into(), at(3, 2))]);
    press(&mut picture, KeyCode::Char('t'));
    let text = snapshot::text(&picture, (80, 24), draw);
    assert!(text.contains("tile world, 2 in it"), "{text}");
    let row = |sign| {
        text.lines()
            .position(|line| line.chars().take(49).any(|c| c == sign))
    };
    assert_eq!(row('f').unwrap() - row('A').unwrap(), 2, "{text}");
    // Back to the arena before it ends.
    press(&mut picture, KeyCode::Esc);
    assert_eq!(picture.page, Page::Arena);
}

#[test]
fn the_line_of_the_server_fits_however_much_goes_on() {
    let mut picture = picture();
    for _ in 0..20 {
        let mut report = picture.report.clone();
        report.step_p50 = Some(Duration::from_micros(12_340));
        report.step_p99 = Some(Duration::from_micros(123_456));
        report.total.kbits_in = 9_999.4;
        report.total.kbits_out = 1_234_567.0;
        picture.add_report(report);
    }
    let ship = picture.view.seen[0];
    picture.view.seen = vec![ship; 3_592];
    let text = snapshot::text(&picture, (80, 24), draw);
    let line = text.lines().find(|line| line.contains("step p50")).unwrap();
    assert!(line.ends_with("↓ 9999 k ↑ 1235 Mbit/s"), "{line}");
    assert!(line.contains("123.46 ms █"), "{line}");
}

#[test]
fn counters_go_on_in_the_next_line_and_none_is_lost_unsaid() {
    let mut picture = picture();
    let names = [
        "one", "two", "three", "four", "five", "six", "seven", "eight",
    ];
    picture.report.network = names.map(|name| (name, 1_000_000_007)).into();
    let seen = |size| {
        let text = snapshot::text(&picture, size, draw);
        let seen = names.map(|name| text.contains(&format!("net.{name} 1000000007")));
        let seen = seen.into_iter().filter(|seen| *seen).count();
        assert_eq!(
            text.contains(&format!("+{} more", 8 - seen)),
            seen < 8,
            "{text}"
        );
        seen
    };
    assert_eq!(seen((120, 40)), 8);
    assert!((1..8).contains(&seen((80, 24))));
}
