//! Why an address could not be asked.

use neco_proto::ErrorCode;

/// Why an address could not be asked. The words hold no address in full: those may hold keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// No web address.
    #[error("only http and https addresses can be fetched, not {0}")]
    Scheme(String),
    /// A name and a password in the address.
    #[error("the address holds a login; those are not sent: leave it out")]
    Login,
    /// No host in the address, or none that there could be.
    #[error("the address has no host that can be reached")]
    NoHost,
    /// This machine or a private network.
    #[error(
        "{host} is on this machine or in a private network, which is not reached; the user opens it with \
         `private_hosts = [\"{host}\"]` under [tools.web_fetch] in config.toml"
    )]
    Private {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// The name stands for nothing.
    #[error("there is no host {0}, or the network is down")]
    UnknownHost(String),
    /// No connection, or it broke.
    #[error("{host} can't be reached: {cause}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why, as far as it is known.
        cause: String,
    },
    /// It took too long.
    #[error("{host} did not answer within {seconds} s")]
    TimedOut {
        /// The host.
        host: String,
        /// The time it had.
        seconds: u64,
    },
    /// It sends from one place to the next without end.
    #[error("{0} redirects without end")]
    Circle(String),
    /// The key that is to be sent is not there, or can't be sent.
    #[error("there is no usable key for it")]
    NoKey,
    /// Certificates of this machine, or a proxy, that can't be used.
    #[error("the network can't be used: {0}")]
    Setup(String),
}

impl NetError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Scheme(_) | Self::Login | Self::NoHost => ErrorCode::InvalidArguments,
            Self::Private { .. } => ErrorCode::BlockedByPolicy,
            Self::TimedOut { .. } => ErrorCode::ToolTimedOut,
            Self::UnknownHost(_) | Self::Unreachable { .. } | Self::Circle(_) | Self::NoKey | Self::Setup(_) => {
                ErrorCode::ToolFailed
            }
        }
    }
}
