//! The commands of this program as tools of the Model Context Protocol (MCP), for agents: over stdin and stdout.
//!
//! A tool is a sub-command and those of its flags that an agent has use for (`tools`); what they mean, and which values they take,
//! is read from the command line's own definition (`schema`), so that nothing is said twice. A call runs this program as a process of
//! its own (`call`): a driver that crashes, or a GPU that hangs, ends that process and not the server, and answers are, byte for byte,
//! what the command prints as JSON, costs and intervals included.
//!
//! Guarantees: without [`Served::replays`] nothing is replayed, and no device is opened; tools that would are listed with what is
//! missing to run them, and refuse. A call that its client cancels is ended. Refuses arguments that the tool does not have.

mod call;
mod schema;
mod served;
mod server;
mod tools;

pub use served::Served;

/// Serves stdin and stdout until the client closes them.
///
/// # Errors
///
/// What the protocol's first messages, or the runtime, could not do.
pub fn serve(served: Served) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| format!("no runtime: {e}"))?.block_on(server::serve(served))
}
