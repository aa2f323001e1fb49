//! The registry as it is written: types, enumerants, constants and commands by name, nothing laid out yet.
//!
//! Reads any number of documents of the same format (vk.xml, video.xml, the overlay's own). Keeps plain Vulkan only:
//! what merely Vulkan SC has is dropped, what a disabled extension has is kept. Refuses categories, enumerants and
//! declarations that it cannot read, by name.

use super::decl::{Decl, child_text, is_vulkan};
use super::error::Result;
use roxmltree::{Document, Node};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a type name stands for.
#[derive(Clone, Debug)]
pub enum RawType {
    /// A struct or union.
    Struct {
        /// A union.
        union: bool,
        /// Its members.
        members: Vec<Decl>,
    },
    /// A handle.
    Handle {
        /// The enumerant of VkObjectType.
        object_type: String,
        /// Its parent's type.
        parent: Option<String>,
        /// Defined by VK_DEFINE_HANDLE.
        dispatchable: bool,
    },
    /// An enum.
    Enum,
    /// A mask.
    Bitmask {
        /// The enum of its bits.
        bits: Option<String>,
        /// VkFlags64.
        wide: bool,
    },
    /// A function pointer.
    Function,
}

/// The enumerants of an enum.
#[derive(Clone, Debug, Default)]
pub struct RawEnum {
    /// Its values are bits.
    pub bitmask: bool,
    /// 64 bits.
    pub wide: bool,
    /// Value and name in order of appearance, aliases left out.
    pub values: Vec<(i64, String)>,
}

/// A command that is no alias.
#[derive(Clone, Debug)]
pub struct RawCommand {
    /// Name and return type.
    pub proto: Decl,
    /// Parameters.
    pub params: Vec<Decl>,
}

/// All documents read.
#[derive(Default)]
pub struct Registry {
    /// For instance 1.4.363.
    pub version: String,
    /// Integer constants.
    pub constants: HashMap<String, u64>,
    /// Types by canonical name.
    pub types: BTreeMap<String, RawType>,
    /// Alias of a type to the name it stands for.
    pub type_aliases: BTreeMap<String, String>,
    /// Enumerants by the enum's name.
    pub enums: BTreeMap<String, RawEnum>,
    /// Any enumerant's value, aliases too.
    pub enumerants: HashMap<String, i64>,
    /// Commands by name.
    pub commands: BTreeMap<String, RawCommand>,
    /// Alias of a command to the name it stands for.
    pub command_aliases: BTreeMap<String, String>,
    /// SPIR-V capabilities by the member of a feature struct that lets shaders declare them.
    pub capabilities: BTreeMap<String, BTreeSet<String>>,
    /// SPIR-V extensions by the device extension that lets shaders use them.
    pub spirv_extensions: BTreeMap<String, BTreeSet<String>>,
    /// Device extensions by name.
    pub extensions: BTreeMap<String, Extension>,
}

/// What a device extension adds.
#[derive(Default)]
pub struct Extension {
    /// Major and minor number of the Vulkan version that took it in; (0, 0) if none has.
    pub promoted: (u32, u32),
    /// Commands, by the names that they have here.
    pub commands: BTreeSet<String>,
    /// Structs by canonical name, but for those of features and properties.
    pub structs: BTreeSet<String>,
    /// Structs of features.
    pub features: BTreeSet<String>,
    /// Enumerants and bits: (enum, value); sTypes, types of objects and results are not among them.
    pub values: BTreeSet<(String, i64)>,
}

/// Names that only Vulkan SC requires.
#[derive(Default)]
struct Required {
    vulkan: BTreeSet<String>,
    sc: BTreeSet<String>,
}

impl Required {
    fn read(root: Node) -> Required {
        let mut required = Required::default();
        for owner in root.descendants().filter(|n| n.has_tag_name("feature") || n.has_tag_name("extension")) {
            let apis = owner.attribute("supported").or(owner.attribute("api")).unwrap_or_default();
            let sc_only = apis == "vulkansc";
            for require in owner.children().filter(|c| c.has_tag_name("require")) {
                for item in require.children().filter(|c| c.has_tag_name("type") || c.has_tag_name("command"))
                {
                    let set =
                        if sc_only || !is_vulkan(require) { &mut required.sc } else { &mut required.vulkan };
                    set.extend(item.attribute("name").map(str::to_owned));
                }
            }
        }
        required
    }

