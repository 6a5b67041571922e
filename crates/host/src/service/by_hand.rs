//! Whether a service that we did not write runs a supervisor already. It reads commands roughly, as a person would
//! who looks for the word: a false alarm costs one `--force`, an overlooked one two supervisors.

/// Whether this shell command runs `shuntyard supervise` or `shuntyard pulse`.
#[must_use]
pub fn runs_shuntyard(command: &str) -> bool {
    simple_commands(command).iter().any(|words| {
        let mut words = words.iter();
        // The text before it can be a time, variables, or another program that starts ours.
        words.any(|word| matches!(word.rsplit('/').next(), Some("shuntyard" | "switchyard"))) && {
            let mut rest = words.filter(|word| !word.starts_with("--server="));
            let mut word = rest.next();
            while word.is_some_and(|word| word.starts_with('-')) {
                if word.is_some_and(|word| word == "--server") {
                    rest.next();
                }
                word = rest.next();
            }
            word.is_some_and(|word| word == "supervise" || word == "pulse")
        }
    })
}

/// The first command of a systemd unit that runs it.
#[must_use]
pub fn in_unit(text: &str) -> Option<&str> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("ExecStart"));
    let mut commands = lines.filter_map(|rest| rest.trim_start().strip_prefix('=')).map(str::trim);
    commands.find(|command| runs_shuntyard(command))
}

/// Whether the strings of a property list, one after the other, run it.
#[must_use]
pub fn in_property_list(text: &str) -> bool {
    let strings = text.split("<string>").skip(1).filter_map(|rest| rest.split("</string>").next());
    runs_shuntyard(&strings.collect::<Vec<_>>().join(" "))
}

/// The words of each command between `;`, `&`, `|` and brackets, without their quotes.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut quote = None;
    let finish = |word: &mut String, commands: &mut Vec<Vec<String>>| {
        let word = std::mem::take(word);
        if let Some(words) = commands.last_mut().filter(|_| !word.is_empty()) {
            words.push(word);
        }
    };
    for letter in text.chars() {
        match letter {
            '\'' | '"' if quote.is_none() => quote = Some(letter),
            '\'' | '"' if quote == Some(letter) => quote = None,
            // A command in quotes is often one for another shell, so its words count as words too.
            _ if letter.is_whitespace() => finish(&mut word, &mut commands),
            ';' | '&' | '|' | '(' | ')' if quote.is_none() => {
                finish(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            '\\' => {}
            _ => word.push(letter),
        }
    }
    finish(&mut word, &mut commands);
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_recognised() {
        let table = [
            ("*/2 * * * * shuntyard pulse", true),
            ("@reboot /opt/bin/shuntyard supervise --batch a", true),
            ("*/5 * * * * cd /x && SHUNTYARD_DATA_DIR=/d '/a b/shuntyard' --json pulse >>log 2>&1", true),
            ("0 * * * * flock -n /tmp/l sh -c \"shuntyard --server http://h pulse\"", true),
            ("0 * * * * shuntyard --server=http://h pulse", true),
            ("-/home/ann/my\\ bin/shuntyard supervise", true),
            ("0 9 * * * shuntyard dispatch 'take my pulse'", false),
            ("0 9 * * * shuntyard task list; pulse", false),
            ("0 9 * * * /opt/shuntyard/other pulse", false),
            ("0 9 * * * myshuntyard pulse", false),
            ("shuntyard", false),
            ("", false),
        ];
        for (command, expected) in table {
            assert_eq!(runs_shuntyard(command), expected, "{command}");
        }
    }

    #[test]
    fn foreign_files_are_looked_into() {
        let unit = "[Service]\nExecStartPre=/bin/true\n ExecStart = -/opt/shuntyard supervise\n";
        assert_eq!(in_unit(unit), Some("-/opt/shuntyard supervise"));
        assert_eq!(in_unit("[Service]\nExecStart=/opt/shuntyard dashboard\n# ExecStart=shuntyard pulse\n"), None);
        let list =
            |word: &str| format!("<array>\n<string>/opt/x y/shuntyard</string>\n<string>{word}</string></array>");
        assert!(in_property_list(&list("pulse")));
        assert!(!in_property_list(&list("status")));
    }
}
