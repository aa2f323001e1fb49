//! Resources as files, and the index of them: `frame_N_resources.json`.
//!
//! Guarantees: the index has a row for each resource of each command: its files, or why there are none. Equal contents are written once. Images have
//! a PNG where their format can be shown, and always their texels as they are stored (`.bin`). Refuses nothing of its own.

use super::plan::Moment;
use super::structures::Structure;
use crate::failure::Failure;
use crate::files::output;
use crate::shots::encode;
use profile::hooks::resources::used::{At, Used};
use profile::hooks::screenshot::format::name;
use profile::readback::copies::Contents;
use profile::readback::{Readback, Which};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use trace::actions::Action;

/// The version of the index's shape.
const SCHEMA_VERSION: u32 = 1;

/// Names, and the values that they have.
pub type Values = Vec<(String, String)>;

/// The index.
#[derive(Debug, Serialize)]
pub struct Index {
    /// The version of its shape.
    pub schema_version: u32,
    /// The frame.
    pub frame: u64,
    /// The device.
    pub device: String,
    /// Draws, dispatches and traces, in order.
    pub commands: Vec<Row>,
    /// What their pipelines were made with, by captured id: members of the create info, and their values. Vertex attributes are among them.
    pub pipelines: BTreeMap<u64, Values>,
    /// Acceleration structures that the frame's launches trace rays through.
    pub structures: Vec<Structure>,
}

impl Index {
    /// With everything that was written.
    pub fn new(
        frame: u64,
        device: String,
        commands: Vec<Row>,
        (pipelines, structures): (BTreeMap<u64, Values>, Vec<Structure>),
    ) -> Index {
        Index { schema_version: SCHEMA_VERSION, frame, device, commands, pipelines, structures }
    }
}

/// A command.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its number in the frame, from 1.
    pub draw: u64,
    /// What it is, where it was recorded, and what it was executed with.
    #[serde(flatten)]
    pub action: Action,
    /// What was set and bound before it: commands without vkCmd, and what they were given.
    pub set: Values,
    /// What it reads and writes.
    pub resources: Vec<Resource>,
}

/// A resource of a command.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Resource {
    /// What it is: vertex buffer, index buffer, color0, uniform buffer, ….
    pub kind: String,
    /// Of vertex and transform feedback buffers, which.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<u32>,
    /// Of descriptors: set, binding and element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<[u32; 3]>,
    /// The shader's name for it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// read, write, or both.
    pub access: String,
    /// read: it holds this all the time; before, after: before the command and behind it.
    pub moment: Option<Moment>,
    /// The captured id of the buffer, image or structure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<u64>,
    /// Its debug name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub object_name: String,
    /// Of buffers, the first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Of images, the mip level and the array layer (of 3D images the slice).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subresource: Option<[u32; 2]>,
    /// Of images, the format of the texels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Of images, width and height.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extent: Option<[u32; 2]>,
    /// Of images of several samples a texel, how many. Their mean was read; of integers, one of them; of depth and stencil, the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<u32>,
    /// Where the first of these was read: SAMPLE_ZERO, the VkResolveModeFlagBits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolve_mode: Option<&'static str>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The BLAKE3 of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
    /// The file of them, in the folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A picture of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<String>,
    /// Why it was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_read: Option<String>,
}

/// Where to, and what.
pub struct To<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// PNGs keep their alpha channel.
    pub alpha: bool,
    /// Of images every mip level and array layer that their views name, and not the base alone.
    pub all_subresources: bool,
}

/// Files by their contents.
pub struct Files<'a> {
    to: &'a To<'a>,
    frame: u64,
    /// By the hash of the bytes (and, of pictures, format and extent).
    known: HashMap<blake3::Hash, String>,
}

type Said<'s> = &'s dyn Fn(&str) -> Result<(), Failure>;