    fn wants(&self, name: &str) -> bool {
        self.vulkan.contains(name) || !self.sc.contains(name)
    }
}

impl Registry {
    /// Adds a document.
    pub fn add(&mut self, text: &str, file: &str) -> Result<()> {
        let document = Document::parse(text).map_err(|e| format!("{file}: {e}"))?;
        let root = document.root_element();
        let required = Required::read(root);
        for types in root.children().filter(|c| c.has_tag_name("types")) {
            for node in types.children().filter(|c| c.has_tag_name("type") && is_vulkan(*c)) {
                self.add_type(node, &required).map_err(|e| format!("{file}: {e}"))?;
            }
        }
        for block in root.children().filter(|c| c.has_tag_name("enums")) {
            self.add_enums(block).map_err(|e| format!("{file}: {e}"))?;
        }
        for commands in root.children().filter(|c| c.has_tag_name("commands")) {
            for node in commands.children().filter(|c| c.has_tag_name("command") && is_vulkan(*c)) {
                self.add_command(node, &required).map_err(|e| format!("{file}: {e}"))?;
            }
        }
        self.add_capabilities(root);
        self.add_extensions(root).map_err(|e| format!("{file}: {e}"))?;
        self.add_what_extensions_add(root);
        Ok(())
    }

    fn add_capabilities(&mut self, root: Node) {
        for c in root.descendants().filter(|n| n.has_tag_name("spirvcapability")) {
            for e in c.children().filter(|e| e.has_tag_name("enable")) {
                if let (Some(name), Some(feature)) = (c.attribute("name"), e.attribute("feature")) {
                    self.capabilities.entry(feature.to_owned()).or_default().insert(name.to_owned());
                }
            }
        }
        for x in root.descendants().filter(|n| n.has_tag_name("spirvextension")) {
            for e in x.children().filter(|e| e.has_tag_name("enable")) {
                if let (Some(name), Some(extension)) = (x.attribute("name"), e.attribute("extension")) {
                    self.spirv_extensions.entry(extension.to_owned()).or_default().insert(name.to_owned());
                }
            }
        }
    }

    /// What each device extension adds; once the enumerants have their values.
    fn add_what_extensions_add(&mut self, root: Node) {
        for x in root.descendants().filter(|n| n.has_tag_name("extension")) {
            let vulkan = x.attribute("supported").is_some_and(|s| s.split(',').any(|s| s == "vulkan"));
            let Some(name) = x.attribute("name").filter(|_| vulkan && x.attribute("type") == Some("device"))
            else {
                continue;
            };
            let mut e = Extension::default();
            if let Some((major, minor)) = x
                .attribute("promotedto")
                .and_then(|p| p.strip_prefix("VK_VERSION_"))
                .and_then(|v| v.split_once('_'))
            {
                e.promoted = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
            }
            let requires = x.children().filter(|c| c.has_tag_name("require"));
            for i in requires.flat_map(|r| r.children()) {
                let named = i.attribute("name").unwrap_or_default();
                match i.tag_name().name() {
                    "command" => drop(e.commands.insert(named.to_owned())),
                    "type" if named.starts_with("VkPhysicalDevice") && named.contains("Features") => {
                        e.features.insert(self.canonical(named).to_owned());
                    }
                    "type" if named.starts_with("VkPhysicalDevice") => {}
                    "type" => drop(e.structs.insert(self.canonical(named).to_owned())),
                    "enum" => {
                        let of = i.attribute("extends").unwrap_or_default();
                        let counts = !matches!(of, "" | "VkStructureType" | "VkObjectType" | "VkResult");
                        if let Some(v) = self.enumerants.get(named).filter(|_| counts) {
                            e.values.insert((self.canonical(of).to_owned(), *v));
                        }
                    }
                    _ => {}
                }
            }
            self.extensions.insert(name.to_owned(), e);
        }
    }

