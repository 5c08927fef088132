//! The terminal, and the thread that draws on it.
//!
//! A loop that owns sockets must not wait for a terminal, which may be slow, far away or paused. So a
//! thread of its own draws, and the loop hands it pictures through a slot that holds one: what was not
//! drawn in time is replaced by what is newer. Keys and the mouse come back through a bounded queue.
//!
//! However it ends, by [`Screen::close`], by dropping it or by a panic on any thread, the terminal is
//! given back as it was.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use ratatui::Frame;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste,
    EnableFocusChange, EnableMouseCapture, Event, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::crossterm::{cursor, queue};
use ratatui::layout::Rect;

use crate::wait::finished_within;

/// Between two pictures, so far as they come: 30 a second are smooth, and more would only keep a
/// distant terminal busy.
pub(crate) const FRAME: Duration = Duration::from_millis(33);

/// How long the thread waits for a key before it looks for a picture.
const GLANCE: Duration = Duration::from_millis(10);

/// How long it waits for the next one: with no time at all, crossterm does not look.
const BREATH: Duration = Duration::from_millis(1);

/// Keys and movements of the mouse that may wait for the loop.
const EVENTS_WAITING: usize = 256;

/// How long a terminal that takes nothing may delay the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether the terminal is ours to give back.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether a person looks at standard output and has keys to press.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// How large the terminal is; nothing, while it does not tell.
pub(crate) fn area() -> Rect {
    let (width, height) = terminal::size().unwrap_or_default();
    Rect::new(0, 0, width, height)
}

/// What is wanted of the keyboard and the mouse.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Input {
    /// Keys as they are typed.
    Typing,
    /// Also the mouse and, where the terminal can tell, when keys are let go.
    Playing,
}

/// A terminal that shows pictures of type `P`.
#[derive(Debug)]
pub(crate) struct Screen<P> {
    slot: Arc<Slot<P>>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// What the loop and the thread share.
#[derive(Debug)]
struct Slot<P> {
    picture: Mutex<Option<P>>,
    closing: AtomicBool,
}

impl<P: Send + 'static> Screen<P> {
    /// Takes the terminal; `draw` is called with the newest picture whenever there is one, and after
    /// every change of size.
    pub(crate) fn open(input: Input, draw: fn(&P, &mut Frame<'_>)) -> anyhow::Result<Self> {
        take(input).context("cannot use this terminal")?;
        let slot = Arc::new(Slot {
            picture: Mutex::new(None),
            closing: AtomicBool::new(false),
        });
        let (heard, events) = sync_channel(EVENTS_WAITING);
        let shared = Arc::clone(&slot);
        let thread = thread::Builder::new()
            .name("screen".into())
            .spawn(move || {
                let shown = show(&shared, &heard, draw);
                give_back();
                shown
            })
            .inspect_err(|_| give_back())?;
        Ok(Self {
            slot,
            events,
            thread: Some(thread),
        })
    }

    /// Shows a picture as soon as the terminal takes it, unless a newer one comes first.
    pub(crate) fn show(&self, picture: P) {
        // Only ever held for the time of a swap.
        *self.slot.lock() = Some(picture);
    }

    /// What was pressed and moved since the last call.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> {
        self.events.try_iter()
    }

    /// Whether anybody can still see it.
    pub(crate) fn is_open(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Gives the terminal back; the error is why it was lost before.
    pub(crate) fn close(mut self) -> anyhow::Result<()> {
        match self.end() {
            Some(Ok(shown)) => shown.context("the terminal is gone"),
            Some(Err(_)) => anyhow::bail!("drawing failed"),
            None => Ok(()),
        }
    }
}

impl<P> Screen<P> {
    /// Waits for the thread, unless its terminal is stuck.
    fn end(&mut self) -> Option<thread::Result<io::Result<()>>> {
        self.slot.closing.store(true, Ordering::Relaxed);
        finished_within(PATIENCE, self.thread.take()?)
    }
}

impl<P> Drop for Screen<P> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<P> Slot<P> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<P>> {
        self.picture.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws and listens until the loop has had enough, or the terminal is gone.
fn show<P>(
    slot: &Slot<P>,
    heard: &SyncSender<Event>,
    draw: fn(&P, &mut Frame<'_>),
) -> io::Result<()> {
    let mut terminal = ratatui::Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let mut last = None;
    while !slot.closing.load(Ordering::Relaxed) {
        let mut resized = false;
        let mut patience = GLANCE;
        while event::poll(patience)? {
            let event = event::read()?;
            resized |= matches!(event, Event::Resize(..));
            // Full: nobody listens, and what is old news by then is better lost.
            heard.try_send(event).ok();
            patience = BREATH;
        }
        let newer = slot.lock().take();
        let is_news = newer.is_some() || resized;
        last = newer.or(last);
        if let (true, Some(picture)) = (is_news, &last) {
            // Whoever gives the terminal back holds this lock, so that nothing is drawn after.
            let _stdout = io::stdout().lock();
            if !TAKEN.load(Ordering::Relaxed) {
                break;
            }
            if resized {
                // The size may have been another in between, and then the old cells are lost.
                let size = terminal.size()?;
                terminal.resize(size.into())?;
            }
            terminal.draw(|frame| draw(picture, frame))?;
        }
    }
    Ok(())
}

fn take(input: Input) -> io::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            report(panic);
        }));
    });
    terminal::enable_raw_mode()?;
    TAKEN.store(true, Ordering::Relaxed);
    let mut out = io::stdout().lock();
    queue!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        cursor::Hide
    )
    .and_then(|()| match input {
        Input::Typing => Ok(()),
        // Terminals that do not know the last one ignore it.
        Input::Playing => queue!(
            out,
            EnableMouseCapture,
            EnableFocusChange,
            PushKeyboardEnhancementFlags(
                KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                    | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
            )
        ),
    })
    .and_then(|()| out.flush())
    .inspect_err(|_| give_back())
}

/// Undoes all of [`take`], once; on any thread, at any time.
fn give_back() {
    let mut out = io::stdout().lock();
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    // Undoing what was not done does no harm; and if the terminal is gone, nobody is left to tell.
    queue!(
        out,
        PopKeyboardEnhancementFlags,
        DisableFocusChange,
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    )
    .and_then(|()| out.flush())
    .ok();
    terminal::disable_raw_mode().ok();
}

#[cfg(test)]
mod tests;
