//! The tool: typed for its author, erased once.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::event::{KnownFile, OutputStream};
use neco_proto::{CallId, Diff, ErrorCode, Risk, ToolOrigin};
use neco_safety::world::Freedom;
use neco_safety::{SideEffect, World};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::background::{InBackground, ToBackground};
use crate::bound::Spill;
use crate::model::AskModel;
use crate::output::{ToolError, ToolOutput};
use crate::person::AskPerson;
use crate::{fitting, schema};

/// What a call would do, known before it is run: what the policy judges and the person is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How much harm it could do. Of a command only what is known apart from its line: the policy
    /// looks at that itself, and it can make it more, never less.
    pub risk: Risk,
    /// The command line, for tools that run one.
    pub command: Option<String>,
    /// The folder that the command would start in; `None` is the workspace.
    pub folder: Option<PathBuf>,
    /// The files and folders that it would touch, resolved.
    pub paths: Vec<PathBuf>,
    /// The change it would make to files, where that is known.
    pub diff: Vec<Diff>,
    /// What makes it so risky, where that is more than what kind of call it is: `it may hold secrets`.
    pub because: Option<String>,
    /// How much more than its settings the command would get once it is allowed.
    pub freedom: Freedom,
    /// Why a person must be asked whatever rules allow.
    pub must_ask: Option<String>,
    /// What a person who is asked should know besides, a line each. None of it is a reason to ask.
    pub remarks: Vec<String>,
    /// Whether it happens on another machine, where none of our sandboxes holds it.
    pub elsewhere: bool,
}

impl Plan {
    /// A plan that has nothing to show beyond its risk.
    pub fn of(risk: Risk) -> Self {
        Self {
            risk,
            command: None,
            folder: None,
            paths: Vec::new(),
            diff: Vec::new(),
            because: None,
            freedom: Freedom::AsConfigured,
            must_ask: None,
            remarks: Vec::new(),
            elsewhere: false,
        }
    }
}

/// A tool, as its author writes it. The doc comments of `Args` are what the model reads about its fields.
/// ```
/// use neco_toolkit::tool::erase;
/// use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Who is greeted.
///     name: String,
/// }
///
/// struct Greet;
///
/// impl Tool for Greet {
///     type Args = Greeting;
///     const NAME: &'static str = "greet";
///     const DESCRIPTION: &'static str = "Greets somebody.";
///     const TOUCH: SideEffect = SideEffect::Reads;
///
///     fn summary(&self, args: &Greeting) -> String {
///         format!("Greet {}", args.name)
///     }
///
///     async fn plan(&self, _: &Greeting, _: &ToolContext) -> Result<Plan, ToolError> {
///         Ok(Plan::of(neco_proto::Risk::Safe))
///     }
///
///     async fn run(&self, args: Greeting, _: &ToolContext) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::text(format!("Good day, {}.", args.name)))
///     }
/// }
///
/// assert_eq!(erase(Greet).name(), "greet");
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The arguments; their JSON schema is derived.
    type Args: DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// The name the model calls it by.
    const NAME: &'static str;

    /// What it does and when to use it, for the model.
    const DESCRIPTION: &'static str;

    /// What any of its calls does to the world at most; decides whether it is declared in modes that only read.
    const TOUCH: SideEffect;

    /// Whether the model is told of it. One that lacks a setting is not declared, but says so when it is called.
    fn is_offered(&self) -> bool {
        true
    }

    /// Takes in what the calls of an earlier process left the model knowing; relative paths are below `workspace`.
    fn recall(&self, _known: &[KnownFile], _workspace: &Path) {}

    /// What its calls left running in the background, and what of that is over and remembered; oldest first.
    fn in_background(&self) -> Vec<Arc<dyn InBackground>> {
        Vec::new()
    }

    /// Rewrites arguments that are written for another agent's tool of the same purpose, before they are
    /// checked. What it does not know stays as it is.
    fn adapt(_arguments: &mut Value) {}

    /// What this call does to the world.
    fn touch(&self, _args: &Self::Args) -> SideEffect {
        Self::TOUCH
    }

    /// How long this call may take; `None` stands for the configured default.
    fn timeout(&self, _args: &Self::Args) -> Option<Duration> {
        None
    }

    /// The call in one line, such as `Edit src/a.rs`.
    fn summary(&self, args: &Self::Args) -> String;

    /// Looks at what the call would do, without doing it. Fails where the call could only fail, so
    /// that nobody is asked about it. Without one of its own, a tool that only reads is safe, and any other is not.
    fn plan(&self, _args: &Self::Args, _ctx: &ToolContext) -> impl Future<Output = Result<Plan, ToolError>> + Send {
        let risk = if Self::TOUCH.changes_nothing() { Risk::Safe } else { Risk::High };
        std::future::ready(Ok(Plan::of(risk)))
    }

    /// Does it.
    fn run(&self, args: Self::Args, ctx: &ToolContext) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A tool whose argument type is forgotten.