    /// Follows aliases.
    pub fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        while let Some(next) = self.type_aliases.get(name) {
            name = next;
        }
        name
    }

    fn add_type(&mut self, node: Node, required: &Required) -> Result<()> {
        let category = node.attribute("category").unwrap_or_default();
        let Some(name) = node.attribute("name").or_else(|| child_text(node, "name")) else {
            return match category {
                "funcpointer" => self.add_function(node),
                "define" | "include" | "basetype" => Ok(()),
                _ => Err(format!("a type of category `{category}` without a name")),
            };
        };
        if !required.wants(name) {
            return Ok(());
        }
        if let Some(target) = node.attribute("alias") {
            self.type_aliases.insert(name.to_owned(), target.to_owned());
            return Ok(());
        }
        let raw = match category {
            "struct" | "union" => {
                let members = node.children().filter(|c| c.has_tag_name("member") && is_vulkan(*c));
                RawType::Struct {
                    union: category == "union",
                    members: members.map(|m| Decl::read(m, name)).collect::<Result<_>>()?,
                }
            }
            "handle" => RawType::Handle {
                object_type: node
                    .attribute("objtypeenum")
                    .ok_or(format!("{name}: no object type"))?
                    .to_owned(),
                parent: node.attribute("parent").map(str::to_owned),
                dispatchable: match child_text(node, "type") {
                    Some("VK_DEFINE_HANDLE") => true,
                    Some("VK_DEFINE_NON_DISPATCHABLE_HANDLE") => false,
                    other => return Err(format!("{name}: handle defined by {other:?}")),
                },
            },
            "enum" => RawType::Enum,
            "bitmask" => RawType::Bitmask {
                bits: node.attribute("requires").or(node.attribute("bitvalues")).map(str::to_owned),
                wide: match child_text(node, "type") {
                    Some("VkFlags") => false,
                    Some("VkFlags64") => true,
                    other => return Err(format!("{name}: mask of {other:?}")),
                },
            },
            "define" => {
                self.add_version(name, node);
                return Ok(());
            }
            // Base types, headers and the names of other headers: the resolver knows each by name or refuses it.
            "" | "include" | "basetype" => return Ok(()),
            "funcpointer" => return self.add_function(node),
            other => return Err(format!("{name}: unknown category `{other}`")),
        };
        if self.types.insert(name.to_owned(), raw).is_some() {
            return Err(format!("{name}: defined twice"));
        }
        Ok(())
    }

    fn add_function(&mut self, node: Node) -> Result<()> {
        let proto = node.children().find(|c| c.has_tag_name("proto"));
        let name = proto.and_then(|p| child_text(p, "name")).ok_or("a function pointer without a name")?;
        self.types.insert(name.to_owned(), RawType::Function);
        Ok(())
    }

    fn add_version(&mut self, name: &str, node: Node) {
        let last =
            || node.children().filter_map(|c| c.text()).next_back().unwrap_or_default().trim().to_owned();
        match name {
            "VK_HEADER_VERSION" => self.version = last(),
            "VK_HEADER_VERSION_COMPLETE" => {
                // `(0, 1, 4, VK_HEADER_VERSION)`: variant, major, minor, then the patch read before.
                let text = last();
                let parts: Vec<&str> = text.trim_matches(['(', ')']).split(',').map(str::trim).collect();
                if let [_, major, minor, _] = parts[..] {
                    self.version = format!("{major}.{minor}.{}", self.version);
                }
            }
            _ => {}
        }
    }

    fn add_enums(&mut self, block: Node) -> Result<()> {
        let name = block.attribute("name").unwrap_or_default();
        let kind = block.attribute("type").unwrap_or_default();
        if kind == "constants" {
            for node in block.children().filter(|c| c.has_tag_name("enum")) {
                self.add_constant(node);
            }
            return Ok(());
        }
        let bitmask = match kind {
            "enum" => false,
            "bitmask" => true,
            _ => return Err(format!("{name}: enums of type `{kind}`")),
        };
        let wide = match block.attribute("bitwidth") {
            None | Some("32") => false,
            Some("64") => true,
            Some(other) => return Err(format!("{name}: bitwidth {other}")),
        };
        self.enums.insert(name.to_owned(), RawEnum { bitmask, wide, values: Vec::new() });
        for node in block.children().filter(|c| c.has_tag_name("enum") && is_vulkan(*c)) {
            self.add_enumerant(name, node, None)?;
        }
        Ok(())
    }

    fn add_constant(&mut self, node: Node) {
        if let (Some(name), Some(value)) = (node.attribute("name"), node.attribute("value"))
            && let Ok(value) = value.parse()
        {
            self.constants.insert(name.to_owned(), value);
        }
    }

    /// Enumerants that features and extensions add; those of disabled extensions last, so that they never take a
    /// value from a name that is in use.
    fn add_extensions(&mut self, root: Node) -> Result<()> {
        let owners =
            || root.descendants().filter(|n| n.has_tag_name("feature") || n.has_tag_name("extension"));
        let supported =
            |n: &Node| n.attribute("supported").or(n.attribute("api")).unwrap_or_default().to_owned();
        let has = |n: &Node, api: &str| supported(n).split(',').any(|s| s == api);
        let enabled = owners().filter(|n| has(n, "vulkan"));
        let disabled = owners().filter(|n| has(n, "disabled"));
        for owner in enabled.chain(disabled) {
            for require in owner.children().filter(|c| c.has_tag_name("require") && is_vulkan(*c)) {
                for node in require.children().filter(|c| c.has_tag_name("enum") && is_vulkan(*c)) {
                    match node.attribute("extends") {
                        Some(name) => {
                            let number = node.attribute("extnumber").or(owner.attribute("number"));
                            self.add_enumerant(name, node, number)?;
                        }
                        None => self.add_constant(node),
                    }
                }
            }
        }
        self.resolve_enumerant_aliases(root);
        Ok(())
    }

    fn add_enumerant(&mut self, enum_name: &str, node: Node, extension: Option<&str>) -> Result<()> {
        let name =
            node.attribute("name").ok_or_else(|| format!("{enum_name}: an enumerant without a name"))?;
        if node.attribute("alias").is_some() {
            return Ok(());
        }
        let refuse = || format!("{enum_name}.{name}: cannot read its value");
        let number = |text: &str| -> Result<i64> {
            match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex.trim_end_matches(['U', 'L']), 16)
                    .map(|v| v as i64)
                    .map_err(|_| refuse()),
                None => text.parse().map_err(|_| refuse()),
            }
        };
        let value = if let Some(text) = node.attribute("value") {
            number(text)?
        } else if let Some(text) = node.attribute("bitpos") {
            1u64.checked_shl(number(text)? as u32).ok_or_else(refuse)? as i64
        } else if let Some(text) = node.attribute("offset") {
            let extension = number(extension.ok_or_else(refuse)?)?;
            let value = 1_000_000_000 + (extension - 1) * 1000 + number(text)?;
            if node.attribute("dir") == Some("-") { -value } else { value }
        } else {
            return Err(refuse());
        };
        self.enumerants.insert(name.to_owned(), value);
        let enum_name = self.canonical(enum_name).to_owned();
        let entry = self.enums.entry(enum_name).or_default();
        if !entry.values.iter().any(|v| v.0 == value) {
            entry.values.push((value, name.to_owned()));
        }
        Ok(())
    }

    fn resolve_enumerant_aliases(&mut self, root: Node) {
        let aliases: Vec<(&str, &str)> = root
            .descendants()
            .filter(|n| n.has_tag_name("enum"))
            .filter_map(|n| Some((n.attribute("name")?, n.attribute("alias")?)))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for &(name, target) in &aliases {
                if let (false, Some(&value)) =
                    (self.enumerants.contains_key(name), self.enumerants.get(target))
                {
                    self.enumerants.insert(name.to_owned(), value);
                    changed = true;
                }
                if let (false, Some(&value)) = (self.constants.contains_key(name), self.constants.get(target))
                {
                    self.constants.insert(name.to_owned(), value);
                    changed = true;
                }
            }
        }
    }

    fn add_command(&mut self, node: Node, required: &Required) -> Result<()> {
        if let (Some(name), Some(target)) = (node.attribute("name"), node.attribute("alias")) {
            self.command_aliases.insert(name.to_owned(), target.to_owned());
            return Ok(());
        }
        let proto =
            node.children().find(|c| c.has_tag_name("proto")).ok_or("a command without a prototype")?;
        let proto = Decl::read(proto, "command")?;
        if !required.wants(&proto.name) {
            return Ok(());
        }
        let params = node.children().filter(|c| c.has_tag_name("param") && is_vulkan(*c));
        let params = params.map(|p| Decl::read(p, &proto.name)).collect::<Result<_>>()?;
        let name = proto.name.clone();
        if self.commands.insert(name.clone(), RawCommand { proto, params }).is_some() {
            return Err(format!("{name}: defined twice"));
        }
        Ok(())
    }
}
