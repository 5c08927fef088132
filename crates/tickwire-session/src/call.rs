//! Calls: questions with answers, matched by number.
//!
//! [`Calls`] is the asking side. In: what is asked, and the results as they come, in any order. Out: a
//! number for each call, and of each call exactly one [`EndedCall`]: answered, timed out, or cut off.
//! A result that nobody waits for changes nothing and is counted.
//!
//! [`Methods`] and [`CallsWaiting`] are the answering side: which names can be called, and how many
//! calls of one peer may wait for the application at once. The bytes of arguments and results, and how
//! they travel, are the protocol's. Where actions have a kind and are answered in order, see
//! [`Actions`](crate::Actions).

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use tickwire_wire::display_enum;

use crate::{Instant, Unasked};

/// Methods that a server offers.
///
/// A protocol has a handful; this many is a mistake in a loop.
pub const METHODS_MAX: usize = 256;

/// Bytes of a method's name.
pub const METHOD_NAME_MAX: usize = 64;

/// The number of a call, chosen by the caller.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub u32);

display_enum! {
    /// How the answering side took a call.
    #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
    pub enum CallStatus {
        /// It was done.
        Done => "done",
        /// There is no such method.
        UnknownMethod => "unknown method",
        /// The argument makes no sense to the method.
        BadArgument => "bad argument",
        /// Not for this caller, or not now: too many calls wait.
        Refused => "refused",
    }
}

/// A call that came to its end. `T` is what the asking side keeps with it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EndedCall<T> {
    /// Which one.
    pub id: CallId,
    /// What was asked.
    pub asked: T,
    /// What came of it.
    pub outcome: CallOutcome,
}

/// What came of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CallOutcome {
    /// The peer answered.
    Answered {
        /// How it took the call.
        status: CallStatus,
        /// What it returned.
        body: Vec<u8>,
    },
    /// No answer came in time. One that comes later is nobody's.
    TimedOut,
    /// The connection ended first.
    Disconnected,
}

/// So many calls are under way that no more are taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooManyCalls {
    /// How many may be.
    pub most: usize,
}

impl fmt::Display for TooManyCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} calls wait for their answers", self.most)
    }
}

impl core::error::Error for TooManyCalls {}

/// The calls of one side that are under way.
///
/// ```
/// use core::time::Duration;
/// use tickwire_session::{CallOutcome, CallStatus, Calls, Instant};
///
/// let mut calls = Calls::new(Duration::from_secs(5), 16);
/// let id = calls.ask(Instant::ZERO, "time").unwrap();
/// // ... the call travels, and its result comes back:
/// calls.handle_result(id, CallStatus::Done, b"noon").unwrap();
/// assert!(calls.handle_result(id, CallStatus::Done, b"again").is_err());
///
/// let ended = calls.poll_ended().unwrap();
/// assert_eq!(ended.asked, "time");
/// assert!(matches!(ended.outcome, CallOutcome::Answered { body, .. } if body == b"noon"));
/// ```
#[derive(Debug)]
pub struct Calls<T> {
    patience: Duration,
    most: usize,
    next: CallId,
    under_way: BTreeMap<CallId, Asked<T>>,
    ended: VecDeque<EndedCall<T>>,
    unasked: u64,
}

#[derive(Debug)]
struct Asked<T> {
    asked: T,
    deadline: Instant,
}

impl<T> Calls<T> {
    /// Nothing is under way. A call is answered within `patience` or not at all; at most `most` are
    /// under way, or ended and not yet polled.
    pub const fn new(patience: Duration, most: usize) -> Self {
        Self {
            patience,
            most,
            next: CallId(1),
            under_way: BTreeMap::new(),
            ended: VecDeque::new(),
            unasked: 0,
        }
    }

    /// Begins a call: it is to be sent with the number returned, and will end.
    pub fn ask(&mut self, now: Instant, asked: T) -> Result<CallId, TooManyCalls> {
        if self.under_way.len() + self.ended.len() >= self.most {
            return Err(TooManyCalls { most: self.most });
        }
        // After four thousand million calls a number comes again, and its first owner may still wait.
        while self.under_way.contains_key(&self.next) {
            self.next = self.next.following();
        }
        let id = self.next;
        self.next = id.following();
        let deadline = now + self.patience;
        self.under_way.insert(id, Asked { asked, deadline });
        Ok(id)
    }

    /// The peer's answer to a call.
    pub fn handle_result(
        &mut self,
        id: CallId,
        status: CallStatus,
        body: &[u8],
    ) -> Result<(), Unasked> {
        if !self.under_way.contains_key(&id) {
            self.unasked = self.unasked.saturating_add(1);
            return Err(Unasked);
        }
        let body = body.to_vec();
        self.end(id, CallOutcome::Answered { status, body });
        Ok(())
    }

