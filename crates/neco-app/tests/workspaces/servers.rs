//! MCP servers belong to a folder: the sessions in it share them, and the last one ends them.

use std::fs;

use serde_json::json;

use super::stage::Stage;
use super::starts::processes;

/// A server that leaves a file when its input ends.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
    case "$line" in
        *'"method":"initialize"'*)
            info='"serverInfo":{"name":"sh","version":"1"}'
            answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'"$info"'}' ;;
        *'"method":"tools/list"'*) answer '"result":{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}' ;;
        *'"method":"notifications/'*) ;;
        *) answer '"error":{"code":-32601,"message":"Method not found"}' ;;
    esac
done
echo ended >> ended
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_last_session_of_a_folder_ends_its_servers_and_no_other_does() {
    let stage = Stage::new(&json!([{ "say": "Done." }]));
    let (one, two) = (stage.project("one", &[("server.sh", SERVER)]), stage.project("two", &[("x", "")]));
    let script = one.join("server.sh").display().to_string();
    stage.configure(&format!("[mcp_servers.x]\ncommand = \"sh\"\nargs = [\"{script}\"]\nsandbox = false\n"));
    let full = ["sandbox.level=full".to_owned()];
    let first = stage.open_with(&one, "", false, &full).await;
    let second = stage.open_with(&one, "", false, &full).await;
    let elsewhere = stage.open_with(&two, "", false, &full).await;
    first.workspace.servers().learn("x").await.unwrap();
    assert!(processes(&script) > 0);
    first.close().await;
    elsewhere.close().await;
    assert!(!one.join("ended").exists() && processes(&script) > 0, "somebody still works there");
    second.close().await;
    assert_eq!(fs::read_to_string(one.join("ended")).unwrap(), "ended\n", "it saw the end of its input");
    assert_eq!(processes(&script), 0);
    stage.workspaces.close().await.unwrap();
}