impl<'a> Files<'a> {
    /// None yet.
    pub fn new(to: &'a To<'a>, frame: u64) -> Files<'a> {
        Files { to, frame, known: HashMap::new() }
    }

    /// The file of these contents, which is written if there is none.
    fn write(
        &mut self,
        key: blake3::Hash,
        file: String,
        bytes: &[u8],
        said: Said<'_>,
    ) -> Result<String, Failure> {
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let path = self.to.folder.join(&file);
        output::write_file(&path, bytes)?;
        said(&path.display().to_string())?;
        self.known.insert(key, file.clone());
        Ok(file)
    }

    /// Of a resource, its contents.
    fn contents(
        &mut self,
        stem: &str,
        of: &Contents,
        into: &mut Resource,
        said: Said<'_>,
    ) -> Result<(), Failure> {
        let hash = blake3::hash(&of.bytes);
        into.bytes = Some(of.bytes.len() as u64);
        into.blake3 = Some(hash.to_string());
        into.file = Some(self.write(hash, format!("{stem}.bin"), &of.bytes, said)?);
        let Some(texture) = of.texture else { return Ok(()) };
        (into.format, into.extent) = (Some(name(texture.format)), Some(texture.extent));
        into.samples = Some(texture.samples).filter(|n| *n > 1);
        into.resolve_mode = texture.first_sample.then_some("SAMPLE_ZERO");
        // (texels of one kind are one picture, whoever has them)
        let of_texels = format!("{hash} {texture:?}");
        let key = blake3::hash(of_texels.as_bytes());
        into.picture = self.known.get(&key).cloned();
        if into.picture.is_none()
            && let Ok(shot) = of.clone().shot(self.frame)
        {
            let file = format!("{stem}.png");
            let wrong = |e| Failure::new(format_args!("{file}: {e}"));
            let png = encode(&shot, self.to.alpha).map_err(wrong)?;
            into.picture = Some(self.write(key, file, &png, said)?);
        }
        Ok(())
    }
}

impl Row {
    /// Of an action with this number, and nothing of it read yet.
    pub fn of(draw: u64, a: &Action) -> Row {
        Row { draw, action: a.clone(), set: vec![], resources: vec![] }
    }

    /// What was not read on the way: what takes no device, and what nobody came to.
    pub fn others(&mut self, used: &[Used], files: &mut Files<'_>, said: Said<'_>) -> Result<(), Failure> {
        for u in used {
            let mut row = described(u, Some(Moment::Read));
            match &u.at {
                At::Bytes(bytes) => {
                    let stem = self.stem(&row, false, files.frame);
                    let contents = Contents { bytes: bytes.clone(), texture: None };
                    files.contents(&stem, &contents, &mut row, said)?;
                }
                At::Structure(id) => row.object = Some(*id),
                At::Unknown(why) => row.not_read = Some((*why).to_owned()),
                At::Buffer(..) | At::Image(..) => {
                    let same =
                        |r: &Resource| (&*r.kind, r.binding, r.descriptor) == (u.kind, u.binding, u.slot);
                    if self.resources.iter().any(same) {
                        continue;
                    }
                    row.not_read = Some("was not come to: a change may have left the command out".to_owned());
                }
            }
            self.resources.push(row);
        }
        Ok(())
    }

    /// What was read: one of those that it uses, or an attachment.
    pub fn read(
        &mut self,
        of: Option<&Used>,
        moment: Moment,
        read: &Readback,
        files: &mut Files<'_>,
        said: Said<'_>,
    ) -> Result<(), Failure> {
        let mut row = of.map_or_else(Resource::default, |u| described(u, None));
        if let Which::Attachment(name) = &read.which {
            (row.kind, row.access) = (name.clone(), "attachment".into());
        }
        row.moment = Some(moment);
        (row.object, row.object_name) = (Some(read.object.0), read.object.1.clone());
        row.subresource = read.subresource.or(row.subresource);
        match &read.contents {
            Ok(contents) => {
                let stem = self.stem(&row, read.several, files.frame);
                files.contents(&stem, contents, &mut row, said)?;
            }
            Err(why) => row.not_read = Some(why.clone()),
        }
        self.resources.push(row);
        Ok(())
    }

