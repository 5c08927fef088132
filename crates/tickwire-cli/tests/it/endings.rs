//! How a player hears that it is over: in the same words on every protocol, and in time.

use std::thread;
use std::time::{Duration, Instant};

use crate::command::{Running, serve};
use crate::pty::Terminal;

const PROTOCOLS: [&str; 6] = ["native", "lwar", "cppevy", "pixmess", "opendrakan", "reone"];

/// Within this time of a stop, a crash or the start, a player is told (README, "When it ends").
const TOLD_WITHIN: Duration = Duration::from_secs(15);

/// Within this time of a stop or of a connection that breaks, unless the client comes back by itself.
const TOLD_AT_ONCE: Duration = Duration::from_secs(2);

/// What a busy machine may add.
const SLACK: Duration = Duration::from_secs(5);

/// Somebody who plays, and the server.
fn playing(protocol: &str) -> (Terminal, Running) {
    let (server, addr) = serve(protocol, &[]);
    let terminal = Terminal::play(protocol, addr, "Ada");
    terminal.wait_for_text("q leave");
    (terminal, server)
}

/// The player reads this, outside the screen, within this time of what happened.
#[track_caller]
fn check(mut terminal: Terminal, words: &str, began: Instant, within: Duration) {
    assert_eq!(terminal.wait(), 1);
    let took = began.elapsed();
    // A long sentence is wrapped wherever the line ends.
    let flat = |screen: &str| screen.replace(['\r', '\n'], "");
    terminal.wait_for(words, |screen| flat(screen).contains(words));
    assert!(took < within + SLACK, "{words:?} after {took:?}");
}

/// Does this with every protocol at once.
fn for_each(what: impl Fn(&'static str) + Sync) {
    thread::scope(|scope| {
        for protocol in PROTOCOLS {
            let what = &what;
            scope.spawn(move || what(protocol));
        }
    });
}

#[test]
fn a_stopped_server_is_told_in_the_same_words() {
    for_each(|protocol| {
        let (terminal, server) = playing(protocol);
        let stopped = Instant::now();
        server.terminate();
        let within = match protocol {
            "reone" => {
                terminal.wait_for_text("tried again");
                TOLD_WITHIN
            }
            _ => TOLD_AT_ONCE,
        };
        let words = "the server was stopped, or sent you away";
        check(terminal, words, stopped, within);
    });
}

#[test]
fn a_killed_server_is_told_in_the_same_words() {
    for_each(|protocol| {
        let (terminal, server) = playing(protocol);
        // Nothing is said any more: what is shown is old, and says so. A busy machine may pass over a second.
        server.signal("STOP");
        let silent = Instant::now();
        terminal.wait_for_text("no news from the server for ");
        let killed = Instant::now();
        drop(server);
        let words = "the server is gone: it crashed, or the network is down";
        match protocol {
            // Datagrams stop without a word.
            "lwar" => check(terminal, words, silent, TOLD_WITHIN),
            // It may come back for a minute.
            "native" => {
                terminal.wait_for_text("the connection broke: coming back");
                terminal.leave();
            }
            "reone" => check(terminal, words, killed, TOLD_WITHIN),
            // The connection breaks.
            _ => check(terminal, words, killed, TOLD_AT_ONCE),
        }
    });
}

#[test]
fn another_protocol_on_the_port_is_told_in_the_same_words() {
    for_each(|served| {
        let (_server, addr) = serve(served, &[]);
        thread::scope(|scope| {
            for spoken in PROTOCOLS.into_iter().filter(|spoken| *spoken != served) {
                scope.spawn(move || {
                    let began = Instant::now();
                    let terminal = Terminal::play(spoken, addr, "Ada");
                    let words = "no server of this protocol let you in";
                    check(terminal, words, began, TOLD_WITHIN);
                });
            }
        });
    });
}
