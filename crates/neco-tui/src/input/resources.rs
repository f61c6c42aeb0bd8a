//! The resources of MCP servers, by what is written of their names.

use neco_proto::app::mcp_use::{NamedResource, ResourceList};

use super::completion::{Candidate, fits};

/// The `most` resources that fit `word` best, the best first. Behind the name of a server and a colon they are those of
/// that server, and templates too.
pub fn near_resources(list: &ResourceList, word: &str, most: usize) -> Vec<Candidate> {
    let server = word.split_once(':').map(|(server, _)| server).filter(|server| is_server(list, server));
    let wanted = |resource: &&NamedResource| match server {
        Some(server) => resource.server == server,
        None => !resource.template,
    };
    // What can't be written can't be named.
    let is_written = |resource: &&NamedResource| !resource.uri.contains(char::is_control);
    let scored = |resource: &NamedResource| {
        let candidate = candidate(resource);
        Some((fits(word, candidate.text.strip_prefix('@')?)?, candidate))
    };
    let mut near: Vec<(i64, Candidate)> =
        list.resources.iter().filter(wanted).filter(is_written).filter_map(scored).collect();
    near.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.text.cmp(&other.1.text)));
    near.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

/// Whether a word names a resource: `@server:address`.
pub fn names_resource(list: &ResourceList, word: &str) -> bool {
    let name = word.strip_prefix('@').map(|name| name.trim_start_matches('"'));
    name.and_then(|name| name.split_once(':')).is_some_and(|(server, _)| is_server(list, server))
}

fn is_server(list: &ResourceList, name: &str) -> bool {
    list.servers.iter().any(|server| server == name)
}

/// Of a template what stands before the first place that is to be filled in.
fn candidate(resource: &NamedResource) -> Candidate {
    let NamedResource { server, uri, help, template } = resource;
    let place = if *template { uri.find('{') } else { None };
    let (address, takes) = uri.split_at_checked(place.unwrap_or(uri.len())).unwrap_or((uri, ""));
    let help = format!("{help} (MCP {server})");
    Candidate::new(&format!("@{server}:{address}"), help.trim_start()).taking(takes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ResourceList {
        let resource = |uri: &str, template: bool| NamedResource {
            server: "docs".into(),
            uri: uri.into(),
            help: "A page.".into(),
            template,
        };
        ResourceList {
            servers: vec!["docs".into(), "idle".into()],
            resources: vec![
                resource("doc://start", false),
                resource("doc://page?number={number}", true),
                resource("doc://\u{1b}[2J", false),
            ],
        }
    }

    fn texts(word: &str) -> Vec<String> {
        near_resources(&list(), word, 9).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn a_part_finds_resources_and_a_server_all_that_it_has() {
        assert_eq!(texts(""), ["@docs:doc://start"]);
        assert_eq!(texts("start"), ["@docs:doc://start"]);
        assert_eq!(texts("docs:"), ["@docs:doc://start", "@docs:doc://page?number="]);
        assert_eq!((texts("idle:").len(), texts("main.rs").len()), (0, 0));
        let template = near_resources(&list(), "docs:page", 9).remove(0);
        assert_eq!((template.takes.as_str(), template.help.as_str()), ("{number}", "A page. (MCP docs)"));
    }

    #[test]
    fn a_resource_is_named_by_its_server() {
        for (word, is_one) in
            [("@docs:a.png", true), ("@\"idle:a b.png\"", true), ("@other:a.png", false), ("@a.png", false)]
        {
            assert_eq!(names_resource(&list(), word), is_one, "{word}");
        }
    }
}
