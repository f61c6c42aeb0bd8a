//! The MCP servers that an editor hands over, as settings have them.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::app::opening::GivenServer;
use serde_json::{Map, Value, json};

use crate::failure;

/// The servers of a request.
pub(crate) fn given(servers: Vec<acp::McpServer>) -> Result<Vec<GivenServer>, Error> {
    servers.into_iter().map(server).collect()
}

fn server(server: acp::McpServer) -> Result<GivenServer, Error> {
    match server {
        acp::McpServer::Stdio(stdio) => {
            let variables = stdio.env.into_iter().map(|variable| (variable.name, Value::String(variable.value)));
            let command = stdio.command.display().to_string();
            let server = json!({ "command": command, "args": stdio.args, "env": variables.collect::<Map<_, _>>() });
            Ok(GivenServer { name: stdio.name, server })
        }
        acp::McpServer::Http(http) => {
            let headers = http.headers.into_iter().map(|header| (header.name, Value::String(header.value)));
            let server = json!({ "url": http.url, "headers": headers.collect::<Map<_, _>>() });
            Ok(GivenServer { name: http.name, server })
        }
        acp::McpServer::Sse(sse) => Err(failure::invalid(format!(
            "the MCP server {} speaks by SSE, which the protocol has given up; Neco takes stdio and HTTP",
            sse.name
        ))),
        _ => Err(failure::invalid("Neco reaches MCP servers by stdio and HTTP")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_as_settings_have_them() {
        let servers = json!([
            { "name": "files", "command": "/bin/server", "args": ["-x"], "env": [{ "name": "KEY", "value": "v" }] },
            { "type": "http", "name": "far", "url": "https://example.org/mcp", "headers": [] },
        ]);
        let given = given(serde_json::from_value(servers).unwrap()).unwrap();
        assert_eq!(given[0].server, json!({ "command": "/bin/server", "args": ["-x"], "env": { "KEY": "v" } }));
        assert_eq!((given[1].name.as_str(), &given[1].server["url"]), ("far", &json!("https://example.org/mcp")));
    }

    #[test]
    fn what_is_not_offered_is_refused() {
        let servers = json!([{ "type": "sse", "name": "old", "url": "https://example.org", "headers": [] }]);
        assert!(given(serde_json::from_value(servers).unwrap()).is_err());
    }
}
