/**
 * The part of `n8n-workflow` that the node uses. The package itself brings 300 others, so voxmux does not install it.
 */
declare module 'n8n-workflow' {
  import type { Readable } from 'node:stream'

  export type IDataObject = Record<string, unknown>
  export type JsonObject = Record<string, unknown>
  export type Icon = `file:${string}` | { readonly light: `file:${string}`; readonly dark: `file:${string}` }

  export interface IBinaryData {
    data: string
    mimeType: string
    fileName?: string
    id?: string
  }

  export interface INodeExecutionData {
    json: IDataObject
    binary?: Record<string, IBinaryData>
    error?: Error
    pairedItem?: { item: number }
  }

  export interface INodeProperties {
    displayName: string
    name: string
    type: 'boolean' | 'collection' | 'number' | 'options' | 'string'
    default: unknown
    description?: string
    hint?: string
    placeholder?: string
    required?: boolean
    noDataExpression?: boolean
    typeOptions?: Record<string, unknown>
    displayOptions?: { show: Record<string, unknown[]> }
    options?: object[]
  }

  export interface INodeTypeDescription {
    displayName: string
    name: string
    icon: Icon
    group: string[]
    version: number
    subtitle: string
    description: string
    defaults: { name: string }
    usableAsTool?: true
    inputs: string[]
    outputs: string[]
    credentials: { name: string; required: boolean }[]
    properties: INodeProperties[]
  }

  export interface INodeType {
    description: INodeTypeDescription
    execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]>
  }

  export interface ICredentialTestRequest {
    request: IHttpRequestOptions
  }

  export interface ICredentialType {
    name: string
    displayName: string
    icon: Icon
    documentationUrl: string
    properties: INodeProperties[]
    test: ICredentialTestRequest
  }

  export interface IHttpRequestOptions {
    url: string
    baseURL?: string
    method?: 'GET' | 'HEAD' | 'POST' | 'PUT'
    headers?: IDataObject
    body?: unknown
    encoding?: 'text' | 'stream'
    disableFollowRedirect?: boolean
    returnFullResponse?: boolean
    ignoreHttpStatusErrors?: boolean
    timeout?: number
    abortSignal?: AbortSignal
  }

  export interface IExecuteFunctions {
    getInputData(): INodeExecutionData[]
    getNode(): INode
    getExecutionId(): string
    getExecutionCancelSignal(): AbortSignal | undefined
    getNodeParameter(name: string, itemIndex: number, fallback?: unknown): unknown
    getCredentials(name: string): Promise<IDataObject>
    continueOnFail(): boolean
    helpers: {
      httpRequest(options: IHttpRequestOptions): Promise<unknown>
      assertBinaryData(itemIndex: number, field: string): IBinaryData
      getBinaryDataBuffer(itemIndex: number, field: string): Promise<Buffer>
      getBinaryStream(id: string, chunkSize?: number): Promise<Readable>
      getBinaryMetadata(id: string): Promise<{ fileName?: string; mimeType?: string; fileSize: number }>
      prepareBinaryData(data: Buffer | Readable, fileName?: string, mimeType?: string): Promise<IBinaryData>
    }
  }

  export interface INode {
    id: string
    name: string
  }

  export class NodeOperationError extends Error {
    constructor(node: INode, error: Error | string, options?: { itemIndex?: number; description?: string })
  }

  export const NodeConnectionTypes: { readonly Main: 'main' }
  export function sleep(ms: number): Promise<void>
}
