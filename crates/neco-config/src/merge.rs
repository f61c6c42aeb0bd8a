//! Lays one layer over another.

use crate::check::added_item;
use crate::layer::{Entries, Node, Value};

/// Lays `over` over `base`: tables are merged, lists are replaced or added to, the rest is replaced.
pub(crate) fn merge(base: &mut Node, over: Node) {
    let Node { value, origin, name_origin, .. } = over;
    match (&mut base.value, value) {
        (Value::Table(entries), Value::Table(over_entries)) => merge_tables(entries, over_entries),
        (Value::List(items), Value::List(over_items)) => {
            let adds_only = !over_items.is_empty() && over_items.iter().all(|item| added_item(&item.value).is_some());
            if adds_only && !items.is_empty() {
                base.earlier.push(base.origin.clone());
            } else {
                items.clear();
                base.earlier.clear();
            }
            add_items(items, over_items);
        }
        (_, value) => *base = settled(Node::new(value, origin.clone())),
    }
    base.origin = origin;
    base.name_origin = name_origin;
}

fn merge_tables(entries: &mut Entries, over: Entries) {
    for (name, mut node) in over {
        match entries.get_mut(&name) {
            Some(base) => merge(base, *node),
            None => {
                settle(&mut node);
                entries.insert(name, node);
            }
        }
    }
}

/// A node that lies over nothing: the `+` of its items has done its work.
pub(crate) fn settled(mut node: Node) -> Node {
    settle(&mut node);
    node
}

fn settle(node: &mut Node) {
    match &mut node.value {
        Value::Table(entries) => entries.values_mut().for_each(|node| settle(node)),
        Value::List(items) if items.iter().any(|item| added_item(&item.value).is_some()) => {
            let added = std::mem::take(items);
            add_items(items, added);
        }
        Value::List(_) | Value::Text(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {}
    }
}

/// Items that are already there are not added a second time.
fn add_items(items: &mut Vec<Node>, over: Vec<Node>) {
    for mut item in over {
        if let Some(added) = added_item(&item.value).map(str::to_owned) {
            item.value = Value::Text(added);
            if items.iter().any(|known| known.value == item.value) {
                continue;
            }
        }
        items.push(item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::parse_value;
    use crate::origin::{Layer, Origin, Source};
    use proptest::prelude::*;

    fn node(layer: usize, text: &str) -> Node {
        parse_value(text, &Origin::new(Layer::User, Source::Variable(format!("layer {layer}"))))
    }

    fn merged(layers: &[&str]) -> Node {
        let mut base = node(0, "{}");
        for (index, text) in layers.iter().enumerate() {
            merge(&mut base, node(index + 1, text));
        }
        base
    }

    #[test]
    fn tables_merge_and_lists_replace_or_grow() {
        for (layers, expected) in [
            (&["{a.b = 1, a.c = 2}", "{a.b = 3, d = 4}"][..], "{ a = { b = 3, c = 2 }, d = 4 }"),
            (&["{l = ['a', 'b']}", "{l = ['c']}"], "{ l = [\"c\"] }"),
            (&["{l = ['a']}", "{l = ['+b', '+a']}", "{l = ['+c']}"], "{ l = [\"a\", \"b\", \"c\"] }"),
            (&["{l = ['a']}", "{l = ['+b', 'c']}"], "{ l = [\"b\", \"c\"] }"),
            (&["{l = ['a']}", "{l = []}"], "{ l = [] }"),
            (&["{t.l = ['+a', '++b', '+']}"], "{ t = { l = [\"a\", \"+b\", \"+\"] } }"),
            (&["{l = 1}", "{l = ['+a']}"], "{ l = [\"a\"] }"),
            (&["{l = 1}", "{l = {m = ['+a']}}"], "{ l = { m = [\"a\"] } }"),
            (&["{l = [1]}", "{l = [1, 1]}"], "{ l = [1, 1] }"),
        ] {
            assert_eq!(merged(layers).value.to_string(), expected, "{layers:?}");
        }
    }

    #[test]
    fn a_list_that_grew_names_everybody_who_had_a_part() {
        let root = merged(&["{l = ['a']}", "{l = ['+b']}", "{l = ['+c']}"]);
        let list = root.get(&["l"]).unwrap();
        assert_eq!(list.origin.to_string(), "layer 3");
        assert_eq!(list.earlier.iter().map(ToString::to_string).collect::<Vec<_>>(), ["layer 1", "layer 2"]);
        let replaced = merged(&["{l = ['a']}", "{l = ['+b']}", "{l = ['c']}"]);
        assert!(replaced.get(&["l"]).unwrap().earlier.is_empty());
        assert!(merged(&["{l = []}", "{l = ['+a']}"]).get(&["l"]).unwrap().earlier.is_empty());
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(Value::Whole),
            "[a-z]{0,3}".prop_map(Value::Text),
            any::<bool>().prop_map(Value::Switch),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let node = inner.prop_map(|value| Node::new(value, node(0, "0").origin));
            prop_oneof![
                prop::collection::btree_map("[a-d]", node.clone().prop_map(Box::new), 0..4).prop_map(Value::Table),
                prop::collection::vec(node, 0..3).prop_map(Value::List),
            ]
        })
    }

    fn layer() -> impl Strategy<Value = Node> {
        prop::collection::btree_map("[a-d]", value(), 0..4).prop_map(|entries| {
            let origin = node(0, "0").origin;
            let node = |(name, value)| (name, Box::new(Node::new(value, origin.clone())));
            Node::new(Value::Table(entries.into_iter().map(node).collect()), origin.clone())
        })
    }

    fn leaves(node: &Node, at: &mut Vec<String>, all: &mut Vec<(Vec<String>, Value)>) {
        if let Value::Table(entries) = &node.value {
            for (name, child) in entries {
                at.push(name.clone());
                leaves(child, at, all);
                at.pop();
            }
        } else {
            all.push((at.clone(), node.value.clone()));
        }
    }

    fn leaves_of(node: &Node) -> Vec<(Vec<String>, Value)> {
        let mut all = Vec::new();
        leaves(node, &mut Vec::new(), &mut all);
        all
    }

    proptest! {
        #[test]
        fn the_later_leaf_wins_and_the_rest_stays(lower in layer(), upper in layer()) {
            let mut result = lower.clone();
            merge(&mut result, upper.clone());
            let (result, over) = (leaves_of(&result), leaves_of(&upper));
            for leaf in &over {
                prop_assert!(result.contains(leaf), "{leaf:?} is lost in {result:?}");
            }
            for leaf in leaves_of(&lower) {
                let names: Vec<&str> = leaf.0.iter().map(String::as_str).collect();
                // Touched: the upper layer says something at this place, above it, or below it.
                let touched = (1..=names.len()).any(|end| {
                    upper.get(&names[..end]).is_some_and(|node| end == names.len() || !matches!(node.value, Value::Table(_)))
                });
                prop_assert!(touched || result.contains(&leaf), "{leaf:?} is lost in {result:?}");
            }
            for leaf in &result {
                prop_assert!(over.contains(leaf) || leaves_of(&lower).contains(leaf), "{leaf:?} is from nowhere");
            }
        }

        #[test]
        fn a_layer_over_itself_changes_nothing(layer in layer()) {
            let mut result = layer.clone();
            merge(&mut result, layer.clone());
            prop_assert_eq!(leaves_of(&result), leaves_of(&layer));
        }
    }
}
