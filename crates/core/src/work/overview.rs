//! What a person should do next, from what is here: the last line of `shuntyard` without a command.

use crate::work::task::Phase;

/// What the next step depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub configuration: Health,
    pub opencode: Health,
    pub store: Health,
    /// Tasks by phase; those that are not listed are none.
    pub tasks: Vec<(Phase, u64)>,
    /// Those of the waiting tasks that wait for the answer to a permission request.
    pub asking: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    Usable,
    Unusable,
}

/// A command, and why it is the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    pub command: &'static str,
    pub reason: String,
}

impl Facts {
    /// First what keeps everything from working, then what waits for a person, then work that nothing has begun.
    #[must_use]
    pub fn next_step(&self) -> NextStep {
        let count =
            |wanted: Phase| self.tasks.iter().filter(|(phase, _)| *phase == wanted).map(|(_, count)| count).sum();
        let (blocked, failed, running): (u64, u64, u64) =
            (count(Phase::Blocked), count(Phase::Failed), count(Phase::Running));
        let open: u64 = count(Phase::Queued) + count(Phase::Waiting);
        let known: u64 = self.tasks.iter().map(|(_, count)| count).sum();
        let (command, reason) = if self.configuration == Health::Unusable {
            ("shuntyard config check", "the configuration has to be fixed first".to_owned())
        } else if self.store == Health::Unusable {
            ("shuntyard doctor", "the store cannot be used".to_owned())
        } else if self.opencode == Health::Unusable {
            ("shuntyard opencode install", "OpenCode was not found".to_owned())
        } else if self.asking > 0 {
            ("shuntyard status", format!("{} for a permission", tasks(self.asking, "waits", "wait")))
        } else if blocked > 0 {
            ("shuntyard status", format!("{} for a decision of yours", tasks(blocked, "waits", "wait")))
        } else if running > 0 {
            ("shuntyard status", format!("{} at work", tasks(running, "is", "are")))
        } else if open > 0 {
            ("shuntyard supervise", format!("{} in the queue", tasks(open, "is", "are")))
        } else if failed > 0 {
            ("shuntyard task list --phase failed", format!("{} failed", tasks(failed, "has", "have")))
        } else if known > 0 {
            ("shuntyard task add \"…\"", "everything in the queue is done".to_owned())
        } else {
            (
                "shuntyard demo",
                "it shows all of this without a key; or ask a model: shuntyard dispatch \"…\"".to_owned(),
            )
        };
        NextStep { command, reason }
    }
}

fn tasks(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 task {one}") } else { format!("{count} tasks {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_comes_first() {
        let (good, bad) = (Health::Usable, Health::Unusable);
        /// Configuration, OpenCode and store; tasks; the command and a part of the reason.
        type Row = ([Health; 3], &'static [(Phase, u64)], &'static str, &'static str);
        let table: &[Row] = &[
            ([good, good, good], &[], "shuntyard demo", "without a key"),
            ([bad, bad, bad], &[(Phase::Blocked, 1)], "shuntyard config check", "configuration"),
            ([good, bad, bad], &[], "shuntyard doctor", "store"),
            ([good, bad, good], &[(Phase::Queued, 1)], "shuntyard opencode install", "OpenCode"),
            ([good, good, good], &[(Phase::Queued, 3), (Phase::Blocked, 1)], "shuntyard status", "1 task waits for"),
            ([good, good, good], &[(Phase::Queued, 3), (Phase::Running, 2)], "shuntyard status", "2 tasks are at work"),
            ([good, good, good], &[(Phase::Queued, 1), (Phase::Waiting, 2)], "shuntyard supervise", "3 tasks are in"),
            ([good, good, good], &[(Phase::Failed, 1)], "shuntyard task list --phase failed", "1 task has failed"),
            ([good, good, good], &[(Phase::Done, 9)], "shuntyard task add \"…\"", "done"),
            ([good, good, good], &[(Phase::Done, 0)], "shuntyard demo", "without a key"),
        ];
        for ([configuration, opencode, store], tasks, command, reason) in table {
            let facts = Facts {
                configuration: *configuration,
                opencode: *opencode,
                store: *store,
                tasks: tasks.to_vec(),
                asking: 0,
            };
            let step = facts.next_step();
            assert_eq!(step.command, *command, "{facts:?}");
            assert!(step.reason.contains(reason), "{facts:?}: {}", step.reason);
            let asked = Facts { asking: 2, ..facts.clone() }.next_step();
            let can_answer = [configuration, opencode, store].iter().all(|health| **health == Health::Usable);
            assert_eq!(asked.reason == "2 tasks wait for a permission", can_answer, "{facts:?}: {}", asked.reason);
        }
    }
}
