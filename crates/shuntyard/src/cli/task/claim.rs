//! `shuntyard task claim` and `unclaim`: writes who does a task into TODO.md, for every store that shares it.

use crate::{
    cli::{Global, input},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{todo::ClaimError, values::clean_line, work::task::TaskId};
use shuntyard_engine::{
    Context,
    queue::claims::{self, Claim, ClaimFault, Line, Marked, Run, Taken, Whose},
};
use shuntyard_store::ErrorKind;
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Args)]
pub struct ClaimArgs {
    #[command(flatten)]
    line: LineArgs,
}

#[derive(Debug, Args)]
pub struct UnclaimArgs {
    #[command(flatten)]
    line: LineArgs,
    /// Take it from its present assignee, who may be at work where you cannot see it
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct LineArgs {
    /// The task
    id: TaskId,
    /// The repository whose TODO.md has it; that of the task, or of the current directory, by default
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The branch that TODO.md is shared on; that of the task, or the remote's own, by default
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

impl LineArgs {
    fn run(&self) -> Run {
        if self.dry_run { Run::Dry } else { Run::Real }
    }

    /// The line that the store knows for the id; with a directory, or without such a task, the line of that name.
    async fn line(&self, context: &Context) -> Result<Line, Failure> {
        if self.repo.is_none() {
            match context.store.task(&self.id).await {
                Ok(record) => {
                    if let Some(line) = Line::of(&record.task) {
                        let base = self.base.clone().unwrap_or_else(|| line.base.clone());
                        return Ok(Line { base, ..line });
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        let directory = input::directory(self.repo.as_ref())?;
        Line::within(&directory, self.base.as_deref(), &self.id).await.map_err(failure)
    }
}

pub async fn claim(global: &Global, args: &ClaimArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let line = args.line.line(&context).await?;
    let Claim { taken, who, place, notes } = claims::claim(&context, &line, args.line.run()).await.map_err(failure)?;
    let (word, unconfirmed) = match taken {
        Taken::Confirmed => ("confirmed", None),
        Taken::Local | Taken::NotNeeded => ("local", None),
        Taken::Unconfirmed(why) => ("unconfirmed", Some(why)),
        Taken::Lost { by } if by == who => {
            let message = format!("{} is claimed by {by}, which is you, but not from here", line.todo);
            let hint = "another store of yours has it, or a person wrote it; `shuntyard task unclaim` gives it back";
            return Err(Failure::refused(message, hint));
        }
        Taken::Lost { by } => {
            let message = format!("{} is claimed by {}", line.todo, named(&by));
            return Err(Failure::refused(message, "choose another task, or ask them to give it back"));
        }
        Taken::Offline(why) => return Err(unreachable(&place, &why)),
    };
    match global.format() {
        Format::Json => ui::json(&json!({"id": args.line.id, "todo": line.todo, "claim": word, "by": who,
            "place": place, "repo": line.repository, "dry_run": args.line.dry_run, "notes": notes})),
        Format::People => {
            let did = if args.line.dry_run { "would be claimed" } else { "is claimed" };
            ui::result(&format!("{} {did} by {who} on {place}", line.todo));
        }
    }
    notes.iter().for_each(|note| ui::note(note));
    if let Some(why) = unconfirmed {
        ui::warn(&format!("nobody else can see this claim yet: {why}"));
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn unclaim(global: &Global, args: &UnclaimArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let line = args.line.line(&context).await?;
    let whose = if args.force { Whose::Anyones } else { Whose::ThisName };
    let (word, note) = match claims::unclaim(&context, &line, whose, args.line.run()).await.map_err(failure)? {
        Marked::Confirmed { note } => ("confirmed", note),
        Marked::Local => ("local", None),
        Marked::Already | Marked::NotNeeded => ("already", None),
        Marked::Would => ("would_release", None),
        Marked::Anothers { by } => {
            let by = named(&by);
            let message = format!("{} is claimed by {by}, who may be at work where you cannot see it", line.todo);
            return Err(Failure::refused(message, "ask them; `--force` takes it all the same"));
        }
        Marked::Offline(why) => return Err(unreachable("the remote", &why)),
    };
    match global.format() {
        Format::Json => ui::json(&json!({"id": args.line.id, "todo": line.todo, "unclaim": word,
            "repo": line.repository, "dry_run": args.line.dry_run, "notes": note.iter().collect::<Vec<_>>()})),
        Format::People => {
            let said = match word {
                "already" => "was not claimed",
                "would_release" => "would be given back",
                _ => "is given back",
            };
            ui::result(&format!("{} {said}", line.todo));
        }
    }
    note.iter().for_each(|note| ui::note(note));
    Ok(ExitCode::SUCCESS)
}

/// A name from the file, which is untrusted text.
fn named(by: &str) -> String {
    clean_line(by, 80)
}

/// The first line of git's output that is a complaint has the reason.
pub fn unreachable(place: &str, why: &str) -> Failure {
    let complaint = why.lines().find(|line| line.starts_with("fatal:") || line.starts_with("error:"));
    let why = clean_line(complaint.or_else(|| why.lines().next()).unwrap_or_default(), 200);
    let hint = "nobody knows who has it until it answers: try again, or see `git fetch`";
    Failure::unavailable("git", format!("{place} cannot be asked: {why}"), hint)
}

/// An error of a repository or its TODO.md, as people and scripts see it.
pub fn failure(fault: ClaimFault) -> Failure {
    let message = fault.to_string();
    match fault {
        ClaimFault::Store(error) => error.into(),
        ClaimFault::Add(error) => error.into(),
        ClaimFault::Change(error) => Failure::task(error),
        ClaimFault::BadIdentity(_) => Failure {
            hint: "set `supervise.identity` or SHUNTYARD_IDENTITY to one word".into(),
            ..Failure::configuration(message)
        },
        ClaimFault::NoRepository(_) => Failure::usage(message, "name a repository with --repo"),
        ClaimFault::NoBranch(_) | ClaimFault::NotShared { .. } => Failure::usage(message, "name a branch with --base"),
        ClaimFault::NoFile { .. } | ClaimFault::BadFile { .. } => {
            Failure::usage(message, "commit a TODO.md with lines like `- [ ] t001 what is to be done`")
        }
        ClaimFault::Claim(ClaimError::Edit(_)) | ClaimFault::Edit(_) => {
            Failure::usage(message, "see TODO.md on that branch")
        }
        ClaimFault::Claim(_) | ClaimFault::Complete(_) => Failure::refused(message, "see TODO.md on that branch"),
        ClaimFault::Unreachable { place, why } => unreachable(&place, &why),
        ClaimFault::BadModel { .. } => Failure::usage(message, "name a tier or a model there, or use --model"),
        ClaimFault::Dirty(_) => Failure::refused(message, "commit or stash it, then try again"),
        ClaimFault::Rejected { .. } => {
            Failure::unavailable("git", message, "see whether you may push to that branch, then try again")
        }
        ClaimFault::Busy(_) => Failure::unavailable("git", message, "try again"),
        ClaimFault::Git(_) => Failure::unavailable("git", message, "see whether git works there"),
        ClaimFault::Io(_) => Failure::unavailable("host", message, "see whether the disk is full, then try again"),
    }
}
