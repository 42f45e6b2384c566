/** The server of the Model Context Protocol: `voxmux mcp`. */
export { type McpServer, type McpServerOptions, openMcpServer } from './mcp-server.js'
