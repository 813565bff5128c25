//! Lines at the foot of a terminal that are drawn again as things change, below lines that stay. Where standard error is
//! no terminal nothing of them is printed, and the other lines are as always.
//!
//! A line that is too long is cut by the terminal (its wrapping is switched off while they are drawn), so nothing here
//! has to know how wide it is, or that its size was changed.

use crate::cli::terminal::Terminal;

/// To the beginning of the line so many lines up, and everything below is gone.
const CLEAR: &str = "\u{1b}[J";
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";

/// The foot of the terminal.
pub(crate) struct Foot<'a> {
    terminal: &'a Terminal,
    live: bool,
    drawn: usize,
}

impl<'a> Foot<'a> {
    /// An empty one.
    pub(crate) fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, live: terminal.is_live(), drawn: 0 }
    }

    /// Whether what is drawn is seen.
    pub(crate) const fn is_live(&self) -> bool {
        self.live
    }

    /// A line that stays; the foot is gone until it is drawn again.
    pub(crate) fn say(&mut self, line: &str) {
        self.clear();
        self.terminal.error_line(line);
    }

    /// Draws the foot, or draws it again.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        if self.live {
            let mut text = self.up();
            text.push_str(NO_WRAP);
            for line in lines {
                text.push_str(line);
                text.push_str("\u{1b}[K\n");
            }
            text.push_str(CLEAR);
            text.push_str(WRAP);
            // In one piece: a process that is killed leaves no terminal without wrapping.
            self.terminal.error_raw(&text);
            self.drawn = lines.len();
        }
    }

    /// Takes the foot away.
    pub(crate) fn clear(&mut self) {
        if self.drawn > 0 {
            let text = self.up() + CLEAR;
            self.terminal.error_raw(&text);
            self.drawn = 0;
        }
    }

    fn up(&self) -> String {
        if self.drawn == 0 { "\r".to_owned() } else { format!("\r\u{1b}[{}A", self.drawn) }
    }
}
