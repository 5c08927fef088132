//! The command in a pseudo-terminal: what a person would see on a screen of 80 × 24 cells, and what is left
//! afterwards.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longest wait for anything: only a broken command takes so long, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command in a terminal of its own.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    /// Runs `tickwire` in a terminal of 80 × 24 cells.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_in(Path::new("."), arguments)
    }

    /// The same in a folder, where it also keeps what it remembers.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        let pty = native_pty_system()
            .openpty(size(80, 24))
            .expect("there are pseudo-terminals");
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_tickwire"));
        command.args(arguments);
        command.env("TERM", "xterm-256color");
        let folder = folder.canonicalize().expect("the folder is there");
        command.env("XDG_STATE_HOME", &folder);
        command.cwd(folder);
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

    /// Somebody of this name plays.
    pub(crate) fn play(protocol: &str, server: SocketAddr, name: &str) -> Self {
        Self::play_with(protocol, server, &["--name", name])
    }

    /// Somebody plays, with these options.
    pub(crate) fn play_with(protocol: &str, server: SocketAddr, options: &[&str]) -> Self {
        let server = server.to_string();
        Self::start(&[&["play", protocol, "--connect", &server], options].concat())
    }

    /// Leaves as a player does.
    #[track_caller]
    pub(crate) fn leave(mut self) {
        self.press("q");
        assert_eq!(self.wait(), 0, "{}", self.text());
    }

    pub(crate) fn text(&self) -> String {
        lock(&self.screen).screen().contents()
    }

    pub(crate) fn is_alternate(&self) -> bool {
        lock(&self.screen).screen().alternate_screen()
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) {
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
    pub(crate) fn wait_for_text(&self, text: &str) {
        self.wait_for(text, |screen| screen.contains(text));
    }

    pub(crate) fn press(&mut self, keys: &str) {
        let typed = self.keyboard.write_all(keys.as_bytes());
        typed
            .and_then(|()| self.keyboard.flush())
            .expect("it listens");
    }

    /// Presses keys again and again, a moment apart, until the screen is as wanted.
    #[track_caller]
    pub(crate) fn press_until(&mut self, keys: &str, what: &str, wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !wanted(&self.text()) {
            assert!(
                Instant::now() < deadline,
                "{keys:?} never led to {what:?}; the screen:\n{}",
                self.text()
            );
            self.press(keys);
            thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        !self.is_alternate()
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let mut parser = lock(&self.screen);
        parser.screen_mut().set_size(cells(rows), cells(columns));
        let resized = self.master.resize(size(columns, rows));
        resized.expect("it takes any size");
    }

    /// Waits for the end; the exit code. The terminal is as it was before.
    #[track_caller]
    pub(crate) fn wait(&mut self) -> u32 {
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
