//! Names and labels (VK_EXT_debug_utils); where the extension is absent these do nothing.

use std::ffi::CString;

use ash::vk;
use ash::vk::Handle;

use super::Gpu;

/// The colour in which a tool shows a label: red, green, blue.
pub type Colour = [f32; 3];

impl Gpu {
    /// Gives an object a name.
    pub fn name<H: Handle>(&self, handle: H, name: &str) {
        let Some(debug) = &self.debug else { return };
        let name = c_string(name);
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name);
        // A name that the driver could not keep is no reason to stop.
        // SAFETY: the handle is alive and the name a C string.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// Puts what `body` records into `commands` under a label.
    pub fn labelled(&self, commands: vk::CommandBuffer, label: &str, colour: Colour, body: impl FnOnce()) {
        if let Some(debug) = &self.debug {
            let label = c_string(label);
            unsafe { debug.cmd_begin_debug_utils_label(commands, &label_info(&label, colour)) };
        }
        body();
        if let Some(debug) = &self.debug {
            unsafe { debug.cmd_end_debug_utils_label(commands) };
        }
    }

    /// Puts what `body` submits under a label of the queue.
    pub fn labelled_queue<T>(&self, label: &str, colour: Colour, body: impl FnOnce() -> T) -> T {
        if let Some(debug) = &self.debug {
            let label = c_string(label);
            unsafe { debug.queue_begin_debug_utils_label(self.queue, &label_info(&label, colour)) };
        }
        let done = body();
        if let Some(debug) = &self.debug {
            unsafe { debug.queue_end_debug_utils_label(self.queue) };
        }
        done
    }
}

fn label_info<'a>(label: &'a CString, [r, g, b]: Colour) -> vk::DebugUtilsLabelEXT<'a> {
    vk::DebugUtilsLabelEXT::default().label_name(label).color([r, g, b, 1.0])
}

/// A zero byte ends the name, as it would in C.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
