import { checkSchema } from '../../src/config/check-schema.js'
import { errorReport, toVoxmuxError, UsageError, type VoxmuxError } from '../../src/core/errors.js'
import { voxmuxVersion } from '../../src/core/package-folder.js'
import { type Desk, requireOwnJob } from './desk.js'
import { Roots } from './roots.js'
import type { McpSdk, ProtocolServer, RequestExtra, TaskStore, ToolRequest } from './sdk-package.js'
import { isCancelled, taskOf, toolJob } from './tool-job.js'
import { TOOL_SCHEMAS, type ToolArguments, type ToolName, toolList } from './tool-schemas.js'
import { TOOLS, type ToolCall } from './tools.js'

const INSTRUCTIONS =
  'voxmux regenerates the voice in a media file and changes nothing else. Call `check`, then `plan`. Show the plan to ' +
  'the person, and call `run` with the same arguments and its token as `plan`. Follow the job with `status`. If a ' +
  'remedy names a flag of the command line, such as --track, use the argument of that name.'

/** Codes of JSON-RPC. */
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602

/** How long a person may think about a question. */
const ASK_MS = 600_000

/** Opens one connection to a client. Connect it to a transport. */
export function openMcpSession(sdk: McpSdk, desk: Desk): ProtocolServer {
  const server = new sdk.Server(
    { name: 'voxmux', version: voxmuxVersion() },
    {
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
      instructions: INSTRUCTIONS,
      taskStore: ledgerTasks(desk),
    },
  )
  const callOf = protocolClient(sdk, desk, server)
  server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools: toolList() }))
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }: ToolRequest, extra) => {
    const { name, arguments: given = {}, task } = params
    if (!isTool(name)) throw new sdk.McpError(INVALID_PARAMS, `The tool "${name}" does not exist.`)
    if (task && name !== 'run') throw new sdk.McpError(METHOD_NOT_FOUND, `The tool "${name}" does not run as a task.`)
    try {
      const made = await callTool(name, given, callOf(extra))
      if (!task) return toolResult(made)
      return { task: taskOf(await requireOwnJob(desk, (made as { readonly job: string }).job), desk) }
    } catch (thrown) {
      const error = toVoxmuxError(thrown)
      if (task) throw new sdk.McpError(INVALID_PARAMS, error.message, errorReport(error))
      return toolFault(error)
    }
  })
  return server
}

/**
 * The program at the other end of a connection: its folders, and the person before it.
 *
 * @returns what makes of a request the parts that its tool needs
 */
function protocolClient(sdk: McpSdk, desk: Desk, server: ProtocolServer): (extra: RequestExtra) => ToolCall {
  let known: Promise<readonly string[]> | undefined
  server.setNotificationHandler(sdk.RootsListChangedNotificationSchema, () => {
    known = undefined
  })

  function rootsOf(extra: RequestExtra): Promise<readonly string[]> {
    known ??= extra.sendRequest({ method: 'roots/list' }, sdk.ListRootsResultSchema).then(
      (found) => (found as { readonly roots: readonly { readonly uri: string }[] }).roots.map(({ uri }) => uri),
      (error: unknown) => {
        known = undefined
        throw error
      },
    )
    return known
  }

  async function ask(message: string, extra: RequestExtra): Promise<boolean> {
    const params = { message, requestedSchema: { type: 'object', properties: {} } }
    const request = { method: 'elicitation/create', params }
    const { action } = (await extra.sendRequest(request, sdk.ElicitResultSchema, { timeout: ASK_MS })) as {
      readonly action: string
    }
    return action === 'accept'
  }

  return (extra) => {
    const { roots, elicitation } = server.getClientCapabilities() ?? {}
    const canAsk = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
    return {
      desk,
      signal: extra.signal,
      roots: async () => Roots.of(desk.roots, roots ? await rootsOf(extra) : null),
      ask: canAsk ? (question) => ask(question, extra) : null,
      progress: (progress, message) => {
        const progressToken = extra._meta?.progressToken
        if (progressToken === undefined) return
        const params = { progressToken, progress, total: 100, message }
        // The client may have gone. The job goes on.
        extra.sendNotification({ method: 'notifications/progress', params }).catch(() => {})
      },
    }
  }
}

function isTool(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name)
}

function callTool<N extends ToolName>(name: N, given: unknown, call: ToolCall): Promise<object> {
  return TOOLS[name](readArguments(name, given), call)
}

function readArguments<N extends ToolName>(name: N, given: unknown): ToolArguments<N> {
  try {
    return checkSchema(TOOL_SCHEMAS[name], given, `The arguments of ${name}`) as ToolArguments<N>
  } catch (cause) {
    if (!(cause instanceof UsageError)) throw cause
    const remedies = ['Correct them. `tools/list` has the JSON Schema of each tool.']
    throw new UsageError('ERR_TOOL_ARGUMENTS', cause.message, { cause, remedies })
  }
}

const PAGE = 50

/** The jobs of a server as tasks of the protocol. The ledger holds them, so they outlive client and server. */
function ledgerTasks(desk: Desk): TaskStore {
  const { jobs } = desk.context
  return {
    // `run` makes the task, because only it has checked the plan.
    createTask: () => Promise.reject(new Error('Only the tool `run` makes tasks.')),
    getTask: async (id) => {
      const job = await jobs.get(id)
      return job?.group === desk.group ? taskOf(job, desk) : null
    },
    storeTaskResult: () => Promise.reject(new Error('The ledger stores the results.')),
    getTaskResult: async (id) => toolResult(toolJob(await requireOwnJob(desk, id), desk)),
    // Every other status is that of the job.
    updateTaskStatus: async (id, status) => {
      if (status !== 'cancelled') return
      await desk.worker.cancel(id)
      if (!isCancelled(await requireOwnJob(desk, id))) throw new Error('The job ended before it was cancelled.')
    },
    listTasks: async (before) => {
      const found = await jobs.list({ group: desk.group, limit: PAGE, before })
      const last = found.length === PAGE ? found.at(-1) : undefined
      return { tasks: found.map((job) => taskOf(job, desk)), ...(last && { nextCursor: last.id }) }
    },
  }
}

/** The result of a tool: as data, and as text for clients that take only text. A failed job is an error. */
function toolResult(data: object) {
  const isError = 'status' in data && (data.status === 'failed' || data.status === 'rejected')
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data, isError }
}

/** A refusal, with code and remedies as in the events of `--json`. */
function toolFault(error: VoxmuxError) {
  return toolResult({ status: 'failed', error: errorReport(error) })
}
