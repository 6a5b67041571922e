//! Who works next on a spec, from the result of each step until now. This module has no state: asking
//! again with the same facts gets the same answer.
//!
//! Invariant: the order is that of the spec, the validator is the last of each cycle, there is at most one cycle more
//! than the first, and a step that did not end well is never passed over.

use super::{
    execution::{Agent, Role},
    report::Verdict,
};

/// The first cycle, and one in which the validator's findings are fixed.
pub const MOST_CYCLES: u32 = 2;

/// What has become of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub role: Role,
    pub cycle: u32,
    pub outcome: RoleOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleOutcome {
    /// Its work is there and was found good.
    Approved,
    /// The validator has ended, with the verdict of its report.
    Judged(Verdict),
    Failed {
        reason: String,
    },
    /// A person has to do or to decide something first.
    Blocked {
        reason: String,
    },
    Cancelled {
        reason: String,
    },
    Running,
    /// For capacity, a limit or its turn.
    Waiting,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Run { role: Role, cycle: u32 },
    Wait,
    Finished,
    Escalate { reason: String },
}

/// Of two facts about the same step, the later counts.
#[must_use]
pub fn next(pipeline: &[Role], done: &[Done]) -> Next {
    if !pipeline.iter().any(|role| *role != Role::Validator) {
        return escalate("Execution names nobody, so nothing runs");
    }
    for (role, cycle) in steps(pipeline) {
        let Some(found) = done.iter().rfind(|done| done.role == role && done.cycle == cycle) else {
            return Next::Run { role, cycle };
        };
        match (&found.outcome, role) {
            (RoleOutcome::Approved | RoleOutcome::Judged(_), Role::Agent(_)) => {}
            (RoleOutcome::Approved, Role::Validator) => return escalate("the validator gave no verdict"),
            (RoleOutcome::Judged(verdict), Role::Validator) => match verdict {
                Verdict::Pass => return Next::Finished,
                Verdict::Fail if cycle < MOST_CYCLES => {}
                Verdict::Fail => return escalate("the validator says fail, also after what it found was mended"),
                Verdict::Blocked => return escalate("the validator says blocked"),
                Verdict::Unclear(None) => return escalate("the validation report has no verdict"),
                Verdict::Unclear(Some(words)) => {
                    return escalate(&format!("the validation report has no clear verdict: {words}"));
                }
            },
            (
                RoleOutcome::Failed { reason } | RoleOutcome::Blocked { reason } | RoleOutcome::Cancelled { reason },
                _,
            ) => return escalate(&format!("{}: {reason}", role.as_str())),
            (RoleOutcome::Running | RoleOutcome::Waiting, _) => return Next::Wait,
        }
    }
    // Every way through the steps ends at the last validator.
    escalate("there is nothing left to do, and no verdict")
}

/// All steps that there can be, in their order.
#[must_use]
pub fn steps(pipeline: &[Role]) -> Vec<(Role, u32)> {
    let agents: Vec<Agent> = pipeline
        .iter()
        .filter_map(|role| match role {
            Role::Agent(agent) => Some(*agent),
            Role::Validator => None,
        })
        .collect();
    // Without an implementer, the agent that worked last fixes the findings.
    let mender = agents.iter().find(|agent| **agent == Agent::Implementer).or(agents.last()).copied();
    let first = agents.into_iter().map(Role::Agent).chain([Role::Validator]).map(|role| (role, 1));
    let second = mender.into_iter().flat_map(|agent| [(Role::Agent(agent), 2), (Role::Validator, 2)]);
    first.chain(second).collect()
}

fn escalate(reason: &str) -> Next {
    Next::Escalate { reason: reason.to_owned() }
}
