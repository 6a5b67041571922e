//! Everything that can be refused before a model is asked.

use super::{Options, SessionModel, attempt::Run};
use crate::{
    Context,
    base::refusal::Refusal,
    routing::{
        availability::{self, Known},
        budget,
        catalogue::{self, Extent, Refresh, Settings, Shelf},
        choose::{Past, question},
        experience::Trying,
    },
    servers::{Acquired, project_stamps},
};
use shuntyard_agents::opencode::{ApiError, Client};
use shuntyard_core::{
    ModelRef,
    limits::Line,
    routing::{Advice, AgentWish, Catalogue, Question, Resolution, Selector, check_names, request::Request, resolve},
    settings::Config,
    values::{Mode, Urgency, nearest::nearest},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ErrorKind, SessionState};
use std::{collections::BTreeSet, sync::Arc};

/// What a run needs to know of the server, and the choice that was made from it.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) resolution: Resolution,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) known: Known,
    pub(super) advice: Advice,
    /// Providers whose prompts go where the directory's own settings say.
    pub(super) foreign: BTreeSet<String>,
    /// What is new about the limits.
    pub(super) told: Vec<String>,
    /// The limits that hold for it.
    pub(super) lines: Vec<Line>,
}

impl Prepared {
    /// The same question again, with what is known by now.
    pub(super) fn question<'a>(&'a self, context: &'a Context, request: &'a Request) -> Question<'a> {
        question(context, &request.selector, request.needs(), &self.catalogue, &self.known, &self.advice)
    }
}

/// Checks that need nothing but the request and the configuration, so that a command can make them before it
/// opens or creates anything.
pub fn check_locally(config: &Config, request: &Request) -> Result<(), Refusal> {
    request.check()?;
    check_names(&request.selector, config)?;
    if !request.directory.is_dir() {
        // OpenCode would take it and work in nowhere.
        return Err(Refusal::NoDirectory(request.directory.display().to_string()));
    }
    Ok(())
}

/// The directory's OpenCode settings, as files and as the server has read them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Directory<'a> {
    pub(super) stamps: &'a str,
    pub(super) settings: Settings,
}

pub(super) async fn prepare(
    run: Run<'_>,
    client: &Client,
    acquired: &Acquired,
    directory: &Directory<'_>,
) -> Result<Prepared, Refusal> {
    let Run { context, request, options, .. } = run;
    let shelf = Shelf::within(context, &acquired.surroundings, &request.directory, directory.stamps);
    let going_on = going_on(context, request).await;
    let request = going_on.as_ref().unwrap_or(request);
    let leading = check_agent(request, client);
    let limits = budget::lines(context, options.concern());
    let (known, leading, lines) =
        tokio::join!(availability::load_for(context, &request.directory, now_micros()), leading, limits);
    let (known, wish, lines) = (known?, leading?, lines?);
    let advice = advised(run, request, wish, &lines).await?;
    // The alert is due also when everything is refused below.
    let told = budget::alert(context, &lines).await?;
    let copy = if acquired.managed.is_some() { catalogue::from_server_before(context, &shelf) } else { None };
    let (resolution, catalogue) = match copy {
        // A server of the user's may have changed without a sign; a managed one has what our copy has.
        Some(copy) => match resolve(&question(context, &request.selector, request.needs(), &copy, &known, &advice)) {
            Ok(resolution) => (resolution, copy),
            Err(_) => route(context, request, client, &shelf, directory.settings, &known, &advice).await?,
        },
        None => route(context, request, client, &shelf, directory.settings, &known, &advice).await?,
    };
    if let Some(session) = &request.session {
        let model = (options.session_model == SessionModel::Same).then_some(&resolution.model);
        check_session(context, session, &request.directory, model, acquired, client).await?;
    }
    let resolution = explained(resolution, options);
    let foreign = catalogue::foreign(context, &request.directory, directory.stamps);
    let catalogue = Arc::new(catalogue);
    Ok(Prepared { resolution, catalogue, known, advice, foreign, told, lines })
}

/// With the choice that was made before, if one was.
fn explained(mut resolution: Resolution, options: &Options) -> Resolution {
    if let Some(chosen) = &options.chosen_for {
        chosen.explain(&mut resolution);
    }
    resolution
}

/// Everything that is known before a choice, without the list of models.
async fn advised(run: Run<'_>, request: &Request, wish: Option<AgentWish>, lines: &[Line]) -> Result<Advice, Refusal> {
    let Run { context, options, .. } = run;
    let classified = run.classified.cloned();
    let budget = budget::advice(context, lines, options.urgency);
    let looks = classified.as_ref().and_then(|classified| classified.task_type.as_deref());
    let trying = if options.urgency == Urgency::Normal { Trying::Allowed } else { Trying::Never };
    let (selector, text) = (&request.selector, Some(request.prompt.as_str()));
    let Past { pattern, contest } = Past::of(context, selector, looks, text, &request.directory, trying).await?;
    Ok(Advice { agent: wish, pattern, contest, classified, budget })
}