    /// Ends what took too long.
    pub fn handle_timeout(&mut self, now: Instant) {
        // Every call has the same patience, but moments are the driver's: nothing relies on order.
        while let Some((&id, _)) = self
            .under_way
            .iter()
            .find(|(_, asked)| now >= asked.deadline)
        {
            self.end(id, CallOutcome::TimedOut);
        }
    }

    /// Ends everything: no answers will come.
    pub fn disconnect(&mut self) {
        while let Some((&id, _)) = self.under_way.first_key_value() {
            self.end(id, CallOutcome::Disconnected);
        }
    }

    /// The next call that ended.
    pub fn poll_ended(&mut self) -> Option<EndedCall<T>> {
        self.ended.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.under_way.values().map(|asked| asked.deadline).min()
    }

    /// What was asked with a call that is under way.
    pub fn asked(&self, id: CallId) -> Option<&T> {
        self.under_way.get(&id).map(|asked| &asked.asked)
    }

    /// How many have not ended.
    pub fn under_way(&self) -> usize {
        self.under_way.len()
    }

    /// Results that came for no call, or too late, or twice.
    pub const fn unasked(&self) -> u64 {
        self.unasked
    }

    fn end(&mut self, id: CallId, outcome: CallOutcome) {
        if let Some(Asked { asked, .. }) = self.under_way.remove(&id) {
            self.ended.push_back(EndedCall { id, asked, outcome });
        }
    }
}

impl CallId {
    const fn following(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// What can be called, by name. `M` is how the application knows a method: an enum, as a rule.
#[derive(Clone, Debug)]
pub struct Methods<M> {
    by_name: BTreeMap<String, M>,
}

display_enum! {
    /// Why a method cannot be registered.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum MethodError: Error {
        /// Its name is empty, longer than [`METHOD_NAME_MAX`], or holds a control character.
        Name => "a method's name has 1 to {METHOD_NAME_MAX} bytes and no control characters",
        /// There is one of this name.
        Taken => "there is a method of this name",
        /// There are [`METHODS_MAX`].
        TooMany => "there are {METHODS_MAX} methods already",
    }
}

impl<M> Default for Methods<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Methods<M> {
    /// Nothing can be called.
    pub const fn new() -> Self {
        Self {
            by_name: BTreeMap::new(),
        }
    }

    /// Offers a method.
    pub fn register(&mut self, name: &str, method: M) -> Result<(), MethodError> {
        let length = 1..=METHOD_NAME_MAX;
        if !length.contains(&name.len()) || name.contains(char::is_control) {
            return Err(MethodError::Name);
        }
        if self.by_name.contains_key(name) {
            return Err(MethodError::Taken);
        }
        if self.by_name.len() >= METHODS_MAX {
            return Err(MethodError::TooMany);
        }
        self.by_name.insert(name.into(), method);
        Ok(())
    }

    /// The method of a name.
    pub fn get(&self, name: &str) -> Option<&M> {
        self.by_name.get(name)
    }
}

/// The calls of one peer that wait for the application's answer.
///
/// ```
/// use tickwire_session::{CallId, CallStatus, CallsWaiting, Methods};
///
/// let mut methods = Methods::new();
/// methods.register("time", 'T').unwrap();
/// let mut waiting = CallsWaiting::new(1);
/// assert_eq!(waiting.admit(&methods, CallId(1), "time"), Ok(&'T'));
/// assert_eq!(waiting.admit(&methods, CallId(2), "time"), Err(CallStatus::Refused));
/// assert_eq!(waiting.admit(&methods, CallId(3), "tide"), Err(CallStatus::UnknownMethod));
/// waiting.answer(CallId(1)).unwrap();
/// assert!(waiting.answer(CallId(1)).is_err(), "once");
/// ```
#[derive(Clone, Debug)]
pub struct CallsWaiting {
    most: usize,
    ids: BTreeSet<CallId>,
}

impl CallsWaiting {
    /// None waits; at most `most` may.
    pub const fn new(most: usize) -> Self {
        Self {
            most,
            ids: BTreeSet::new(),
        }
    }

    /// Takes a call and says which method it is for. An error is the status to answer with at once:
    /// there is no such method, or too many wait, or the peer has used a number that waits.
    pub fn admit<'a, M>(
        &mut self,
        methods: &'a Methods<M>,
        id: CallId,
        name: &str,
    ) -> Result<&'a M, CallStatus> {
        let method = methods.get(name).ok_or(CallStatus::UnknownMethod)?;
        if self.ids.len() >= self.most || !self.ids.insert(id) {
            return Err(CallStatus::Refused);
        }
        Ok(method)
    }

    /// The application answers a call, which may be done once.
    pub fn answer(&mut self, id: CallId) -> Result<(), Unasked> {
        match self.ids.remove(&id) {
            true => Ok(()),
            false => Err(Unasked),
        }
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests;
