//! The model that an OpenCode agent's own description asks for, read from its file. Only what a decision without a
//! server needs: a server itself is asked before anything is sent.

use crate::Context;
use jsonc_parser::ParseOptions;
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::path::{Path, PathBuf};

/// The nearest description of the agent that names a model.
pub(super) fn model_of(context: &Context, directory: &Path, agent: &str) -> Option<String> {
    if agent.split('/').any(|part| part.is_empty() || part == "..") {
        return None;
    }
    nearest(&places(context, directory), agent)
}

fn nearest(places: &[PathBuf], agent: &str) -> Option<String> {
    let in_file = |place: &PathBuf| {
        ["agent", "agents"].iter().find_map(|folder| {
            let text = read_text(&place.join(folder).join(format!("{agent}.md")), MOST_CONFIG_BYTES).ok()?;
            frontmatter_model(&text)
        })
    };
    places.iter().find_map(|place| in_file(place).or_else(|| configured_model(place, agent)))
}

/// Directories with descriptions, the nearest first.
fn places(context: &Context, directory: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for level in directory.ancestors() {
        places.extend([level.join(".opencode"), level.to_owned()]);
        if level.join(".git").exists() {
            break;
        }
    }
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let user = context.variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    places.extend([user.join("opencode"), home.join(".opencode")]);
    places.extend(context.variable("OPENCODE_CONFIG_DIR").map(PathBuf::from));
    places
}

fn frontmatter_model(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let model = lines.take_while(|line| line.trim_end() != "---").find_map(|line| line.strip_prefix("model:"))?;
    let model = model.split(" #").next()?.trim().trim_matches(['"', '\'']);
    (!model.is_empty()).then(|| model.to_owned())
}

fn configured_model(place: &Path, agent: &str) -> Option<String> {
    ["opencode.jsonc", "opencode.json"].iter().find_map(|name| {
        let text = read_text(&place.join(name), MOST_CONFIG_BYTES).ok()?;
        let value: serde_json::Value = jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).ok()?;
        Some(value.get("agent")?.get(agent)?.get("model")?.as_str()?.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{frontmatter_model, nearest};
    use std::{fs, os::unix::fs::symlink, process::Command, sync::mpsc, time::Duration};

    #[test]
    fn the_model_is_read_from_the_head_alone() {
        let table = [
            ("---\ndescription: x\nmodel: opus # strong\n---\nbody", Some("opus")),
            ("---\nmodel: \"a/b@high\"\n---\n", Some("a/b@high")),
            ("---\ndescription: x\n---\nmodel: fake\n", None),
            ("model: fake\n", None),
            ("---\nmodel:\n---\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(frontmatter_model(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_small_regular_file_is_passed_over() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let near = scratch.path().join("near");
        fs::create_dir_all(near.join("agent/directory.md")).unwrap();
        symlink("/dev/zero", near.join("agent/zero.md")).unwrap();
        symlink("/dev/zero", near.join("opencode.json")).unwrap();
        assert!(
            Command::new("mkfifo")
                .args([near.join("agent/fifo.md"), near.join("opencode.jsonc")])
                .status()
                .unwrap()
                .success()
        );
        fs::File::create(near.join("agent/large.md")).unwrap().set_len(5 << 30).unwrap();
        let far = scratch.path().join("far");
        fs::create_dir_all(far.join("agents")).unwrap();
        for agent in ["zero", "fifo", "directory", "large"] {
            fs::write(far.join(format!("agents/{agent}.md")), "---\nmodel: far/model\n---\n").unwrap();
            let places = [near.clone(), far.clone()];
            let (sender, receiver) = mpsc::channel();
            std::thread::spawn(move || sender.send(nearest(&places, agent)));
            let found = receiver.recv_timeout(Duration::from_secs(60)).expect("it takes too long");
            assert_eq!(found.as_deref(), Some("far/model"), "{agent}");
        }
    }
}
