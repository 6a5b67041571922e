//! A notice on the desktop of the logged-in user, by the program that the system has for it. Best effort: a machine
//! without a desktop is no reason to try again.

use super::Notification;
use shuntyard_core::values::clean_line;
use std::ffi::OsString;

/// Characters of the text; a desktop shows a few lines.
const TEXT: usize = 300;

pub(super) fn command(notification: &Notification) -> (&'static str, Vec<OsString>) {
    let title = match &notification.task {
        Some(task) => format!("Shuntyard: {task} is {}", notification.notice.as_str()),
        None => format!("Shuntyard: {}", notification.notice.as_str()),
    };
    let text = clean_line(&notification.detail, TEXT);
    // The words are arguments of a script that does not change, so that they cannot become a part of it.
    let osascript = [
        "-e",
        "on run argv",
        "-e",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "-e",
        "end run",
    ];
    if cfg!(target_os = "macos") {
        return ("osascript", osascript.into_iter().map(Into::into).chain([title.into(), text.into()]).collect());
    }
    ("notify-send", vec!["--app-name=shuntyard".into(), "--".into(), title.into(), escaped(&text).into()])
}

/// The body of a notice may have markup, which these words are not.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuntyard_core::work::task::Notice;

    #[test]
    fn the_words_are_arguments_of_their_own() {
        let of = |task: Option<&str>, notice, detail: &str| {
            let task = task.map(|task| task.parse().unwrap());
            let (_, arguments) = command(&Notification { id: 1, task, notice, detail: detail.to_owned(), at: 0 });
            arguments.iter().rev().take(2).map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let hostile = of(Some("t001"), Notice::Blocked, "--icon=x <b> & \"quote\"\nsecond line");
        assert_eq!(hostile[1], "Shuntyard: t001 is blocked");
        if !cfg!(target_os = "macos") {
            assert_eq!(hostile[0], "--icon=x &lt;b&gt; &amp; \"quote\" second line");
        }
        assert_eq!(of(None, Notice::Budget, "80 %"), ["80 %", "Shuntyard: budget"]);
    }
}
