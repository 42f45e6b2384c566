import type { IncomingMessage, ServerResponse } from 'node:http'

/** A message of a flow. */
export interface Message {
  payload?: unknown
  /** File to write, or folder with a slash at its end. */
  output?: unknown
  /** Name of the file in a payload of bytes. */
  filename?: unknown
  /** The file at the service, and the payload that it was made of, with the state of a file. */
  voxmux?: { fileId?: string; input?: string; state?: string }
  [property: string]: unknown
}

/** The part of a node of Node-RED that our nodes use. */
export interface FlowNode {
  readonly name?: string
  readonly credentials: Record<string, string | undefined>
  on(event: 'close', listener: (done: () => void) => void): void
  on(
    event: 'input',
    listener: (message: Message, send: (message: Message) => void, done: (error?: Error) => void) => void,
  ): void
  status(status: { fill?: 'blue' | 'green' | 'red'; shape?: 'dot' | 'ring'; text?: string }): void
}

/** The part of `RED` that our nodes use: https://nodered.org/docs/api */
export interface Runtime {
  readonly nodes: {
    createNode(node: FlowNode, config: object): void
    getNode(id: string): FlowNode | null
    getCredentials(id: string): Record<string, string | undefined> | undefined
    registerType<C>(type: string, make: (this: FlowNode, config: C) => void, options?: object): void
  }
  readonly auth: { needsPermission(permission: string): Handler }
  readonly httpAdmin: { post(path: string, ...handlers: Handler[]): void }
}

type Handler = (
  request: IncomingMessage & { readonly body?: Record<string, unknown> },
  response: ServerResponse,
  next: () => void,
) => unknown
