//! A panic in a real terminal.
//!
//! Two tests panic while they have a [`Screen`]. They are ignored where tests run, and started one by
//! one in a pseudo-terminal by the others, which look at what is left.

use std::io::Read;
use std::num::NonZero;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::*;

const ROWS: u16 = 24;
const COLUMNS: u16 = 80;

/// What the screens of this file show.
fn draw(text: &&str, frame: &mut Frame<'_>) {
    frame.render_widget(*text, frame.area());
}

fn draw_and_panic(_: &&str, _: &mut Frame<'_>) {
    panic!("the painter stumbled");
}

#[test]
#[ignore = "takes the terminal: others here start it in one of its own"]
#[should_panic(expected = "the loop stumbled")]
fn the_loop_panics() {
    let screen = Screen::open(Input::Playing, draw).expect("this is a terminal");
    screen.show("a picture");
    // The picture is on the screen once the slot is empty and the lock of the output is free.
    while screen.slot.lock().is_some() {
        thread::yield_now();
    }
    panic!("the loop stumbled");
}

#[test]
#[ignore = "takes the terminal: others here start it in one of its own"]
#[should_panic(expected = "drawing failed")]
fn the_painter_panics() {
    let screen = Screen::open(Input::Playing, draw_and_panic).expect("this is a terminal");
    screen.show("a picture");
    while screen.is_open() {
        thread::yield_now();
    }
    screen.close().expect("drawing failed");
}

/// Runs one of the tests above in a terminal, and checks that it gives the terminal back as it was,
/// with the reason of the panic on it.
#[track_caller]
fn check(panics: &str, says: &str) {
    let pty = native_pty_system()
        .openpty(PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        })
        .expect("there are pseudo-terminals");
    let before = pty.master.get_termios().expect("it has modes");

    let mut command = CommandBuilder::new(std::env::current_exe().expect("it has a path"));
    let test = format!("screen::tests::{panics}");
    command.args([&test, "--exact", "--ignored", "--nocapture"]);
    command.env("TERM", "xterm-256color");
    // It would push the message out of what is seen.
    command.env("RUST_BACKTRACE", "0");
    let mut child = pty.slave.spawn_command(command).expect("it starts");
    let mut output = pty.master.try_clone_reader().expect("it can be read");
    // The reader ends with the last writer, and this is one.
    let master = pty.master;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        // On Linux the end of a pseudo-terminal is an error, behind everything that was written.
        output.read_to_end(&mut bytes).ok();
        bytes
    });
    let status = child.wait().expect("it ends");
    let after = master.get_termios().expect("it has modes");
    drop(pty.slave);
    let bytes = reader.join().expect("reading does not panic");

    let cells = |number| NonZero::new(number).expect("a terminal has cells");
    let mut parser = vt100::Parser::new(cells(ROWS), cells(COLUMNS), 100);
    parser.process(&bytes);
    let screen = parser.screen();
    let text = screen.contents();
    assert!(status.success(), "{text}");
    let entered = bytes.windows(8).any(|bytes| bytes == b"\x1b[?1049h");
    assert!(entered, "it never took the terminal: {text}");
    assert_eq!(after, before, "the modes of the terminal");
    assert!(!screen.alternate_screen(), "{text}");
    assert!(!screen.hide_cursor() && !screen.bracketed_paste());
    let mouse = screen.mouse_protocol_mode();
    assert_eq!(mouse, vt100::MouseProtocolMode::None);
    assert!(text.contains(says), "{text}");
    // Each line begins at the left, which it does not in raw mode.
    let line = text.lines().find(|line| line.contains(says));
    assert!(line.is_some_and(|line| line.starts_with(says)), "{text}");
}

#[test]
fn a_panic_of_the_loop_gives_the_terminal_back() {
    check("the_loop_panics", "the loop stumbled");
}

#[test]
fn a_panic_while_drawing_gives_the_terminal_back() {
    check("the_painter_panics", "the painter stumbled");
}
