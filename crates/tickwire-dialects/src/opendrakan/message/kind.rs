//! The types of messages: what each is called, how long it is, and who sends it on which path.
//!
//! A type's number stands here and nowhere else. Decoding goes from the number to the [`Kind`] and from
//! there to the fields, encoding from a message to its kind and so to the number.

use Length::{AtLeast, Exactly};
use Way::{ClientDatagram, ClientStream, ServerDatagram, ServerStream};

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

/// The table: number, name, length of the payload, and who sends it on which path.
macro_rules! kinds {
    ($($id:literal $kind:ident $length:expr, $ways:expr;)*) => {
        /// A type of message, with its number on the wire.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[expect(missing_docs, reason = "each is of the message of its name")]
        #[repr(u8)]
        pub enum Kind {
            $($kind = $id,)*
        }

        impl Kind {
            /// Every kind, in the order of the numbers.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// The kind with this number.
            pub const fn of(id: u8) -> Option<Self> {
                match id {
                    $($id => Some(Self::$kind),)*
                    _ => None,
                }
            }

            /// What the protocol calls it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                }
            }

            /// Who sends it on which path; it comes no other way.
            pub const fn ways(self) -> &'static [Way] {
                match self {
                    $(Self::$kind => &$ways,)*
                }
            }

            const fn length(self) -> Length {
                match self {
                    $(Self::$kind => $length,)*
                }
            }
        }
    };
}

kinds! {
    0 DatabaseEntry AtLeast(4), [ServerStream];
    1 LoadLevel AtLeast(4), [ServerStream];
    2 ObjectStates AtLeast(14), [ServerDatagram];
    3 ObjectExtraStates AtLeast(14), [ServerDatagram];
    4 ConfirmSnapshot Exactly(28), [ServerDatagram];
    5 GlobalMessage AtLeast(12), [ServerStream];
    6 ObjectMessage AtLeast(20), [ServerStream];
    7 ObjectAnimation Exactly(26), [ServerStream];
    8 AcknowledgeSnapshot Exactly(8), [ClientDatagram];
    9 Action Exactly(13), [ClientStream];
    10 AnalogAction Exactly(20), [ClientStream];
    11 Sound Exactly(14), [ServerStream];
    12 ObjectCreated Exactly(16), [ServerDatagram];
    13 LifecycleChanged Exactly(13), [ServerDatagram];
    14 Attach Exactly(8), [ServerStream, ClientDatagram];
}

impl Kind {
    /// Its number on the wire.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Whether a payload may be so long.
    pub(super) const fn may_have(self, length: u16) -> bool {
        match self.length() {
            Exactly(exact) => length == exact,
            AtLeast(least) => length >= least,
        }
    }
}

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