pub trait DynTool: Send + Sync {
    /// The name the model calls it by.
    fn name(&self) -> &str;
    /// What it does, for the model.
    fn description(&self) -> &str;
    /// JSON schema of its arguments.
    fn schema(&self) -> &Value;
    /// What any of its calls does to the world at most.
    fn most_touch(&self) -> SideEffect;
    /// Where it comes from.
    fn origin(&self) -> &ToolOrigin {
        ToolOrigin::BUILT_IN
    }
    /// Whether the model is told of it.
    fn is_offered(&self) -> bool {
        true
    }
    /// Takes in what the calls of an earlier process left the model knowing.
    fn recall(&self, _known: &[KnownFile], _workspace: &Path) {}
    /// What its calls left running in the background.
    fn in_background(&self) -> Vec<Arc<dyn InBackground>> {
        Vec::new()
    }
    /// Checks the arguments and binds them.
    /// Fails with [`ErrorCode::InvalidArguments`], naming the field.
    fn prepare(self: Arc<Self>, arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError>;
}

/// A call whose arguments fit its tool.
pub trait PreparedCall: Send + Sync {
    /// What it does to the world.
    fn touch(&self) -> SideEffect;
    /// How long it may take; `None` stands for the configured default.
    fn timeout(&self) -> Option<Duration>;
    /// The call in one line.
    fn summary(&self) -> String;
    /// The arguments as they will run.
    fn arguments(&self) -> &Value;
    /// What was made of the arguments so that they fit, for the model.
    fn notes(&self) -> &[String] {
        &[]
    }
    /// Looks at what it would do.
    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>>;
    /// Does it.
    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>>;
}

/// Erases a tool's argument type.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn DynTool> {
    Arc::new(Erased { tool: Arc::new(tool), schema: schema::of::<T::Args>() })
}

struct Erased<T> {
    tool: Arc<T>,
    schema: schema::ArgumentSchema,
}

impl<T: Tool> DynTool for Erased<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn description(&self) -> &str {
        T::DESCRIPTION
    }

    fn schema(&self) -> &Value {
        self.schema.declared()
    }

    fn most_touch(&self) -> SideEffect {
        T::TOUCH
    }

    fn is_offered(&self) -> bool {
        self.tool.is_offered()
    }

    fn recall(&self, known: &[KnownFile], workspace: &Path) {
        self.tool.recall(known, workspace);
    }

    fn in_background(&self) -> Vec<Arc<dyn InBackground>> {
        self.tool.in_background()
    }

    fn prepare(self: Arc<Self>, mut arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        fitting::unpack(self.schema.full(), &mut arguments);
        T::adapt(&mut arguments);
        let notes = fitting::fit(self.schema.full(), &mut arguments, !T::TOUCH.changes_nothing());
        self.schema.check(&arguments)?;
        let args = serde_json::from_value(arguments.clone())
            .map_err(|error| ToolError::new(ErrorCode::InvalidArguments, format!("{}: {error}", T::NAME)))?;
        Ok(Box::new(Bound { tool: Arc::clone(&self.tool), args, arguments, notes }))
    }
}

struct Bound<T: Tool> {
    tool: Arc<T>,
    args: T::Args,
    arguments: Value,
    notes: Vec<String>,
}

impl<T: Tool> PreparedCall for Bound<T> {
    fn touch(&self) -> SideEffect {
        self.tool.touch(&self.args)
    }

    fn timeout(&self) -> Option<Duration> {
        self.tool.timeout(&self.args)
    }

    fn summary(&self) -> String {
        self.tool.summary(&self.args)
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(self.tool.plan(&self.args, ctx))
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.tool.run(self.args, &ctx).await })
    }
}

/// Where a running tool's live output goes. Never blocks the tool and never fails it: whoever
/// listens decides how much of it a window gets to see.
pub trait LiveOutput: Send + Sync {
    /// Takes the next piece of output.
    fn push(&self, stream: OutputStream, text: &str);
}

/// What a tool is handed for one call.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call_id: CallId,
    /// Files and processes.
    pub world: Arc<dyn World>,
    /// Live output.
    pub live: Arc<dyn LiveOutput>,
    /// Set when the call is to stop. A tool that runs a process kills its group before it returns; one that ends
    /// before its time because of it fails, or says so with [`crate::ToolOutput::interrupted`].
    pub cancel: CancellationToken,
    /// The person, to be asked something while the call runs.
    pub person: Arc<dyn AskPerson>,
    /// The model of the session, to be asked something while the call runs.
    pub model: Arc<dyn AskModel>,
    /// The way of what the call runs to the background; a tool that can go on there opens it.
    pub background: ToBackground,
    /// Where output that is too big for the model goes.
    pub spill: Arc<dyn Spill>,
    /// Bytes of output that the model gets at most.
    pub max_output: usize,
    /// Whether calls of the same turn that write wait behind this one.
    pub more_writes: bool,
    /// Whether a person was asked about this very call and said yes.
    pub approved: bool,
}
