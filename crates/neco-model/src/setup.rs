//! What is wrong with the configuration, said so that it can be put right.

use std::fmt;

/// Why no model can be asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum SetupError {
    /// Nothing is configured and no key was found.
    #[error("no model is configured: {0}")]
    NoModel(LookedFor),
    /// The name is neither a group nor `provider/model`.
    #[error("`{0}` is neither a group nor of the form provider/model")]
    BadName(String),
    /// There is no such provider.
    #[error("there is no provider `{name}`: {}", guess(nearest.as_deref(), known))]
    UnknownProvider { name: String, nearest: Option<String>, known: Vec<String> },
    /// There is no such group.
    #[error("there is no model group `{name}`: {}", if models.is_empty() {
        format!("{}; a single model is written provider/model", guess(nearest.as_deref(), known))
    } else {
        format!("did you mean the model {}?", models.join(" or "))
    })]
    UnknownGroup {
        name: String,
        /// Models that are called so, as `provider/model`.
        models: Vec<String>,
        nearest: Option<String>,
        known: Vec<String>,
    },
    /// A provider without a model.
    #[error("`{name}` is a provider: write which of its models is meant, such as {name}/{}", model.as_deref().unwrap_or("MODEL"))]
    ProviderAlone { name: String, model: Option<String> },
    /// Parameters behind the name of a group.
    #[error("`{name}` sets parameters of a group: they are set at its models, in [model_groups.{group}]")]
    GroupParameters { name: String, group: String },
    /// A group in a group.
    #[error("`{0}` is a group itself: a group lists models, as provider/model")]
    NestedGroup(String),
    /// What is wrong stands in a group.
    #[error("{error} (in [model_groups.{group}])")]
    InGroup { group: String, error: Box<SetupError> },
    /// A group without models.
    #[error("the model group `{0}` has no models: list some in [model_groups.{0}]")]
    EmptyGroup(String),
    /// A parameter that does not exist.
    #[error("`{model}` sets `{name}`, which does not exist; {}", known_parameters(name))]
    UnknownParameter { model: String, name: String },
    /// A parameter with a value it can't have.
    #[error("`{model}` sets `{name}` to `{value}`; it must be {wanted}")]
    BadParameter { model: String, name: String, value: String, wanted: &'static str },
    /// A new provider without a type.
    #[error("the provider `{0}` has no type: set type = \"openai\" in [model_providers.{0}]")]
    NoType(String),
    /// A provider without an address.
    #[error("the provider `{0}` has no address: set base in [model_providers.{0}]")]
    NoBase(String),
    /// An address that is none.
    #[error("the address `{base}` of the provider `{provider}` is not one: it must begin with http:// or https://")]
    BadBase { provider: String, base: String },
    /// A path that would change the address.
    #[error("the path `{path}` of the provider `{provider}` must begin with a slash")]
    BadPath { provider: String, path: String },
    /// A key is needed.
    #[error("{provider} needs a key: set {}, or run `neco login {provider}`", variables.join(" or "))]
    MissingKey { provider: String, variables: Vec<String> },
    /// A place that may hold keys can't be looked at.
    #[error("the keys of {provider} can't be read: {reason}")]
    KeySource { provider: String, reason: String },
    /// A key that can't be sent.
    #[error("the key of {provider} in {source_name} has characters that no key has: copy it again")]
    BadKey { provider: String, source_name: String },
    /// A header that can't be sent.
    #[error("the header `{header}` of the provider `{provider}` has characters that a header can't have")]
    BadHeader { provider: String, header: String },
    /// A header that the key is sent in is also set otherwise.
    #[error(
        "the key of {provider} is sent in the header `{header}`, which {} sets too: take one of them out, or set another key_header",
        if *login { "the login in its address".to_owned() } else { format!("[model_providers.{provider}.headers]") }
    )]
    KeyHeaderTaken {
        provider: String,
        header: String,
        /// Whether the address does, rather than the headers.
        login: bool,
    },
    /// A scripted provider without a script.
    #[error("the provider `{0}` plays a script, but none is set: set script in [model_providers.{0}]")]
    NoScript(String),
    /// A script that can't be played.
    #[error("the script {path} can't be played: {reason}")]
    BadScript { path: String, reason: String },
    /// A model that does not chat.
    #[error("`{model}` can't be used {}: it makes {makes}, and does not hold conversations", place(group.as_deref()))]
    NotForChat {
        /// `provider/model`.
        model: String,
        makes: &'static str,
        /// The group that names it, if one does.
        group: Option<String>,
    },
    /// A table inside the program is broken.
    #[error("the built-in table {table} can't be read: {reason}")]
    BuiltInTable { table: &'static str, reason: String },
}

impl SetupError {
    /// The same, with the name of the group where that says where to look.
    pub(crate) fn in_group(self, name: &str) -> Self {
        match self {
            Self::NotForChat { model, makes, .. } if !name.contains('/') => {
                Self::NotForChat { model, makes, group: Some(name.to_owned()) }
            }
            error @ (Self::BadName { .. }
            | Self::UnknownProvider { .. }
            | Self::UnknownParameter { .. }
            | Self::BadParameter { .. }
            | Self::NestedGroup { .. }) => Self::InGroup { group: name.to_owned(), error: Box::new(error) },
            other => other,
        }
    }
}

/// What was probably meant, and all there are.
fn known_parameters(name: &str) -> String {
    let known = crate::route::Parameters::NAMES;
    // Vendors have longer names for the same, such as `reasoning_effort`.
    let longer = known.into_iter().find(|known| name.to_lowercase().starts_with(known)).map(str::to_owned);
    let meant = longer.or_else(|| nearest(name, known.into_iter()));
    let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    format!("{meant}there are {}", known.join(", "))
}

fn place(group: Option<&str>) -> String {
    group.map_or_else(|| "here".to_owned(), |group| format!("in the model group `{group}`"))
}

/// Where a model was looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LookedFor {
    /// Providers and the variables that would hold their keys, in order of choice.
    pub keys: Vec<(String, Vec<String>)>,
    /// Local servers and their addresses.
    pub local: Vec<(String, String)>,
}

impl fmt::Display for LookedFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<&str> = self.keys.iter().flat_map(|(_, names)| names).map(String::as_str).collect();
        let local: Vec<&str> = self.local.iter().map(|(name, _)| name.as_str()).collect();
        write!(f, "set a key ({}), start a local server ({}), ", variables.join(", "), local.join(", "))?;
        write!(f, "or set model = \"provider/model\" in the configuration")
    }
}

/// The known name that `name` was probably meant to be.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |known: &&str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    known.min_by_key(distance).filter(|known| distance(known) <= 1 + name.chars().count() / 3).map(str::to_owned)
}

fn guess(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("there are {}", known.join(", ")),
    }
}
