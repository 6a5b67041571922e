//! Whether the calls of an agent show that it made a difference.

use super::{
    Call, Difference, Kind,
    git_command::{Class, GitEffect, GitReach, effect},
    programs::{Reach, reaches},
    resolve::{Scene, Target, is_within},
    shell::commands,
};

/// Characters of a call that are shown.
const SHOWN: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call that can have made it.
    Agent {
        evidence: String,
    },
    Unknown,
}

/// The calls of an agent that reach into the user's checkout.
#[derive(Debug, Clone)]
pub struct Evidence {
    scene: Scene,
    traces: Vec<Trace>,
}

#[derive(Debug, Clone)]
struct Trace {
    shown: String,
    paths: Vec<Reach>,
    repository: Vec<GitReach>,
}

impl Evidence {
    #[must_use]
    pub fn of(calls: &[Call], scene: &Scene) -> Self {
        let traces = calls.iter().map(|call| trace(call, scene));
        let traces = traces.filter(|trace| !trace.paths.is_empty() || !trace.repository.is_empty()).collect();
        Self { scene: scene.clone(), traces }
    }

    #[must_use]
    pub fn attribute(&self, difference: &Difference) -> Verdict {
        let class = Class::of(difference.kind);
        let places = places(difference, &self.scene);
        let name = match class {
            Class::Files | Class::Index => self.scene.path(&difference.name),
            Class::Refs | Class::Head | Class::Stash | Class::Config | Class::Hooks => difference.name.clone(),
        };
        let made = |trace: &&Trace| {
            let named = places.iter().any(|place| trace.paths.iter().any(|reach| reach.covers(place)));
            named || trace.repository.iter().any(|reach| reach.covers(class, &name))
        };
        match self.traces.iter().find(made) {
            Some(trace) => Verdict::Agent { evidence: trace.shown.clone() },
            None => Verdict::Unknown,
        }
    }
}

fn trace(call: &Call, scene: &Scene) -> Trace {
    match call {
        Call::File { tool, path } => {
            let target = scene.target(Some(&scene.workspace), path);
            let paths = target.into_iter().map(|target| match target {
                Target::Path(path) => Reach::Path(path),
                Target::Below(directory) => Reach::Path(directory),
            });
            let paths = paths.filter(|reach| concerns(reach, scene)).collect();
            Trace { shown: shortened(&format!("{tool} {path}")), paths, repository: Vec::new() }
        }
        Call::Shell { command, directory } => {
            let begin = directory
                .as_ref()
                .map_or(Some(scene.workspace.clone()), |directory| scene.directory(Some(&scene.workspace), directory));
            let found = begin.map(|begin| commands(command, &begin, scene)).unwrap_or_default();
            let mentioned: Vec<String> = found.iter().flat_map(|simple| simple.words.iter().cloned()).collect();
            let (mut paths, mut repository) = (Vec::new(), Vec::new());
            for simple in &found {
                if simple.program == "git" {
                    match effect(simple, scene) {
                        GitEffect::Repository(reach) => repository.push(reach),
                        GitEffect::Paths(more) => paths.extend(more),
                    }
                } else {
                    paths.extend(reaches(simple, &mentioned, scene));
                }
            }
            paths.retain(|reach| concerns(reach, scene));
            Trace { shown: shortened(command), paths, repository }
        }
    }
}

/// Whether a reach can meet the user's checkout at all.
fn concerns(reach: &Reach, scene: &Scene) -> bool {
    let (Reach::Path(path) | Reach::Tree { top: path, .. } | Reach::Named { directory: path, .. }) = reach;
    // A pattern is compared later, name by name.
    let known = path.split('\u{0}').next().unwrap_or_default();
    [scene.root.clone(), scene.git_directory.clone()]
        .iter()
        .chain(&scene.global_settings())
        .any(|place| is_within(known, place) || place.starts_with(known.trim_end_matches('/')))
}

/// The files that a process without git would have to touch to make the difference, absolute.
fn places(difference: &Difference, scene: &Scene) -> Vec<String> {
    let name = &difference.name;
    let inside: Vec<String> = match difference.kind {
        Kind::Modified | Kind::Reverted | Kind::Deleted | Kind::Created => return vec![scene.path(name)],
        Kind::Staged | Kind::Unstaged => vec!["index".to_owned()],
        Kind::RefMoved | Kind::RefCreated | Kind::RefDeleted => vec![name.clone(), "packed-refs".to_owned()],
        Kind::StashAdded | Kind::StashDropped => vec!["refs/stash".to_owned(), "logs/refs/stash".to_owned()],
        // Settings of all repositories are named by their whole path.
        Kind::ConfigChanged if name.starts_with('/') => return vec![name.clone()],
        Kind::ConfigChanged => vec![name.clone()],
        Kind::HookChanged => vec![format!("hooks/{name}")],
        Kind::HeadMoved => vec!["HEAD".to_owned()],
    };
    inside.into_iter().map(|file| format!("{}/{file}", scene.git_directory)).collect()
}

fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
