//! `shuntyard dispatch`: one prompt, one answer.

use super::{
    Global,
    batch::{self, ManyArgs},
    input, preview,
    progress::Display,
    selection::{self, SelectionArgs},
};
use crate::{
    failure::{Failure, exit_of},
    ui::{self, Format},
};
use clap::{Args, ValueEnum};
use shuntyard_core::{
    Nano,
    routing::{
        Exchange, Rule,
        request::{Request, Selector},
    },
    settings::{Config, Via},
    values::{Mode, duration, schema::AnswerSchema},
};
use shuntyard_engine::{DispatchReport, Options, dispatch, dispatch::check_locally, fanout::batch::Targets};
use std::{path::PathBuf, process::ExitCode, time::Duration};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard dispatch -m anthropic/claude-sonnet-5 \"Explain the borrow checker in two sentences\"
  shuntyard dispatch --task-type code-review @diff.patch
  git diff | shuntyard dispatch --tier haiku --system \"Write a commit message\" -
  shuntyard dispatch -m openai/gpt-6-sol@low --schema @verdict.json --json @question.md
  shuntyard dispatch -m anthropic/claude-sonnet-5 -m openai/gpt-6-sol --judge opus \"Which index would help?\"
  shuntyard dispatch --tier sonnet --count 3 --consensus @diff.patch
  shuntyard dispatch --mode agent --dir ../app \"Rename module foo to bar and fix the tests\"")]
