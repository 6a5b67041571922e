//! `--dry-run` of commands that ask models: which ones would be asked. It asks none.

use super::route;
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::{ModelRef, routing::request::Request};
use shuntyard_engine::{
    Context, Options,
    fanout::batch::{Target, Targets, expand_for},
    routing::{
        catalogue::Refresh,
        choose::{Task, decide},
    },
};
use std::{path::Path, process::ExitCode};

/// What would be asked, and what would follow.
#[derive(Debug)]
pub struct Preview<'a> {
    pub targets: &'a [Target],
    /// The model that would change files after that, and how often at most.
    pub fixer: Option<(String, u32)>,
    pub directory: &'a Path,
}

pub fn show(preview: &Preview<'_>, format: Format) -> ExitCode {
    match format {
        Format::Json => ui::json(&document(preview)),
        Format::People => people(preview),
    }
    ExitCode::SUCCESS
}

/// The decision of a dispatch without the dispatch.
pub async fn dispatch(
    context: &Context,
    request: &Request,
    options: &Options,
    targets: Option<&Targets>,
    format: Format,
) -> Result<ExitCode, Failure> {
    if let Some(targets) = targets {
        let (targets, notes) = expand_for(context, targets, request.needs(), &request.directory, options).await?;
        notes.iter().for_each(|warning| ui::warn(warning));
        return Ok(show(&Preview { targets: &targets, fixer: None, directory: &request.directory }, format));
    }
    let task = Task {
        selector: request.selector.clone(),
        text: options.classify.then_some(request.prompt.as_str()),
        needs: request.needs(),
        directory: &request.directory,
        agent: request.agent.as_deref(),
        avoid: &[],
        cost_check: options.into(),
    };
    route::report(&decide(context, &task, Refresh::IfStale).await?, format);
    ui::note("nothing was sent");
    Ok(ExitCode::SUCCESS)
}

fn document(preview: &Preview<'_>) -> Value {
    let asked: Vec<Value> = preview
        .targets
        .iter()
        .map(|target| {
            let model = target.chosen.as_ref().ok().map(ModelRef::to_string);
            json!({"name": target.name, "model": model, "problem": target.chosen.as_ref().err().map(ToString::to_string)})
        })
        .collect();
    let fixer = preview.fixer.as_ref().map(|(fixer, most)| json!({"name": fixer, "max_iterations": most}));
    json!({"dry_run": true, "would_ask": asked, "fixer": fixer, "directory": preview.directory})
}

fn people(preview: &Preview<'_>) {
    for target in preview.targets {
        match &target.chosen {
            Ok(model) => ui::result(&format!("{model} would be asked")),
            Err(refusal) => ui::result(&format!("{} would not be asked: {refusal}", target.name)),
        }
    }
    if let Some((fixer, most)) = &preview.fixer {
        let directory = preview.directory.display();
        ui::result(&format!("{fixer} would fix what they find in {directory}, at most {most} times"));
    }
    ui::note("nothing was sent, and nothing is changed");
}
