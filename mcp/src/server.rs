//! The protocol: what the server says of itself, its tools, their calls.
//!
//! Guarantees: calls run beside one another; one that is cancelled ends at once. Refuses unknown tools with the protocol's own error.

use crate::served::Served;
use crate::tools::{TOOLS, named};
use crate::{call, schema};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

const INSTRUCTIONS: &str = "\
Says what a GPU did in a GFXReconstruct capture (.gfxr). Begin with `info`, which names frames, devices and what is used; `query` asks \
calls, objects, passes, draws and what was bound in SQL. Where replaying is allowed: `times` measures frames, `what_if` says by experiment \
what a frame's time goes to, `profile` instruments shaders and writes a trace that `analyze` asks, `bench` and `compare` judge changes. \
Intervals are at 99 % unless said otherwise; what measuring itself cost is said beside times.";

/// Serves stdin and stdout.
pub(crate) async fn serve(server: Served) -> Result<(), String> {
    // A table that does not fit the command line is found before a client is.
    for tool in TOOLS {
        schema::tool(&server.commands, tool, true)?;
    }
    let running = server.serve(stdio()).await.map_err(|e| format!("the client: {e}"))?;
    running.waiting().await.map_err(|e| format!("the client: {e}"))?;
    Ok(())
}

impl ServerHandler for Served {
    fn get_info(&self) -> ServerConfig {
        let version = self.commands.get_version().unwrap_or_default();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(self.commands.get_name(), version))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS.iter().map(|t| schema::tool(&self.commands, t, self.replays || !t.replays));
        let tools = tools.collect::<Result<_, _>>().map_err(|e| ErrorData::internal_error(e, None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = named(&request.name);
        let tool = tool
            .ok_or_else(|| ErrorData::invalid_params(format!("there is no tool {}", request.name), None))?;
        let given = request.arguments.unwrap_or_default();
        let done = context.ct.run_until_cancelled(call::call(self, tool, &given)).await;
        let ended = || CallToolResult::error(vec![ContentBlock::text("cancelled")]);
        Ok(done.unwrap_or_else(ended).into())
    }
}