/// The same for a request that may need no server. Nothing when the files do not show where it should go: a server may
/// know more.
pub(super) async fn prepare_alone(run: Run<'_>) -> Result<Option<Prepared>, Refusal> {
    let Run { context, request, options, .. } = run;
    let (catalogue, foreign) = match listed_before(context, &request.directory).await {
        Ok(found) => found,
        // Whatever is wrong, the server says it better.
        Err(_) => return Ok(None),
    };
    let known = availability::load_for(context, &request.directory, now_micros());
    let (known, lines) = tokio::join!(known, budget::lines(context, options.concern()));
    let (known, lines) = (known?, lines?);
    let advice = advised(run, request, None, &lines).await?;
    let question = question(context, &request.selector, request.needs(), &catalogue, &known, &advice);
    let Ok(resolution) = resolve(&question).map(|resolution| explained(resolution, options)) else { return Ok(None) };
    Ok(Some(Prepared { resolution, catalogue, known, advice, foreign, told: Vec::new(), lines }))
}

/// The list of models, read once in a process for each directory: a batch asks for it again and again.
async fn listed_before(
    context: &Context,
    directory: &std::path::Path,
) -> Result<(Arc<Catalogue>, BTreeSet<String>), Refusal> {
    if let Some(found) = context.direct.listed(directory) {
        return Ok(found);
    }
    let listed = catalogue::current(context, directory, Refresh::IfStale, Extent::Connected).await?;
    let foreign = catalogue::foreign(context, directory, &project_stamps(directory));
    let found = (Arc::new(listed.catalogue), foreign);
    context.direct.keep_list(directory, found.clone());
    Ok(found)
}

/// A session speaks with one model: a caller that continues it and names none means that one. What is wrong with the
/// session is reported when it is checked.
async fn going_on(context: &Context, request: &Request) -> Option<Request> {
    let session = request.session.as_ref().filter(|_| request.selector == Selector::Default)?;
    let record = context.store.session(session).await.ok()?;
    let model = record.model.parse().ok()?;
    Some(Request { selector: Selector::Exact(model), ..request.clone() })
}

/// Chooses from what the server says now: before anything is refused, it is asked.
async fn route(
    context: &Context,
    request: &Request,
    client: &Client,
    shelf: &Shelf,
    settings: Settings,
    known: &Known,
    advice: &Advice,
) -> Result<(Resolution, Catalogue), Refusal> {
    let catalogue = catalogue::ask(context, client, shelf, settings).await?;
    let resolution = resolve(&question(context, &request.selector, request.needs(), &catalogue, known, advice))?;
    Ok((resolution, catalogue))
}

/// Whether the agent that leads exists, as OpenCode says nothing useful about one that does not; and the model that
/// it asks for.
async fn check_agent(request: &Request, client: &Client) -> Result<Option<AgentWish>, Refusal> {
    if request.mode == Mode::Command {
        let (name, _) = request.command();
        let known = client.commands().await?;
        if !known.iter().any(|command| command == name) {
            return Err(Refusal::UnknownCommand { name: name.to_owned(), known: short_list(name, &known) });
        }
    }
    let Some(name) = &request.agent else { return Ok(None) };
    let known = client.agents().await?;
    if let Some(found) = known.iter().find(|agent| agent.name == *name) {
        let model = found.model.clone().filter(|_| request.selector == Selector::Default);
        return Ok(model.map(|model| AgentWish { agent: name.clone(), model }));
    }
    let names: Vec<String> = known.into_iter().map(|agent| agent.name).collect();
    Err(Refusal::UnknownAgent { name: name.clone(), known: short_list(name, &names) })
}

fn short_list(name: &str, known: &[String]) -> String {
    let near = nearest(name, known.iter().map(String::as_str), 3);
    let names = if near.is_empty() { known.iter().map(String::as_str).take(20).collect() } else { near };
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A session may be continued only where it lives, by one prompt at a time, and with its own model unless any will do.
async fn check_session(
    context: &Context,
    session: &str,
    directory: &std::path::Path,
    model: Option<&ModelRef>,
    acquired: &Acquired,
    client: &Client,
) -> Result<(), Refusal> {
    let unknown = || Refusal::UnknownSession(session.to_owned());
    let record = match context.store.session(session).await {
        // A session that was archived or deleted cannot be continued.
        Ok(record)
            if record.home == acquired.home
                && !matches!(record.state, SessionState::Archived | SessionState::Doomed | SessionState::Deleted) =>
        {
            record
        }
        Ok(_) => return Err(unknown()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    match client.session(session).await {
        Ok(_) => {}
        Err(ApiError::NotFound(_)) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    }
    // OpenCode runs a session in its own directory and reports it only there, whatever the request says.
    if std::path::Path::new(&record.directory) != directory {
        return Err(Refusal::OtherDirectory { session: session.to_owned(), directory: record.directory });
    }
    if model.is_some_and(|model| record.model != model.to_string()) {
        return Err(Refusal::OtherModel { session: session.to_owned(), model: record.model });
    }
    if client.running().await?.contains_key(session) {
        return Err(Refusal::SessionBusy { session: session.to_owned() });
    }
    Ok(())
}
