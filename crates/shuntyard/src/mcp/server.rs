//! The protocol's side: which tools there are, and each call to its file. Every error of a call is in its result, where
//! a model can read it; clients hide the errors of the protocol from their models.

use super::{
    answer::Answer,
    arguments::Arguments,
    caller::Caller,
    dispatch,
    field::schema,
    list, look, start,
    tasks::{self, result_of},
    tools::{Effect, Tool, Toolset},
    wait,
    yard::Yard,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam, CustomRequest,
        CustomResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListToolsResult, PaginatedRequestParams,
        RequestId, ServerCapabilities, ServerConfig, ToolAnnotations, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::{Map, Value};
use shuntyard_engine::queue::jobs::{self, JobError, StartKind};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// One session with one client.
#[derive(Debug, Clone)]
pub struct Server {
    yard: Yard,
    tools: Toolset,
    closing: CancellationToken,
    /// The jobs that calls of this session have begun: a call that is withdrawn ends its job.
    calls: Arc<Mutex<HashMap<RequestId, Option<String>>>>,
}

impl Server {
    pub fn new(yard: Yard, tools: Toolset, closing: CancellationToken) -> Self {
        Self { yard, tools, closing, calls: Arc::default() }
    }

    async fn call(
        &self,
        name: &str,
        raw: &Map<String, Value>,
        request: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let response = match self.tool(name) {
            Ok(tool) => self.answered(tool, raw, request).await,
            Err(error) => Err(error),
        };
        response.unwrap_or_else(|error| result_of(error.into()).into())
    }

    fn tool(&self, name: &str) -> Result<Tool, JobError> {
        let offered = self.tools.tools();
        Tool::named(name).filter(|tool| offered.contains(tool)).ok_or_else(|| {
            JobError::choose(format!("there is no tool `{name}` here"), offered.iter().map(|tool| tool.name()))
        })
    }

    async fn answered(
        &self,
        tool: Tool,
        raw: &Map<String, Value>,
        request: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, JobError> {
        let arguments = Arguments::read(tool.fields(), raw)?;
        let caller = Caller::of(request, &self.closing);
        let answer: Answer = match tool {
            Tool::Start => start::run(&self.yard, &arguments).await?,
            Tool::Await => wait::run(&self.yard, &caller, &arguments).await?,
            Tool::Peek => look::peek(&self.yard, &arguments).await?,
            Tool::List => list::run(&self.yard, &arguments).await?,
            Tool::Cancel => look::cancel(&self.yard, &arguments).await?,
            Tool::Dispatch => return self.dispatch(StartKind::Dispatch, &arguments, &caller, request).await,
            Tool::BatchDispatch => return self.dispatch(StartKind::Batch, &arguments, &caller, request).await,
        };
        Ok(result_of(answer).into())
    }

    async fn dispatch(
        &self,
        kind: StartKind,
        arguments: &Arguments,
        caller: &Caller,
        request: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, JobError> {
        self.calls().insert(request.id.clone(), None);
        let response = self.answered_by_job(kind, arguments, caller, request).await;
        if !request.ct.is_cancelled() {
            // Otherwise the notice of the withdrawal may still be in transit.
            self.calls().remove(&request.id);
        }
        response
    }

    async fn answered_by_job(
        &self,
        kind: StartKind,
        arguments: &Arguments,
        caller: &Caller,
        request: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, JobError> {
        let Yard { context, notifier, .. } = &self.yard;
        let order = dispatch::order(&self.yard, kind, arguments).await?;
        let id = jobs::start(context, &order).await?.id;
        if !self.stands_for(&request.id, &id) {
            jobs::cancel(context, notifier, &id, Duration::ZERO).await?;
        }
        if request.client_capabilities().is_some_and(|client| client.supports_tasks()) {
            let view = jobs::peek(context, &id).await?;
            return Ok(CallToolResponse::Task(tasks::created(&context.config, &view)));
        }
        Ok(result_of(dispatch::finish(&self.yard, caller, &order, &id).await?).into())
    }

    /// Notes which job a call has begun. Not when the call was withdrawn meanwhile.
    fn stands_for(&self, request: &RequestId, job: &str) -> bool {
        self.calls().get_mut(request).is_some_and(|noted| {
            *noted = Some(job.to_owned());
            true
        })
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<RequestId, Option<String>>> {
        // A thread that panicked with the lock has left whole entries.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools();
        let capabilities = match self.tools {
            Toolset::Tasks => capabilities.build(),
            Toolset::Dispatch | Toolset::All => capabilities.enable_tasks().build(),
        };
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("shuntyard", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.tools.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.tools().iter().map(|tool| described(*tool)).collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        request: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(&call.name, &call.arguments.unwrap_or_default(), &request).await)
    }

    /// The protocol does not accept a call whose arguments are no object, and would refuse it where no model sees it.
    async fn on_custom_request(
        &self,
        custom: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let arguments = custom.params.as_ref().map(|params| &params["arguments"]);
        match arguments {
            Some(arguments) if custom.method == "tools/call" && !arguments.is_object() => {
                let error = JobError::usage("`arguments` must be an object", "give each argument by its name");
                let result = serde_json::to_value(result_of(error.into()));
                result.map(CustomResult::new).map_err(|error| ErrorData::internal_error(error.to_string(), None))
            }
            _ => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, custom.method, None)),
        }
    }

    /// A client that withdraws a dispatch does not want its answer. A client whose request timed out does: its model
    /// can still find the job.
    async fn on_cancelled(&self, cancelled: CancelledNotificationParam, _: NotificationContext<RoleServer>) {
        let reason = cancelled.reason.unwrap_or_default().to_lowercase();
        if reason.contains("timed out") || reason.contains("timeout") {
            return;
        }
        let noted = cancelled.request_id.and_then(|request| self.calls().remove(&request));
        if let Some(Some(job)) = noted
            && let Err(error) = jobs::cancel(&self.yard.context, &self.yard.notifier, &job, Duration::ZERO).await
        {
            tracing::warn!(%job, %error, "a withdrawn call's job could not be cancelled");
        }
    }

    async fn get_task(&self, asked: GetTaskParams, _: RequestContext<RoleServer>) -> Result<GetTaskResult, ErrorData> {
        let view = jobs::peek(&self.yard.context, &asked.task_id).await;
        let view = view.map_err(|error| tasks::protocol_error(&error))?;
        Ok(GetTaskResult::new(tasks::detailed(&self.yard.context.config, &view)))
    }

    /// No job of ours asks its client for anything, so there is nothing to be taken.
    async fn update_task(&self, asked: UpdateTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let view = jobs::peek(&self.yard.context, &asked.task_id).await;
        view.map(drop).map_err(|error| tasks::protocol_error(&error))
    }

    async fn cancel_task(&self, asked: CancelTaskParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let view = jobs::cancel(&self.yard.context, &self.yard.notifier, &asked.task_id, Duration::ZERO).await;
        view.map(drop).map_err(|error| tasks::protocol_error(&error))
    }
}

fn described(tool: Tool) -> rmcp::model::Tool {
    let effect = tool.effect();
    let hints = ToolAnnotations::with_title(tool.title())
        .read_only(effect == Effect::Looks)
        .destructive(effect == Effect::Ends)
        .idempotent(effect != Effect::Works)
        .open_world(effect == Effect::Works);
    rmcp::model::Tool::new(tool.name(), tool.description(), schema(tool.fields()))
        .with_title(tool.title())
        .with_annotations(hints)
}
