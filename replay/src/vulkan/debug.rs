//! What the validation layers say, collected.

use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

/// Messages of the validation layers, warnings and errors only.
#[derive(Clone, Default)]
pub struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    /// Takes what has come in.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic while holding it"))
    }
    /// The create info of a messenger that writes here. The messenger must not outlive `self`.
    pub fn create_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::{DebugUtilsMessageSeverityFlagsEXT as S, DebugUtilsMessageTypeFlagsEXT as T};
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(S::ERROR | S::WARNING)
            .message_type(T::VALIDATION)
            .pfn_user_callback(Some(callback))
            .user_data(Arc::as_ptr(&self.0) as *mut c_void)
    }
}

unsafe extern "system" fn callback(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes a valid structure; `user` is the mutex inside the Arc that `Messages` holds, which lives
    // as long as the instance.
    let (data, messages) = unsafe { (&*data, &*(user as *const Mutex<Vec<String>>)) };
    let level =
        if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) { "error" } else { "warning" };
    if !data.p_message.is_null() {
        // SAFETY: null-terminated by the layer.
        let text = unsafe { CStr::from_ptr(data.p_message) }.to_string_lossy();
        if let Ok(mut m) = messages.lock() {
            m.push(format!("{level}: {text}"));
        }
    }
    vk::FALSE
}