pub struct DispatchArgs {
    /// The prompt: text, @file, or - for standard input
    prompt: Option<String>,
    /// The model: provider/model, provider/model@variant, or as much of a name as only one model has; several of them
    /// (or a JSON array) are asked at once
    #[arg(short, long, value_name = "P/M[@VARIANT]")]
    model: Vec<String>,
    #[command(flatten)]
    many: ManyArgs,
    /// How to reach the model: through OpenCode, or directly at a provider that speaks OpenAI's protocol
    #[arg(long, value_enum, value_name = "WAY")]
    via: Option<ViaArg>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// What the whole dispatch may cost, in dollars: refused when it would probably cost more, ended when it did
    #[arg(long, value_name = "USD", value_parser = input::dollars)]
    max_cost: Option<Nano>,
    /// Charge it to this task too; a limit that the task has holds for it
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Charge it to this batch too; a limit that the batch has holds for it
    #[arg(long, value_name = "NAME")]
    batch: Option<String>,
    #[command(flatten)]
    urgency: input::UrgencyArgs,
    /// Choose by what the prompt looks like, as `shuntyard route` does
    #[arg(long)]
    route: bool,
    /// When the named model fails, ask another one (routed ones move on by themselves)
    #[arg(long)]
    fallback: bool,
    /// How to run it: text answers without tools, agent works in the directory, command runs `/name args`
    #[arg(long, value_enum, default_value_t = ModeArg::Text)]
    mode: ModeArg,
    /// A system prompt: text, @file or -
    #[arg(long, value_name = "S")]
    system: Option<String>,
    /// A JSON Schema that the answer must fit: JSON, @file or -
    #[arg(long, value_name = "JSON")]
    schema: Option<String>,
    /// How long it may take, like 90s or 2m; 0 or none: as long as it takes
    #[arg(long, value_name = "DURATION")]
    timeout: Option<String>,
    /// An image that goes with the prompt; may be repeated
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,
    /// Go on with a session that an earlier dispatch kept
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Keep the session for another prompt
    #[arg(long)]
    keep: bool,
    /// The directory to work in; the current one by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// An OpenCode agent to lead the run
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Steps that an agent may take, 1 to 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    steps: Option<u32>,
    /// Only decide which model would be asked, as `shuntyard route` does; nothing is sent
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ViaArg {
    Auto,
    Opencode,
    Direct,
}

impl From<ViaArg> for Via {
    fn from(via: ViaArg) -> Self {
        match via {
            ViaArg::Auto => Self::Auto,
            ViaArg::Opencode => Self::Opencode,
            ViaArg::Direct => Self::Direct,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeArg {
    Text,
    Agent,
    Command,
}

pub async fn run(global: &Global, args: &DispatchArgs) -> Result<ExitCode, Failure> {
    let settings = global.settings()?;
    let targets = args.many.targets(&args.model, &args.selection, &settings.layered.config)?;
    let mut request = request(args, targets.as_ref(), &settings.layered.config)?;
    args.many.check(targets.as_ref(), &mut request)?;
    if targets.is_some() && args.fallback {
        // Two that fail could both end at a third, which would be paid twice.
        return Err(Failure::usage("a failed one of several is not exchanged", "leave out --fallback"));
    }
    let timeout = input::timeout(args.timeout.as_deref())?;
    let urgency = args.urgency.urgency();
    let exchange = if args.fallback { Exchange::Asked } else { Exchange::Routed };
    let options = Options {
        timeout,
        steps: args.steps,
        exchange,
        classify: args.route,
        max_cost: args.max_cost,
        urgency,
        task: args.task.clone(),
        batch: args.batch.clone(),
        task_type: args.selection.task_type.clone(),
        via: args.via.map(Via::from),
        ..Options::default()
    };
    check_locally(&settings.layered.config, &request)?;
    let context = settings.into_context().await?;
    let format = global.format();
    if args.dry_run {
        return preview::dispatch(&context, &request, &options, targets.as_ref(), format).await;
    }
    if let Some(targets) = &targets {
        return batch::run(&context, format, &request, &options, targets, &args.many).await;
    }
    let streaming = format == Format::People && ui::stdout_is_terminal() && request.schema.is_none();
    let display = Display::new(streaming, &waiting_for(&request.selector));
    let cancel = cancel_on_signal();
    let result = dispatch(&context, &request, &options, &display.sink(), &cancel).await;
    let shown = display.finish();
    let report = result?;
    match format {
        Format::Json => ui::json(&report),
        Format::People => show(&report, &request, &options, &shown),
    }
    Ok(match &report.error {
        None => ExitCode::SUCCESS,
        Some(error) => ExitCode::from(exit_of(error.class) as u8),
    })
}

fn request(args: &DispatchArgs, targets: Option<&Targets>, config: &Config) -> Result<Request, Failure> {
    let Some(prompt) = &args.prompt else {
        return Err(Failure::usage("no prompt was given", "give it as text, as @file, or as - for standard input"));
    };
    Ok(Request {
        prompt: input::text(prompt, "the prompt")?,
        selector: if targets.is_some() { Selector::Default } else { selector(args, config)? },
        mode: match args.mode {
            ModeArg::Text => Mode::Text,
            ModeArg::Agent => Mode::Agent,
            ModeArg::Command => Mode::Command,
        },
        directory: input::directory(args.dir.as_ref())?,
        system: args.system.as_deref().map(|text| input::text(text, "the system prompt")).transpose()?,
        schema: args.schema.as_deref().map(schema).transpose()?,
        images: args.image.iter().map(|path| input::image(path)).collect::<Result<_, _>>()?,
        session: args.session.clone(),
        keep: args.keep,
        agent: args.agent.clone(),
        capabilities: Vec::new(),
        access: shuntyard_core::values::Access::Write,
    })
}

/// A model that is named beats every other way to choose.
fn selector(args: &DispatchArgs, config: &Config) -> Result<Selector, Failure> {
    match args.model.as_slice() {
        [] => args.selection.selector(config),
        [model, ..] => selection::model(config, model),
    }
}

fn schema(argument: &str) -> Result<AnswerSchema, Failure> {
    let text = input::text(argument, "the schema")?;
    AnswerSchema::parse(&text).map_err(|error| Failure::usage(error, "for example --schema @schema.json"))
}

fn waiting_for(selector: &Selector) -> String {
    match selector {
        Selector::Exact(model) => format!("waiting for {model}"),
        Selector::TaskType(name) => format!("waiting for a model for {name}"),
        Selector::Tier(name) => format!("waiting for a model of tier {name}"),
        Selector::Tag(tag) => format!("waiting for a model by tag {tag}"),
        Selector::Profile(name) => format!("waiting for the model of profile {name}"),
        Selector::Fuzzy(name) => format!("waiting for {name}"),
        Selector::Default => "waiting for the default model".to_owned(),
    }
}

fn show(report: &DispatchReport, request: &Request, options: &Options, shown: &str) {
    let streamed = !shown.is_empty();
    let text = match &report.structured {
        Some(value) => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
        None => report.text.clone(),
    };
    if streamed {
        // The text is on the screen already, unless some of it was lost on the way; what follows needs a new line.
        let rest = if report.error.is_none() { missing(shown, &text) } else { None };
        ui::result(rest.unwrap_or_default());
    }
    for warning in &report.warnings {
        ui::warn(warning);
    }
    if let Some(error) = &report.error {
        if !report.text.trim().is_empty() && !streamed {
            ui::note(&format!("what {} had said until then:\n{}", report.model, report.text));
        }
        ui::failure(&Failure::from(error), Format::People);
        return;
    }
    ui::frame(&header(report, request, options));
    if !streamed {
        ui::result(&text);
    }
    if report.kept {
        ui::note(&format!("session {} is kept: go on with --session {0}", report.session_id));
    }
}

/// What of the answer is not on the screen yet. Steps before the last one may be there as well.
fn missing<'a>(shown: &str, text: &'a str) -> Option<&'a str> {
    let (shown, text) = (shown.trim_end(), text.trim_end());
    if shown.ends_with(text) {
        return None;
    }
    Some(text.strip_prefix(shown).unwrap_or(text))
}

/// `--- dispatch response from p/m [routed: code-review, structured-json] (1.2s, $0.0032) ---`
fn header(report: &DispatchReport, request: &Request, options: &Options) -> String {
    let mut modifiers = Vec::new();
    match (&report.route.rule, &request.selector) {
        (_, Selector::TaskType(name) | Selector::Tier(name) | Selector::Profile(name)) => {
            modifiers.push(format!("routed: {name}"));
        }
        (_, Selector::Tag(tag)) => modifiers.push(format!("routed: {tag}")),
        (Rule::Classifier, _) => {
            modifiers.push(format!("routed: {}", report.route.task_type.as_deref().unwrap_or("by its text")));
        }
        (Rule::Agent, _) => modifiers.push("agent's model".to_owned()),
        (Rule::Default, _) => modifiers.push("default model".to_owned()),
        _ => {}
    }
    if report.attempts.len() > 1 {
        modifiers.push("fallback".to_owned());
    }
    if request.mode != Mode::Text {
        modifiers.push(request.mode.to_string());
    }
    if request.system.is_some() {
        modifiers.push("custom-system".into());
    }
    if request.schema.is_some() {
        modifiers.push("structured-json".into());
    }
    if let Some(timeout) = options.timeout {
        modifiers.push(format!("timeout-{timeout}"));
    }
    let modifiers = if modifiers.is_empty() { String::new() } else { format!(" [{}]", modifiers.join(", ")) };
    let cost = match (Nano::from_usd(report.cost_usd), report.cost_known) {
        (Some(cost), true) => cost.to_string(),
        (Some(cost), false) if cost != Nano::ZERO => format!("estimated {cost}"),
        _ => "cost unknown".to_owned(),
    };
    let took = duration::show(Duration::from_millis(report.duration_ms));
    format!("--- dispatch response from {}{modifiers} ({took}, {cost}) ---", report.model)
}

/// The first signal ends the run cleanly, also on the server; a second one ends this process at once.
pub(super) fn cancel_on_signal() -> CancellationToken {
    let cancel = CancellationToken::new();
    let token = cancel.clone();
    // Nothing waits for this task: it lives as long as the command and holds nothing.
    drop(tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if token.is_cancelled() {
                std::process::exit(1);
            }
            ui::note("stopping; once more to leave at once");
            token.cancel();
        }
    }));
    cancel
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn what_a_stream_lost_is_shown_in_the_end() {
        let table = [
            ("whole answer", "whole answer\n", None),
            ("first step\nwhole answer", "whole answer", None),
            ("whole an", "whole answer", Some("swer")),
            ("wh answer", "whole answer", Some("whole answer")),
        ];
        for (shown, text, rest) in table {
            assert_eq!(missing(shown, text), rest, "{shown}");
        }
    }
}
