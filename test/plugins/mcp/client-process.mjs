// A client of the SDK in a process of its own, so that it can be killed. It starts the server that its first argument
// describes. Calls, and what a person responds, are lines of JSON on stdin; results and questions are lines on stdout.
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CallToolResultSchema, CreateTaskResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } })
const { tasks } = client.experimental
const calls = {
  tool: (name, args) => client.callTool({ name, arguments: args }),
  runTask: (args) =>
    client.request(
      { method: 'tools/call', params: { name: 'run', arguments: args, task: {} } },
      CreateTaskResultSchema,
    ),
  getTask: (id) => tasks.getTask(id),
  getTaskResult: (id) => tasks.getTaskResult(id, CallToolResultSchema),
  cancelTask: (id) => tasks.cancelTask(id),
}
let answer
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  say({ question: params.message })
  return new Promise((resolve) => {
    answer = (action) => resolve({ action, content: {} })
  })
})
const transport = new StdioClientTransport(JSON.parse(process.argv[2]))
await client.connect(transport)
say({ server: transport.pid })

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { action, call, args } = JSON.parse(line)
    if (action) return answer(action)
    try {
      say({ result: await calls[call](...args) })
    } catch ({ code, message }) {
      say({ error: { code, message } })
    }
  })
  .on('close', () => client.close())
