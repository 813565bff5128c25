//! Characters that are not seen, or that change how the text around them is shown. Whoever shows text of unknown
//! origin, on a terminal or in a page, spells them out.

/// Whether a character is a mark of that kind. Control characters are told by [`char::is_control`].
pub const fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
