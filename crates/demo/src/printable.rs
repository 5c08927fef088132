//! What of a peer's text goes to a terminal, a log or a table.
//!
//! Names and chat come from whoever connects. Control characters move the cursor and colour the rest
//! of the screen; characters that turn the direction of writing, or that nobody sees, make one name
//! look like another and a line read as what it is not. All of them are dropped, and what is left is
//! not judged.

/// The text without what must not be shown.
pub fn printable(text: &str) -> String {
    text.chars()
        .filter(|&letter| is_printable(letter))
        .collect()
}

/// Whether a letter is seen where it stands, and moves nothing else.
pub fn is_printable(letter: char) -> bool {
    !letter.is_control()
        && !matches!(
            letter,
            // Soft hyphen, Arabic letter mark, Mongolian vowel separator.
            '\u{ad}' | '\u{61c}' | '\u{180e}'
            // Zero-width spaces and joiners, marks of direction.
            | '\u{200b}'..='\u{200f}'
            // Separators of lines and paragraphs; embeddings and overrides of direction.
            | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates of direction, old formatting.
            | '\u{2060}'..='\u{206f}'
            // Byte order mark, marks of annotations, tags.
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(printable(text), shown);
    }

    #[test]
    fn what_moves_the_cursor_is_dropped() {
        check("a\u{1b}[2Jb\r\n\u{9b}31mc", "a[2Jb31mc");
    }

    #[test]
    fn what_turns_or_hides_letters_is_dropped() {
        check("\u{202e}live\u{202c}", "live");
        check("\u{2067}Ada\u{2069}\u{200f}", "Ada");
        check("A\u{200b}d\u{200d}a\u{feff}\u{ad}", "Ada");
        check("one\u{2028}line\u{e0041}", "oneline");
    }

    #[test]
    fn letters_of_every_script_are_kept() {
        let names = "Zoë Łukasz 李白 עדה علي 🚀";
        check(names, names);
    }
}
