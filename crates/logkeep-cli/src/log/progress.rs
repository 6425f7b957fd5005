//! A bar on stderr while a person waits; nothing where nobody looks.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressStyle};

pub(super) fn bar(what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {human_pos} of {human_len} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_prefix(what);
    bar
}
