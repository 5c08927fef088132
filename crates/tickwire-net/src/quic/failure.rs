//! Why a link ended: for a session one of four words, for a person the whole sentence.

use std::fmt;

use quinn_proto::{ConnectionError, TransportErrorCode, VarInt};
use tickwire_session::Ended;

/// Application codes with which a connection is closed.
pub(crate) mod code {
    use quinn_proto::VarInt;

    pub(crate) const DONE: VarInt = VarInt::from_u32(0);
    pub(crate) const TICKET_REFUSED: VarInt = VarInt::from_u32(1);
    pub(crate) const FULL: VarInt = VarInt::from_u32(2);
}

/// Why a QUIC link ended, or was never made.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkFailure {
    /// The peer ended it in order.
    Finished,
    /// The server did not take the ticket.
    TicketRefused {
        /// The server's words.
        reason: String,
    },
    /// The server has no place.
    Full,
    /// The server is not who it should be.
    Untrusted {
        /// What was expected, and what was found.
        reason: String,
    },
    /// The server does not have the protocol that was asked for, or takes no connections.
    Refused {
        /// The server's words.
        reason: String,
    },
    /// The peer has restarted and knows nothing of the connection.
    Restarted,
    /// Nobody answered.
    Unreachable,
    /// The peer fell silent.
    Silent,
    /// One of the two broke the rules of QUIC.
    Broken {
        /// What was wrong.
        reason: String,
    },
}

impl LinkFailure {
    /// Whether another try may succeed. A server that refused a ticket, or is not trusted, stays so.
    pub(crate) const fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Full | Self::Restarted | Self::Unreachable | Self::Silent
        )
    }

    pub(crate) fn new(error: &ConnectionError, was_connected: bool) -> Self {
        match error {
            ConnectionError::ApplicationClosed(close) => {
                Self::from_code(close.error_code, &close.reason)
            }
            ConnectionError::ConnectionClosed(close) if !was_connected => Self::Refused {
                reason: close.to_string(),
            },
            // Our own complaint about the server's certificate, which rustls words.
            ConnectionError::TransportError(error) if is_certificate_alert(error.code) => {
                Self::Untrusted {
                    reason: error.reason.clone(),
                }
            }
            ConnectionError::Reset => Self::Restarted,
            ConnectionError::TimedOut if was_connected => Self::Silent,
            ConnectionError::TimedOut => Self::Unreachable,
            ConnectionError::LocallyClosed => Self::Finished,
            other => Self::Broken {
                reason: other.to_string(),
            },
        }
    }

    fn from_code(code: VarInt, reason: &[u8]) -> Self {
        let reason = String::from_utf8_lossy(reason).into_owned();
        match code {
            code::DONE => Self::Finished,
            code::TICKET_REFUSED => Self::TicketRefused { reason },
            code::FULL => Self::Full,
            _ => Self::Broken { reason },
        }
    }

    /// What a session is told.
    pub(crate) const fn ended(&self) -> Ended {
        match self {
            Self::Finished => Ended::Finished,
            Self::TicketRefused { .. }
            | Self::Full
            | Self::Untrusted { .. }
            | Self::Refused { .. } => Ended::Refused,
            Self::Unreachable => Ended::Unreachable,
            Self::Restarted | Self::Silent | Self::Broken { .. } => Ended::Reset,
        }
    }
}

/// Whether a code is one of the TLS alerts about certificates: 42 to 49, and 51 if a signature is not the
/// authority's, RFC 8446 section 6. QUIC carries them as 0x100 + alert.
fn is_certificate_alert(code: TransportErrorCode) -> bool {
    matches!(u64::from(code).checked_sub(0x100), Some(42..=49 | 51))
}

impl fmt::Display for LinkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finished => f.write_str("the peer ended the connection"),
            Self::TicketRefused { reason } => write!(f, "the server refused the ticket: {reason}"),
            Self::Full => f.write_str("the server is full"),
            Self::Untrusted { reason } => write!(f, "the server is not trusted: {reason}"),
            Self::Refused { reason } => write!(f, "the server refused the connection: {reason}"),
            Self::Restarted => f.write_str("the server has restarted"),
            Self::Unreachable => f.write_str("no server answers there"),
            Self::Silent => f.write_str("the peer fell silent"),
            Self::Broken { reason } => write!(f, "the connection broke: {reason}"),
        }
    }
}

impl std::error::Error for LinkFailure {}
