//! The types of messages: what each is called, how long it is, and who sends it on which path.
//!
//! A type's number stands here and nowhere else. Decoding goes from the number to the [`Kind`] and from
//! there to the fields, encoding from a message to its kind and so to the number.

/// A type of message, with its number on the wire.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "each is of the message of its name")]
#[repr(u8)]
pub enum Kind {
    DatabaseEntry = 0,
    LoadLevel = 1,
    ObjectStates = 2,
    ObjectExtraStates = 3,
    ConfirmSnapshot = 4,
    GlobalMessage = 5,
    ObjectMessage = 6,
    ObjectAnimation = 7,
    AcknowledgeSnapshot = 8,
    Action = 9,
    AnalogAction = 10,
    Sound = 11,
    ObjectCreated = 12,
    LifecycleChanged = 13,
    Attach = 14,
}

/// Who sends, and on which path.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum Way {
    ClientDatagram,
    ClientStream,
    ServerDatagram,
    ServerStream,
}

/// How long payloads of a kind are.
#[derive(Clone, Copy)]
enum Length {
    Exactly(u16),
    AtLeast(u16),
}

/// What holds for every message of a kind.
struct Rule {
    name: &'static str,
    length: Length,
    ways: &'static [Way],
}

impl Kind {
    /// Every kind, in the order of the numbers.
    pub const ALL: [Self; 15] = [
        Self::DatabaseEntry,
        Self::LoadLevel,
        Self::ObjectStates,
        Self::ObjectExtraStates,
        Self::ConfirmSnapshot,
        Self::GlobalMessage,
        Self::ObjectMessage,
        Self::ObjectAnimation,
        Self::AcknowledgeSnapshot,
        Self::Action,
        Self::AnalogAction,
        Self::Sound,
        Self::ObjectCreated,
        Self::LifecycleChanged,
        Self::Attach,
    ];

    /// The kind with this number.
    pub fn of(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }

    /// Its number on the wire.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// What the protocol calls it.
    pub const fn name(self) -> &'static str {
        self.rule().name
    }

    /// Who sends it on which path; it comes no other way.
    pub const fn ways(self) -> &'static [Way] {
        self.rule().ways
    }

    /// Whether a payload may be so long.
    pub(super) const fn may_have(self, length: u16) -> bool {
        match self.rule().length {
            Length::Exactly(exact) => length == exact,
            Length::AtLeast(least) => length >= least,
        }
    }

    const fn rule(self) -> Rule {
        use Length::{AtLeast, Exactly};
        use Way::{ClientDatagram, ClientStream, ServerDatagram, ServerStream};
        const fn of(name: &'static str, length: Length, ways: &'static [Way]) -> Rule {
            Rule { name, length, ways }
        }
        match self {
            Self::DatabaseEntry => of("DatabaseEntry", AtLeast(4), &[ServerStream]),
            Self::LoadLevel => of("LoadLevel", AtLeast(4), &[ServerStream]),
            Self::ObjectStates => of("ObjectStates", AtLeast(14), &[ServerDatagram]),
            Self::ObjectExtraStates => of("ObjectExtraStates", AtLeast(14), &[ServerDatagram]),
            Self::ConfirmSnapshot => of("ConfirmSnapshot", Exactly(28), &[ServerDatagram]),
            Self::GlobalMessage => of("GlobalMessage", AtLeast(12), &[ServerStream]),
            Self::ObjectMessage => of("ObjectMessage", AtLeast(20), &[ServerStream]),
            Self::ObjectAnimation => of("ObjectAnimation", Exactly(26), &[ServerStream]),
            Self::AcknowledgeSnapshot => of("AcknowledgeSnapshot", Exactly(8), &[ClientDatagram]),
            Self::Action => of("Action", Exactly(13), &[ClientStream]),
            Self::AnalogAction => of("AnalogAction", Exactly(20), &[ClientStream]),
            Self::Sound => of("Sound", Exactly(14), &[ServerStream]),
            Self::ObjectCreated => of("ObjectCreated", Exactly(16), &[ServerDatagram]),
            Self::LifecycleChanged => of("LifecycleChanged", Exactly(13), &[ServerDatagram]),
            Self::Attach => of("Attach", Exactly(8), &[ServerStream, ClientDatagram]),
        }
    }
}

// A kind is found by its number as its place in `ALL`.
const _: () = {
    let mut rest = Kind::ALL.as_slice();
    let mut place = 0;
    while let [kind, after @ ..] = rest {
        assert!(kind.id() == place, "kinds stand in the order of numbers");
        rest = after;
        place += 1;
    }
};

impl Way {
    /// The way of something that a client or a server sent, on a stream or as a datagram.
    pub const fn new(from_client: bool, on_stream: bool) -> Self {
        match (from_client, on_stream) {
            (true, true) => Self::ClientStream,
            (true, false) => Self::ClientDatagram,
            (false, true) => Self::ServerStream,
            (false, false) => Self::ServerDatagram,
        }
    }

    /// The kind with this number, if it may come this way.
    pub(super) fn kind(self, id: u8) -> Option<Kind> {
        Kind::of(id).filter(|kind| kind.ways().contains(&self))
    }
}
