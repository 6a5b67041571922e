//! The git configuration of a workspace: what decides the content of files and who commits, taken from the user's
//! repository, and nothing that would let work in the workspace reach the user's repository or run its programs.
//!
//! Invariant: every setting that is kept is named here; a new kind of setting is left out until it is listed.

use std::path::Path;

/// One setting as `git config --list -z --show-scope` prints it. A key without a value means true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) scope: String,
    pub(super) key: String,
    pub(super) value: Option<String>,
}

/// Whether a workspace runs the hooks of the user's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hooks {
    #[default]
    None,
    /// The trusted configuration asks for them.
    Copied,
}

/// Where a push from a workspace goes: git reports that this is no repository.
pub(super) const NO_PUSH: &str = "shuntyard-workspaces-do-not-push";

/// Settings of `core` that decide what a file's content, name or mode is.
const CORE: [&str; 17] = [
    "attributesfile",
    "autocrlf",
    "bigfilethreshold",
    "checkroundtripencoding",
    "eol",
    "excludesfile",
    "filemode",
    "ignorecase",
    "longpaths",
    "precomposeunicode",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "safecrlf",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
];

/// How the real remotes are reached. Settings of the user's own files hold in a workspace anyway.
const REMOTE_ACCESS: [&str; 7] = ["credential.", "http.", "https.", "protocol.", "ssh.", "submodule.", "url."];

pub(super) fn parse(listed: &[u8]) -> Vec<Setting> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut fields = listed.split(|byte| *byte == 0);
    let mut settings = Vec::new();
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let (key, value) = match entry.iter().position(|byte| *byte == b'\n') {
            Some(end) => (text(&entry[..end]), Some(text(&entry[end + 1..]))),
            None => (text(entry), None),
        };
        settings.push(Setting { scope: text(scope), key, value });
    }
    settings
}

/// The text of a workspace's configuration file. `cloned` is what git wrote when it made the clone: format and
/// capabilities of the repository itself.
pub(super) fn text(cloned: &[Setting], source: &[Setting], top: &Path, hooks: Hooks) -> String {
    let format =
        |setting: &&Setting| setting.key == "core.repositoryformatversion" || setting.key.starts_with("extensions.");
    let mut lines: Vec<(String, Option<String>)> =
        cloned.iter().filter(format).map(|setting| (setting.key.clone(), setting.value.clone())).collect();
    let mut remotes: Vec<&str> = Vec::new();
    for setting in source.iter().filter(|setting| is_kept(setting)) {
        let mut value = setting.value.clone();
        if let Some(remote) = setting.key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url")) {
            value = value.map(|url| absolute(&url, top));
            if !remotes.contains(&remote) {
                remotes.push(remote);
            }
        }
        lines.push((setting.key.clone(), value));
    }
    let own = |key: &str, value: &str| (key.to_owned(), Some(value.to_owned()));
    lines.extend(remotes.iter().map(|remote| own(&format!("remote.{remote}.pushurl"), NO_PUSH)));
    lines.extend([
        own("core.bare", "false"),
        own("core.logallrefupdates", "true"),
        own("core.fsmonitor", "false"),
        // With `feature.manyFiles` git cannot read what it has written.
        own("core.splitindex", "false"),
        own("commit.gpgsign", "false"),
        own("tag.gpgsign", "false"),
        own("gc.auto", "0"),
        own("maintenance.auto", "false"),
        own("rerere.enabled", "false"),
        // What is in submodules is not reset along: changes there are in no commit.
        own("submodule.recurse", "false"),
        // Line endings that cannot be restored are no reason to refuse work.
        own("core.safecrlf", "false"),
    ]);
    if hooks == Hooks::None {
        lines.push(own("core.hookspath", "/dev/null"));
    }
    lines.iter().map(|(key, value)| line(key, value.as_deref())).collect()
}

fn is_kept(setting: &Setting) -> bool {
    let key = setting.key.as_str();
    let in_repository = matches!(setting.scope.as_str(), "local" | "worktree");
    if let Some(name) = key.strip_prefix("core.") {
        return CORE.contains(&name) || (in_repository && matches!(name, "sshcommand" | "gitproxy"));
    }
    if let Some(rest) = key.strip_prefix("remote.") {
        let wanted = ["url", "fetch", "promisor", "partialclonefilter", "tagopt", "proxy"];
        return in_repository && rest.rsplit_once('.').is_some_and(|(_, name)| wanted.contains(&name));
    }
    if let Some(rest) = key.strip_prefix("branch.") {
        return in_repository && (rest.ends_with(".remote") || rest.ends_with(".merge"));
    }
    // Conditional includes by the place of the repository do not hold elsewhere, so identity and filters are taken
    // from wherever they are set.
    ["filter.", "merge.", "user.", "author.", "committer.", "i18n.", "lfs."].iter().any(|part| key.starts_with(part))
        || (in_repository
            && (key == "extensions.partialclone" || REMOTE_ACCESS.iter().any(|part| key.starts_with(part))))
}

/// A relative address is meant from the top of the user's repository.
fn absolute(url: &str, top: &Path) -> String {
    let is_path =
        url.starts_with("./") || url.starts_with("../") || (!url.contains(':') && !url.starts_with(['/', '~']));
    if is_path { top.join(url).display().to_string() } else { url.to_owned() }
}

/// One setting in a section of its own: git reads repeated sections as one.
fn line(key: &str, value: Option<&str>) -> String {
    let Some((section, name)) = key.rsplit_once('.') else { return String::new() };
    let head = match section.split_once('.') {
        Some((section, sub)) => format!("[{section} \"{}\"]", sub.replace('\\', "\\\\").replace('"', "\\\"")),
        None => format!("[{section}]"),
    };
    match value {
        Some(value) => format!("{head}\n\t{name} = \"{}\"\n", escaped(value)),
        None => format!("{head}\n\t{name}\n"),
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_identity_are_kept_and_programs_of_the_repository_are_not() {
        let table = [
            ("global", "user.email", true),
            ("local", "core.autocrlf", true),
            ("global", "filter.lfs.process", true),
            ("local", "filter.git-crypt.smudge", true),
            ("local", "remote.origin.url", true),
            ("global", "remote.origin.url", false),
            ("local", "remote.origin.pushurl", false),
            ("local", "core.hookspath", false),
            ("local", "core.fsmonitor", false),
            ("local", "core.worktree", false),
            ("local", "alias.st", false),
            ("local", "commit.gpgsign", false),
            ("local", "credential.helper", true),
            ("global", "credential.helper", false),
            ("local", "include.path", false),
            ("worktree", "core.sparsecheckout", true),
        ];
        for (scope, key, kept) in table {
            let setting = Setting { scope: scope.into(), key: key.into(), value: Some("x".into()) };
            assert_eq!(is_kept(&setting), kept, "{scope} {key}");
        }
    }

    #[test]
    fn addresses_are_absolute_and_pushing_is_off() {
        let listed = b"local\0remote.a b\".url\n../up.git\0local\0remote.origin.url\nhttps://host/x\0local\0user.name\nA \"B\"\\\0";
        let text = text(&[], &parse(listed), Path::new("/home/ann/app"), Hooks::None);
        assert!(text.contains("[remote \"a b\\\"\"]\n\turl = \"/home/ann/app/../up.git\""), "{text}");
        assert!(text.contains("url = \"https://host/x\"") && text.contains("name = \"A \\\"B\\\"\\\\\""), "{text}");
        assert_eq!(text.matches("pushurl = \"shuntyard-workspaces-do-not-push\"").count(), 2, "{text}");
        assert!(text.contains("hookspath = \"/dev/null\""), "{text}");
    }
}