    /// The name of its files, without what they end with; `several`: it is one of several levels and layers.
    fn stem(&self, of: &Resource, several: bool, frame: u64) -> String {
        let mut what = match of.descriptor {
            Some([set, binding, element]) => {
                let element = if element == 0 { String::new() } else { format!("_element_{element}") };
                format!("set_{set}_binding_{binding}{element}")
            }
            None => of.kind.replace(' ', "_"),
        };
        if let Some(binding) = of.binding {
            what.push_str(&format!("_{binding}"));
        }
        if let Some([level, layer]) = of.subresource.filter(|_| several) {
            what.push_str(&format!("_mip_{level}_layer_{layer}"));
        }
        let moment = match of.moment {
            Some(Moment::Before) => "_before",
            Some(Moment::After) => "_after",
            _ => "",
        };
        format!("frame_{frame}_draw_{}_{what}{moment}", self.draw)
    }

    /// Resources in the order of what they are, those before the command first.
    pub fn sort(&mut self) {
        let key = |r: &Resource| {
            let descriptor = r.descriptor.is_some();
            let attachment = r.access == "attachment";
            (descriptor, attachment, r.descriptor, r.kind.clone(), r.binding, r.moment)
        };
        self.resources.sort_by_key(key);
    }
}

/// A resource as a command uses it.
fn described(u: &Used, moment: Option<Moment>) -> Resource {
    let (offset, subresource) = match &u.at {
        At::Buffer(_, offset, _) => (Some(*offset), None),
        At::Image(view, _) => (None, Some([view.range.level, view.range.layer])),
        _ => (None, None),
    };
    Resource {
        kind: u.kind.to_owned(),
        binding: u.binding,
        descriptor: u.slot,
        name: u.name.clone(),
        access: u.access.to_owned(),
        moment,
        offset,
        subresource,
        ..Resource::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn equal_contents_are_one_file_and_rows_are_in_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = To { folder: folder.path(), alpha: false, all_subresources: false };
        let mut files = Files::new(&to, 3);
        let told = RefCell::new(0);
        let said = |_: &str| {
            *told.borrow_mut() += 1;
            Ok(())
        };
        let used = |kind, slot, access| Used {
            kind,
            binding: None,
            slot,
            name: "n".into(),
            access,
            at: At::Buffer(9, 16, 4),
        };
        let read = |bytes: &[u8]| Readback {
            block: 1,
            which: Which::After(0),
            object: (9, "b".into()),
            subresource: None,
            several: false,
            contents: Ok(Contents { bytes: bytes.to_vec(), texture: None }),
        };
        let mut row = Row::of(2, &Action::default());
        let storage = used("storage buffer", Some([0, 1, 2]), "read write");
        let index = used("index buffer", None, "read");
        row.read(Some(&storage), Moment::After, &read(b"abcd"), &mut files, &said).expect("written");
        row.read(Some(&storage), Moment::Before, &read(b"0000"), &mut files, &said).expect("written");
        row.read(Some(&index), Moment::Read, &read(b"abcd"), &mut files, &said).expect("written");
        row.sort();
        let all: Vec<_> = row.resources.iter().map(|r| (r.kind.as_str(), r.file.as_deref())).collect();
        let [before, after] =
            ["before", "after"].map(|m| format!("frame_3_draw_2_set_0_binding_1_element_2_{m}.bin"));
        assert_eq!(
            all,
            [
                ("index buffer", Some(&*after)),
                ("storage buffer", Some(&*before)),
                ("storage buffer", Some(&*after))
            ]
        );
        assert_eq!(*told.borrow(), 2);
        assert_eq!(std::fs::read(folder.path().join(after)).expect("a file"), b"abcd");
        assert_eq!(row.resources[0].offset, Some(16));
        // Levels and layers are rows and files of their own.
        let image = used("sampled image", Some([0, 2, 0]), "read");
        for (layer, bytes) in [(3, b"left"), (4, b"rest")] {
            let part = Readback { subresource: Some([1, layer]), several: true, ..read(bytes) };
            row.read(Some(&image), Moment::Read, &part, &mut files, &said).expect("written");
        }
        row.sort();
        for (resource, layer) in row.resources[3..].iter().zip([3, 4]) {
            let file = format!("frame_3_draw_2_set_0_binding_2_mip_1_layer_{layer}.bin");
            assert_eq!((resource.subresource, &resource.file), (Some([1, layer]), &Some(file)));
        }
        assert_eq!((row.resources.len(), *told.borrow()), (5, 4));
    }
}
