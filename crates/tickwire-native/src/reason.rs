//! Why a connection ends: a number on the wire, a name for the game, a sentence for people.

use core::fmt;

/// Declares the reasons: number, name, sentence. WIRE.md has the same table.
macro_rules! reasons {
    ($($number:literal $name:ident $words:literal;)*) => {
        /// Why a connection ended, or was refused.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum EndReason {
            $(#[doc = $words] $name,)*
            /// A number that this version does not know.
            Other(u16),
        }

        impl EndReason {
            /// The number on the wire.
            pub const fn number(self) -> u16 {
                match self {
                    $(Self::$name => $number,)*
                    Self::Other(number) => number,
                }
            }

            /// The reason of a number.
            pub const fn from_number(number: u16) -> Self {
                match number {
                    $($number => Self::$name,)*
                    other => Self::Other(other),
                }
            }
        }

        impl fmt::Display for EndReason {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$name => f.write_str($words),)*
                    Self::Other(number) => write!(f, "the server gave reason {number}, which this version does not know"),
                }
            }
        }
    };
}

reasons! {
    1 Left "the player left";
    2 ShutDown "the server shut down";
    3 Kicked "the player was sent away";
    4 Banned "the player is banned from this server";
    5 Full "the server is full";
    6 Busy "the server is too busy for newcomers: try again in a moment";
    7 OtherVersion "the server speaks another version of the protocol";
    8 OtherSchema "the server's game has other types than this one";
    9 BadName "the server does not take this name";
    10 NoSuchTicket "the time to come back is over: join anew";
    11 Replaced "the player came back on another connection";
    12 Malformed "the other side sent what is no message of this protocol";
    13 FellBehind "too much was waiting to be read";
    14 TimedOut "nothing was heard for too long";
    15 Unreachable "no server answers at this address";
    16 Disconnected "the connection broke";
    17 TooManyMessages "the client said more than it may";
}

impl core::error::Error for EndReason {}

impl EndReason {
    /// Whether coming back with the ticket is worth a try.
    pub const fn may_resume(self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::Unreachable | Self::Disconnected
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_its_reason_again() {
        for number in 0..100 {
            assert_eq!(EndReason::from_number(number).number(), number);
        }
    }
}
