//! The screens in a real pseudo-terminal: what a person would see, and what is left afterwards.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::command::{Running, serve, start};

/// Longest wait for anything: only a broken command takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command in a terminal of its own.
struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    /// Runs `tickwire` in a terminal of 80 × 24 cells.
    fn start(arguments: &[&str]) -> Self {
        let pty = native_pty_system()
            .openpty(size(80, 24))
            .expect("there are pseudo-terminals");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickwire"));
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        let child = pty
            .slave
            .spawn_command(command)
            .expect("the command starts");
        let mut output = pty.master.try_clone_reader().expect("it can be read");
        let keyboard = pty.master.take_writer().expect("it can be written to");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(cells(24), cells(80), 1_000)));
        let shown = Arc::clone(&screen);
        thread::spawn(move || {
            let mut bytes = [0; 4_096];
            while let Ok(length @ 1..) = output.read(&mut bytes) {
                lock(&shown).process(&bytes[..length]);
            }
        });
        Self {
            child,
            master: pty.master,
            keyboard,
            screen,
        }
    }

    fn text(&self) -> String {
        lock(&self.screen).screen().contents()
    }

    fn is_alternate(&self) -> bool {
        lock(&self.screen).screen().alternate_screen()
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !wanted(&self.text()) {
            assert!(
                Instant::now() < deadline,
                "never saw {what}; the screen:\n{}",
                self.text()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn wait_for_text(&self, text: &str) {
        self.wait_for(text, |screen| screen.contains(text));
    }

    fn press(&mut self, keys: &str) {
        let typed = self.keyboard.write_all(keys.as_bytes());
        typed
            .and_then(|()| self.keyboard.flush())
            .expect("it listens");
    }

    fn resize(&self, columns: u16, rows: u16) {
        let mut parser = lock(&self.screen);
        parser.screen_mut().set_size(cells(rows), cells(columns));
        let resized = self.master.resize(size(columns, rows));
        resized.expect("it takes any size");
    }

    /// Waits for the end; the exit code. The terminal is as it was before.
    #[track_caller]
    fn wait(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "it does not end:\n{}",
                self.text()
            );
            thread::sleep(Duration::from_millis(5));
        };
        self.wait_for("the screen as it was", |_| !self.is_alternate());
        let parser = lock(&self.screen);
        let screen = parser.screen();
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        assert!(!screen.bracketed_paste(), "pasting is still bracketed");
        let mouse = screen.mouse_protocol_mode();
        assert_eq!(mouse, vt100::MouseProtocolMode::None);
        status.exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn lock(screen: &Mutex<vt100::Parser>) -> MutexGuard<'_, vt100::Parser> {
    screen.lock().expect("no other holder panics")
}

const fn size(cols: u16, rows: u16) -> PtySize {
    PtySize {
        rows,
        cols,
        pixel_width: 0,
        pixel_height: 0,
    }
}

const fn cells(number: u16) -> NonZero<u16> {
    NonZero::new(number).expect("a terminal has cells")
}

fn dots(screen: &str) -> usize {
    let dots = '\u{2801}'..='\u{28ff}';
    screen.chars().filter(|c| dots.contains(c)).count()
}

/// A dashboard on a free port, and where it serves.
fn dashboard() -> (Terminal, SocketAddr) {
    let arguments = "serve lwar --listen 127.0.0.1:0 --bots 3 --dashboard";
    let terminal = Terminal::start(&arguments.split(' ').collect::<Vec<_>>());
    let address = |screen: &str| screen.split_whitespace().find_map(|word| word.parse().ok());
    terminal.wait_for("an address", |screen| address(screen).is_some());
    let address = address(&terminal.text()).expect("just seen");
    (terminal, address)
}

/// Somebody who plays, on a server without a screen.
fn play() -> (Terminal, Running) {
    let (server, addr) = serve("lwar", &["--bots", "2"]);
    let addr = addr.to_string();
    let terminal = Terminal::start(&["play", "lwar", "--connect", &addr, "--name", "Ada"]);
    terminal.wait_for_text("hull");
    (terminal, server)
}

#[test]
fn the_dashboard_shows_the_arena_and_its_clients() {
    let (mut terminal, addr) = dashboard();
    terminal.wait_for("the arena", |screen| dots(screen) > 40);
    for text in ["arena", "pilots", "events", "clients", "step p50", "q quit"] {
        terminal.wait_for_text(text);
    }
    assert!(terminal.is_alternate());

    let addr = addr.to_string();
    let bots = start(&["bots", "lwar", "--connect", &addr, "--count", "2"]);
    terminal.wait_for("two rows of clients", |screen| {
        let row = |name| {
            let mut lines = screen.lines();
            lines.any(|line| line.contains(name) && line.contains("lwar") && line.contains(" ms"))
        };
        row("bot-1") && row("bot-2")
    });
    terminal.wait_for_text("bot-1 joined");
    drop(bots);
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn any_size_is_fine() {
    let (mut terminal, _) = dashboard();
    terminal.wait_for_text("step p50");
    for (columns, rows) in [(20, 5), (1, 1), (2, 30), (200, 3)] {
        terminal.resize(columns, rows);
        terminal.wait_for("something else", |screen| !screen.contains("step p50"));
    }
    terminal.resize(20, 5);
    terminal.wait_for_text("too small");
    terminal.resize(160, 50);
    terminal.wait_for_text("step p50");
    terminal.wait_for("a larger arena", |screen| dots(screen) > 100);
    // Ctrl-C is a key here.
    terminal.press("\u{3}");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn the_camera_follows_a_pilot() {
    let (mut terminal, _) = dashboard();
    terminal.wait_for_text("Vega");
    terminal.press("\t");
    terminal.wait_for_text("whole arena");
    terminal.press("0");
    terminal.wait_for("everything", |screen| !screen.contains("whole arena"));
    terminal.press("\u{1b}");
    assert_eq!(terminal.wait(), 0);
}

#[test]
fn somebody_plays_chats_and_leaves() {
    let (mut terminal, server) = play();
    terminal.press("\t");
    terminal.wait_for_text("scores");
    terminal.wait_for("the name in the scores", |screen| {
        let mut lines = screen.lines();
        lines.any(|line| line.contains("│Ada") && line.contains("ms"))
    });
    // Letters are keys, except in a line that is being written.
    terminal.press("\rq is no end here");
    terminal.wait_for_text("say q is no end here");
    terminal.press("\r");
    terminal.wait_for_text("<Ada> q is no end here");
    server.line_with("<Ada> q is no end here");
    terminal.press("w ");
    terminal.press("?");
    terminal.wait_for_text("this help");
    terminal.press("?");
    terminal.wait_for("the arena alone", |screen| !screen.contains("this help"));
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    terminal.wait_for_text("you left after");
    server.line_with("Ada left");
}

#[test]
fn somebody_walks_builds_and_leaves_the_tile_world() {
    let (server, addr) = serve("pixmess", &[]);
    let addr = addr.to_string();
    let mut terminal = Terminal::start(&["play", "pixmess", "--connect", &addr, "--name", "Ada"]);
    terminal.wait_for_text("facing south");
    terminal.wait_for("the plaza", |screen| screen.matches(':').count() > 40);
    let position = |screen: &str| {
        let (_, rest) = screen.split_once("Ada  at (")?;
        Some(rest.split_once(')')?.0.to_owned())
    };
    let before = position(&terminal.text());
    assert!(before.is_some());
    // The plaza is open: one of these two ways leads somewhere.
    terminal.press("yyu");
    terminal.wait_for("another place", |screen| {
        let after = position(screen);
        after.is_some() && after != before
    });
    terminal.press("]");
    terminal.wait_for_text("timber");
    let timber = |screen: &str| screen.matches("HH").count();
    let already = timber(&terminal.text());
    // Around the corner there is always some cell that takes a block.
    for turn in ["\u{1b}[1;2A", "\u{1b}[1;2B", "\u{1b}[1;2C", "\u{1b}[1;2D"] {
        terminal.press(turn);
        terminal.press(" ");
    }
    terminal.wait_for("a block of timber", |screen| timber(screen) > already);
    terminal.press("\rgood morning\r");
    terminal.wait_for_text("<Ada> good morning");
    server.line_with("<Ada> good morning");
    terminal.press("q");
    assert_eq!(terminal.wait(), 0);
    terminal.wait_for_text("you left after");
    server.line_with("Ada left");
}

#[test]
fn a_walker_is_told_why_it_was_sent_away() {
    let (server, addr) = serve("pixmess", &[]);
    let addr = addr.to_string();
    let mut terminal = Terminal::start(&["play", "pixmess", "--connect", &addr]);
    terminal.wait_for_text("facing south");
    server.terminate();
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("the server sent you away: Server is shutting down!");
}

#[test]
fn a_server_that_vanishes_is_told_after_the_screen_is_given_back() {
    let (mut terminal, server) = play();
    drop(server);
    terminal.wait_for_text("no news from the server for");
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("the server fell silent");
}

#[test]
fn a_server_that_ends_says_so() {
    let (mut terminal, server) = play();
    server.terminate();
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("the server removed you, or was stopped");
}

#[test]
fn a_server_that_never_was_is_said_to_be_missing() {
    // Nobody answers there, and nobody refuses either.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = silent.local_addr().unwrap().to_string();
    let mut terminal = Terminal::start(&["play", "lwar", "--connect", &addr]);
    terminal.wait_for_text("connecting… (1 s)");
    drop(silent);
    assert_eq!(terminal.wait(), 1);
    terminal.wait_for_text("no server answered");
}

#[test]
fn without_a_terminal_play_says_what_it_needs() {
    let done = crate::command::run(&["play", "lwar"]);
    assert_eq!(done.code, Some(1));
    assert!(done.stderr.contains("needs a terminal"), "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1);
}

#[test]
fn a_name_that_no_server_takes_is_refused_before_anything_else() {
    let long = "n".repeat(33);
    for (name, why) in [
        ("", "must not be empty"),
        (&long, "at most 32 bytes"),
        ("a\tb", "no control characters"),
    ] {
        let mut terminal = Terminal::start(&["play", "pixmess", "--name", name]);
        assert_eq!(terminal.wait(), 2, "{}", terminal.text());
        terminal.wait_for_text(why);
    }
}
