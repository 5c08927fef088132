//! What is worth a line in a log or a chat window.

use core::fmt;

use crate::printable;

/// Something a person may want to read.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// Somebody came.
    Joined {
        /// Who.
        name: String,
    },
    /// Somebody went.
    Left {
        /// Who.
        name: String,
        /// Why, as the end of a sentence that begins with the name.
        why: String,
    },
    /// Somebody has another name.
    Renamed {
        /// The old one.
        from: String,
        /// The new one.
        to: String,
    },
    /// Somebody said something.
    Said {
        /// Who.
        name: String,
        /// What.
        text: String,
    },
    /// What the viewer asked for was answered.
    Answered {
        /// With what.
        text: String,
    },
    /// Somebody's ship was destroyed.
    Killed {
        /// Whose.
        victim: String,
        /// By whom; nobody, if the sun or a planet did it.
        by: Option<String>,
    },
    /// Steps take longer than they may, and newcomers are turned away; or no longer.
    Busy {
        /// Whether they do.
        is_busy: bool,
    },
    /// The disk does not take what is built in the tile world, for this reason; or does again.
    Storage {
        /// Whether it does.
        stores: Result<(), String>,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Names and texts come from peers, and this goes to a terminal.
        match self {
            Self::Joined { name } => write!(f, "{} joined", printable(name)),
            Self::Left { name, why } => write!(f, "{} {}", printable(name), printable(why)),
            Self::Renamed { from, to } => write!(f, "{} is now {}", printable(from), printable(to)),
            Self::Said { name, text } => write!(f, "<{}> {}", printable(name), printable(text)),
            Self::Killed {
                victim,
                by: Some(by),
            } => {
                write!(f, "{} destroyed {}", printable(by), printable(victim))
            }
            Self::Answered { text } => f.write_str(&printable(text)),
            Self::Busy { is_busy: true } => f.write_str(
                "busy: steps take too long, newcomers are turned away until they do not",
            ),
            Self::Busy { is_busy: false } => f.write_str("no longer busy: newcomers are let in"),
            Self::Storage { stores: Ok(()) } => f.write_str("the world is being stored again"),
            Self::Storage { stores: Err(why) } => {
                write!(
                    f,
                    "what is built stays in memory, and storing is tried again: {why}"
                )
            }
            Self::Killed { victim, by: None } => write!(f, "{} crashed", printable(victim)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_peers_do_not_reach_the_terminal() {
        let said = Notice::Said {
            name: "a\u{1b}[2J".into(),
            text: "b\r\nc\u{7}".into(),
        };
        assert_eq!(said.to_string(), "<a[2J> bc");
    }
}
