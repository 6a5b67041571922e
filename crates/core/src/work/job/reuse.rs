//! Whether a worker that is there may take a message, or another has to be made.

use crate::values::Backend;
use crate::values::ModelPolicy;
use serde::Serialize;

/// What a message needs its worker to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub profile: String,
    pub directory: String,
    pub backend: Backend,
    /// What the profile means now, as `provider/model[@variant]`.
    pub model: String,
    pub policy: ModelPolicy,
    /// Of its instructions, tools and permissions.
    pub fingerprint: String,
}

/// What a worker is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub wanted: Wanted,
    pub standing: Standing,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has done nothing yet, so nothing of it can be gone.
    Fresh,
    /// The process that has it is the one that it was started as, and answers.
    Alive,
    /// Its server has ended. Its conversation is in the database of its slot, where another server finds it.
    Asleep,
    /// The process is there and does not answer.
    Silent,
    Stopped,
}

/// Why a worker will not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mismatch {
    Profile,
    Directory,
    Backend,
    Model,
    Policy,
    Fingerprint,
    Silent,
    Stopped,
}

impl Mismatch {
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Profile => "it has another profile",
            Self::Directory => "it works in another directory",
            Self::Backend => "it lives elsewhere",
            Self::Model => "it runs on another model",
            Self::Policy => "its model was set to stay, or was not",
            Self::Fingerprint => "its instructions, tools or permissions have changed",
            Self::Silent => "it does not answer",
            Self::Stopped => "it was stopped",
        }
    }
}

/// The first reason against it, or none.
pub fn reusable(found: &Found, wanted: &Wanted) -> Result<(), Mismatch> {
    let have = &found.wanted;
    let checks = [
        (have.profile == wanted.profile, Mismatch::Profile),
        (have.directory == wanted.directory, Mismatch::Directory),
        (have.backend == wanted.backend, Mismatch::Backend),
        (have.model == wanted.model, Mismatch::Model),
        (have.policy == wanted.policy, Mismatch::Policy),
        (have.fingerprint == wanted.fingerprint, Mismatch::Fingerprint),
    ];
    if let Some((_, mismatch)) = checks.into_iter().find(|(same, _)| !same) {
        return Err(mismatch);
    }
    match found.standing {
        Standing::Fresh | Standing::Alive | Standing::Asleep => Ok(()),
        Standing::Silent => Err(Mismatch::Silent),
        Standing::Stopped => Err(Mismatch::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Wanted {
        Wanted {
            profile: "coder".into(),
            directory: "/work".into(),
            backend: Backend::Agent,
            model: "p/m".into(),
            policy: ModelPolicy::Dynamic,
            fingerprint: "f".into(),
        }
    }

    #[test]
    fn every_difference_is_a_reason_of_its_own() {
        let other = |change: fn(&mut Wanted)| {
            let mut wanted = wanted();
            change(&mut wanted);
            wanted
        };
        let found = Found { wanted: wanted(), standing: Standing::Alive };
        assert_eq!(reusable(&found, &wanted()), Ok(()));
        for (asked, mismatch) in [
            (other(|wanted| wanted.profile = "docs".into()), Mismatch::Profile),
            (other(|wanted| wanted.directory = "/else".into()), Mismatch::Directory),
            (other(|wanted| wanted.backend = Backend::Server), Mismatch::Backend),
            (other(|wanted| wanted.model = "p/n".into()), Mismatch::Model),
            (other(|wanted| wanted.policy = ModelPolicy::Sticky), Mismatch::Policy),
            (other(|wanted| wanted.fingerprint = "g".into()), Mismatch::Fingerprint),
        ] {
            assert_eq!(reusable(&found, &asked), Err(mismatch));
        }
    }

    #[test]
    fn only_what_answers_or_can_be_resumed_is_used_again() {
        for (standing, expected) in [
            (Standing::Fresh, Ok(())),
            (Standing::Alive, Ok(())),
            (Standing::Asleep, Ok(())),
            (Standing::Silent, Err(Mismatch::Silent)),
            (Standing::Stopped, Err(Mismatch::Stopped)),
        ] {
            assert_eq!(reusable(&Found { wanted: wanted(), standing }, &wanted()), expected);
        }
    }
}
